use crate::random::Random;
use crate::signatures::base::SignatureHeaders;
use crate::signatures::keys::{read_keys, tests::KEYS_OF_RFC};

use super::*;

/// A time at which the long signatures of the draft are valid.
const NOW: i64 = 1_767_225_600;

/// When all of them were made.
const CREATED: i64 = 1_735_689_600;

const AGENT: &str = r#"agent2="https://signature-agent.test""#;
const BY_ED25519: [&str; 2] = [
    r#"sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";tag="web-bot-auth""#,
    "sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:",
];
const BY_RSA: [&str; 2] = [
    r#"sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA";alg="rsa-pss-sha512";expires=4889289600;nonce="wcfPQPh7SzkvrIVvhD00vNk9PkxJNY2NVbYl2PVBB4zmUoluSwE7W6bPtF60QA3k8g06FU7PPCD+J58YofY1zg==";tag="web-bot-auth""#,
    "sig2=:gHzpLNeHaHIO19NaJH9YMW5dcVSi2s0wOMBr6p18vcofS106sfC4KBIS0/szPlBBd1vIcyQ88B6CTEWIhRAiVrb9zfX0mx1aG12CSGWcYkSirHeyTxhbuJvXd27ed6skWoy4PjXItq38936ivUQjfdIwXh1aX6HxkAC3vRnEdSNfntkLWeEuIQ5BLIOBGE39fSwg27Qjq6OVWYas/9/aFUr3HA34MXWYdp+//cvlEKDp3kRoLOw9ro0AOr6srHrTeEtxon2afcws1aZVSlPdd2fZSEIGmw9HAHLDCEkFTERu1gH2k/zIEqgy7CAYXI9E5slog0cLg/Vc6+f8gih33g==:",
];
const LEGACY: &str = r#""https://signature-agent.test""#;
const LEGACY_BY_ED25519: [&str; 2] = [
    r#"sig2=("@authority" "signature-agent");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=1735693200;nonce="e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==";tag="web-bot-auth""#,
    "sig2=:jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==:",
];
const LEGACY_BY_RSA: [&str; 2] = [
    r#"sig2=("@authority" "signature-agent");created=1735689600;keyid="oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA";alg="rsa-pss-sha512";expires=1735693200;nonce="XSHtZVCThSIAksXsH9WBs6AtxtXC0eQGiIcUGSoJstFs8lAWakjhrfwzLhyjtme5iXMZvmFWqDEs6cT3Jf+BbQ==";tag="web-bot-auth""#,
    "sig2=:I1QWNzGXdP1a4dSvOHLCVOOanEYHDk+ZsVxM9MLX/p4ko69ghKwR5EOtAD96g7g4GWP7lmpM/jFAf9q8EFRDTPLjUXySwMv4YPgabv2LQihTJG2y8a2m6IGltyruwQNiqSJVUuRaG9+b17CGmAMFZh30X6GXLdQJrCARpeTqPwp2DC+a8haDE/VE5EruqzjA5/2mKwvrkzkSqeW5tOVtFwWRRHIOidquf/8Je6kM9mhgkg4arudLA5SL4wyyYE1jURIgcOl8agrfdJ5Def23DIRtiOLRa8jT9cpTLFAuFHN+mrZA/LH9h0gSIg1cPb+0cMASee5uku1KjWcFer7jWA==:",
];

/// One directory, with the keys of the RFC.
struct OneDirectory(Vec<PublicKey>);

impl OneDirectory {
    fn of_rfc() -> OneDirectory {
        OneDirectory(read_keys(KEYS_OF_RFC.as_bytes()).unwrap().0)
    }
}

impl Directories for OneDirectory {
    fn key(&self, url: &str, thumbprint: &str, _: i64) -> KeyAnswer<'_> {
        if url != "https://signature-agent.test/.well-known/http-message-signatures-directory" {
            return KeyAnswer::NoDirectory;
        }
        let key = self.0.iter().find(|key| key.thumbprint == thumbprint);
        key.map_or(KeyAnswer::NotInDirectory, KeyAnswer::Key)
    }
}

fn of(agent: &[u8], [input, signature]: [&[u8]; 2], host: &str, time: i64) -> CheckedSignature {
    let request = SignedRequest {
        method: b"GET",
        target: b"/path/to/resource",
        authorities: &[host],
        has_host: true,
        schemes: &["https", "http"],
        user_agent: None,
        headers: SignatureHeaders { agent, input, signature },
    };
    check(&request, &OneDirectory::of_rfc(), time)
}

fn state(agent: &str, headers: [&str; 2], time: i64) -> SignatureState {
    of(agent.as_bytes(), headers.map(str::as_bytes), "example.com", time).state
}

/// The test vectors of draft-meunier-webbotauth-httpsig-protocol.
#[test]
fn the_test_vectors_of_the_draft_verify() {
    use SignatureState::*;
    for (agent, headers, time, expected) in [
        (AGENT, BY_ED25519, NOW, Signed),
        (AGENT, BY_RSA, NOW, Signed),
        (LEGACY, LEGACY_BY_ED25519, CREATED + 60, Signed),
        (LEGACY, LEGACY_BY_RSA, CREATED + 60, Signed),
        (LEGACY, LEGACY_BY_ED25519, NOW, Expired),
        (AGENT, BY_ED25519, CREATED - TOLERANCE_SECONDS, Signed),
        (AGENT, BY_ED25519, CREATED - TOLERANCE_SECONDS - 1, NotYetValid),
        (AGENT, BY_ED25519, 4_889_289_600 + TOLERANCE_SECONDS, Signed),
        (AGENT, BY_ED25519, 4_889_289_600 + TOLERANCE_SECONDS + 1, Expired),
    ] {
        assert_eq!(state(agent, headers, time), expected, "{headers:?} {time}");
    }
    let found = of(AGENT.as_bytes(), BY_ED25519.map(str::as_bytes), "example.com", NOW);
    let (input, _) = (BY_ED25519[0].strip_prefix("sig2=").unwrap(), ());
    assert_eq!(
        String::from_utf8(found.base).unwrap(),
        format!(
            "\"@authority\": example.com\n\"signature-agent\";key=\"agent2\": \
             \"https://signature-agent.test\"\n\"@signature-params\": {input}"
        )
    );
    assert_eq!(found.agent, format!("https://signature-agent.test{DIRECTORY_PATH}"));
    assert_eq!((found.signature.len(), found.thumbprint.len()), (64, 43));
}

#[test]
fn a_changed_byte_anywhere_fails() {
    for (agent, headers, time) in
        [(AGENT, BY_ED25519, NOW), (LEGACY, LEGACY_BY_ED25519, CREATED), (AGENT, BY_RSA, NOW)]
    {
        let texts = [agent, headers[0], headers[1], "example.com"];
        let whole = texts.map(|text| text.as_bytes().to_vec());
        for (text, at) in (0..4).flat_map(|text| (0..texts[text].len()).map(move |at| (text, at))) {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[text][at] ^= 1 << bit;
                let [agent, input, signature, host] = &changed;
                let Ok(host) = std::str::from_utf8(host) else { continue };
                let found = of(agent, [input, signature], host, time);
                assert_ne!(found.state, SignatureState::Signed, "{text} {at} {bit}");
            }
        }
    }
}

#[test]
fn each_reason_has_its_case() {
    use SignatureState::*;
    let input = |from: &str, to: &str| BY_ED25519[0].replace(from, to);
    let with = |input: &str| state(AGENT, [input, BY_ED25519[1]], NOW);
    for (from, to, expected) in [
        ("poqk", "poql", UnknownKey),
        ("web-bot-auth", "other", OtherTag),
        ("created=1735689600;", "", Incomplete),
        (";expires=4889289600", "", Incomplete),
        ("keyid", "kid", Incomplete),
        (r#""@authority" "#, "", HostNotCovered),
        (r#" "signature-agent";key="agent2""#, "", NoAgent),
        (r#";key="agent2""#, r#";key="agent3""#, NoAgent),
        ("ed25519", "rsa-pss-sha512", Unsupported),
        (r#""@authority""#, r#""@authority" "date""#, NotLogged),
        (r#""@authority""#, r#""@authority" "@authority""#, Unreadable),
        (r#""@authority""#, r#""@authority" "@path""#, Mismatch),
        ("sig2=", "sig3=", Unreadable),
        (")", "", Unreadable),
    ] {
        assert_eq!(with(&input(from, to)), expected, "{from} {to}");
    }
    assert_eq!(state(AGENT, [BY_ED25519[0], ""], NOW), NotLogged);
    assert_eq!(state("", BY_ED25519, NOW), NoAgent);
    assert_eq!(state("agent2=1", BY_ED25519, NOW), Unsupported);
    for (agent, expected) in [
        ("https://signature-agent.test/", Mismatch),
        ("HTTPS://Signature-Agent.test:443", Mismatch),
        ("https://other.test", NoDirectory),
        ("https://signature-agent.test/path", Unsupported),
        ("http://signature-agent.test", Unsupported),
        ("signature-agent.test", Unsupported),
        (r#"https://signature-agent.test";type="x"#, Unsupported),
        (r#"https://signature-agent.test/jwks?x";type=jwks_uri;y=""#, NoDirectory),
    ] {
        let agent = format!("agent2=\"{agent}\"");
        assert_eq!(state(&agent, BY_ED25519, NOW), expected, "{agent}");
    }
    let mut keys = OneDirectory::of_rfc();
    keys.0.iter_mut().for_each(|key| key.expires = Some(NOW - 1));
    let headers = BY_ED25519.map(str::as_bytes);
    let headers =
        SignatureHeaders { agent: AGENT.as_bytes(), input: headers[0], signature: headers[1] };
    let request = SignedRequest {
        method: b"GET",
        target: b"/",
        authorities: &["www.example.com", "example.com"],
        has_host: false,
        schemes: &["https"],
        user_agent: None,
        headers,
    };
    assert_eq!(check(&request, &keys, NOW).state, KeyNotInForce);
    assert_eq!(check(&request, &keys, NOW - 1).state, Signed);
    let elsewhere = SignedRequest { authorities: &["www.example.com"], ..request };
    assert_eq!(check(&elsewhere, &keys, NOW).state, NoHost);
}

/// Another signature of the same request does no harm, and the best counts.
#[test]
fn of_several_signatures_the_best_counts() {
    let [input, signature] = BY_ED25519;
    let broken = input.replace("sig2", "sig1").replace("1735689600", "1735689601");
    let inputs = format!("{broken}, {input}");
    let signatures = format!("{}, {signature}", signature.replace("sig2", "sig1"));
    assert_eq!(state(AGENT, [&inputs, &signatures], NOW), SignatureState::Signed);
    assert_eq!(state(AGENT, [&inputs, signature], NOW), SignatureState::Signed);
    let first = signature.replace("sig2", "sig1");
    assert_eq!(state(AGENT, [&broken, &first], NOW), SignatureState::Mismatch);
}

#[test]
fn equal_uses_have_equal_hashes() {
    let of = |headers: [&str; 2]| {
        of(AGENT.as_bytes(), headers.map(str::as_bytes), "example.com", NOW).use_hash
    };
    let [input, signature] = BY_ED25519;
    let other = signature.replace("RdNF", "RdNG");
    assert_eq!(of([input, signature]), of([input, &other]));
    assert_ne!(of([input, signature]), of(BY_RSA));
    let end = input.find(";nonce").unwrap();
    let without_nonce = format!("{};tag=\"web-bot-auth\"", &input[..end]);
    assert_eq!(of([&without_nonce, signature]), of([&without_nonce, signature]));
    assert_ne!(of([&without_nonce, signature]), of([&without_nonce, &other]));
}

/// Only what the signature does not cover may change: the space between members, other members,
/// padding, and the parameters of the signature itself.
#[test]
fn what_is_not_signed_may_change() {
    use SignatureState::*;
    let [input, signature] = BY_ED25519;
    let (parameter, unpadded) = (format!("{signature};x=1"), signature.replace("==:", ":"));
    let with = |from: &str, to: &str| input.replace(from, to);
    for (agent, input, signature, expected) in [
        (AGENT, input, format!(" {signature}\t"), Signed),
        (AGENT, &with("(", "( "), signature.to_owned(), Signed),
        (AGENT, &format!("other=(\"@method\"), {input}"), signature.to_owned(), Signed),
        (&format!("x=1;y , {AGENT}"), input, format!("x=:AQI=:,{signature}"), Signed),
        (AGENT, input, parameter, Signed),
        (AGENT, input, unpadded, Signed),
        (AGENT, &with("created=", "created=0"), signature.to_owned(), Signed),
        (&AGENT.replace("agent2=", "agent2= "), input, signature.to_owned(), NoAgent),
        (&format!("{AGENT};x"), input, signature.to_owned(), Mismatch),
        (AGENT, &format!("{input};x"), signature.to_owned(), Mismatch),
        (AGENT, &with(";alg=\"ed25519\"", ""), signature.to_owned(), Mismatch),
        (AGENT, &format!("{input}, sig2=()"), signature.to_owned(), OtherTag),
        (AGENT, input, format!("{signature}, sig2=:AQI=:"), Mismatch),
    ] {
        assert_eq!(state(agent, [input, &signature], NOW), expected, "{agent} {input} {signature}");
    }
}

/// Headers with random changes do not stop the program, and each has a state. What stays valid has the
/// same signed text and the same signature.
#[test]
fn mutated_headers_are_read_to_an_end() {
    let original = of(AGENT.as_bytes(), BY_ED25519.map(str::as_bytes), "example.com", NOW);
    let (keys, mut random) = (OneDirectory::of_rfc(), Random::new());
    let mut random = |bound| random.below(bound);
    let bytes = br#"()";=:, @a*-.0?\"#;
    let mut states = std::collections::BTreeMap::new();
    for _ in 0..100_000 {
        let mut texts = [AGENT, BY_ED25519[0], BY_ED25519[1]].map(|text| text.as_bytes().to_vec());
        for _ in 0..=random(3) {
            let text = &mut texts[random(3)];
            let at = random(text.len() + 1);
            match random(4) {
                0 => text.truncate(at),
                1 => text.insert(at, bytes[random(bytes.len())]),
                2 if at < text.len() => text[at] = random(256) as u8,
                _ => {
                    let from = random(at + 1);
                    text.drain(from..at.min(from + 8));
                }
            }
        }
        let [agent, input, signature] = &texts;
        let request = SignedRequest {
            method: b"GET",
            target: b"/",
            authorities: &["example.com"],
            has_host: true,
            schemes: &["https"],
            user_agent: None,
            headers: SignatureHeaders { agent, input, signature },
        };
        let found = check(&request, &keys, NOW);
        *states.entry(found.state).or_insert(0) += 1;
        if found.is_valid() {
            let covered = (&found.base, &found.signature, &found.agent);
            let expected = (&original.base, &original.signature, &original.agent);
            assert_eq!(covered, expected, "{:?}", request.headers);
        }
    }
    assert!(states.len() > 6, "{states:?}");
    assert_eq!(states.values().sum::<u64>(), 100_000, "{states:?}");
}
