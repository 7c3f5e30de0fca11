//! Folders about signed requests: OpenSSL verifies what they enclose.

use std::fs;
use std::process::Command;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

use super::identity::GPTBOT;
use super::program::{Ran, Sandbox};
use super::signatures::{NOON, Signer, headers, line, sandbox, signed};

/// A signature by RSA-PSS, a test vector of draft-meunier-webbotauth-httpsig-protocol for example.com.
const BY_RSA: [&str; 3] = [
    r#"agent2="https://signature-agent.test""#,
    r#"sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA";alg="rsa-pss-sha512";expires=4889289600;nonce="wcfPQPh7SzkvrIVvhD00vNk9PkxJNY2NVbYl2PVBB4zmUoluSwE7W6bPtF60QA3k8g06FU7PPCD+J58YofY1zg==";tag="web-bot-auth""#,
    "sig2=:gHzpLNeHaHIO19NaJH9YMW5dcVSi2s0wOMBr6p18vcofS106sfC4KBIS0/szPlBBd1vIcyQ88B6CTEWIhRAiVrb9zfX0mx1aG12CSGWcYkSirHeyTxhbuJvXd27ed6skWoy4PjXItq38936ivUQjfdIwXh1aX6HxkAC3vRnEdSNfntkLWeEuIQ5BLIOBGE39fSwg27Qjq6OVWYas/9/aFUr3HA34MXWYdp+//cvlEKDp3kRoLOw9ro0AOr6srHrTeEtxon2afcws1aZVSlPdd2fZSEIGmw9HAHLDCEkFTERu1gH2k/zIEqgy7CAYXI9E5slog0cLg/Vc6+f8gih33g==:",
];
const RSA_KEY: &str = r#"{"kty": "RSA", "e": "AQAB", "n": "r4tmm3r20Wd_PbqvP1s2-QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct-Lh1GH45x28Rw3Ry53mm-oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHqgDsznjPFmTOtCEcN2Z1FpWgchwuYLPL-Wokqltd11nqqzi-bJ9cvSKADYdUAAN5WUtzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4aOT9v6d-nb4bnNkQVklLQ3fVAvJm-xdDOp9LCNCN48V2pnDOkFV6-U9nV5oyc6XI2w"}"#;

/// An agent with a key of P-256: its directory, and the headers of a request.
fn by_p256(created: i64) -> (String, [String; 3]) {
    let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap();
    let point = key.public_key().as_ref();
    let [x, y] = [&point[1..33], &point[33..]].map(|half| BASE64_URL_SAFE_NO_PAD.encode(half));
    let jwk = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    let thumbprint = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, jwk.as_bytes()));
    let sign = |base: &[u8]| key.sign(&random, base).unwrap().as_ref().to_vec();
    let headers = headers(("p256.example", &thumbprint), "example.com", created, "p", sign);
    (format!(r#"{{"keys":[{jwk}]}}"#), headers)
}

/// An archive of keys with these directories.
fn archive(sandbox: &Sandbox, name: &str, directories: &[(&str, &str)]) {
    let mut lists = Vec::new();
    for (number, (host, text)) in directories.iter().enumerate() {
        sandbox.write(&format!("{name}/{number}.json"), text);
        lists.push(serde_json::json!({
            "url": format!("https://{host}/.well-known/http-message-signatures-directory"),
            "file": format!("{number}.json"), "size_bytes": text.len(),
            "fetched_at_utc": "2026-02-27T04:00:00Z"
        }));
    }
    let manifest = serde_json::json!({ "schema_version": 1, "lists": lists });
    sandbox.write(&format!("{name}/manifest.json"), manifest.to_string());
}

/// An audit of violations that agents with keys of three kinds signed.
fn audited(more: &str) -> Sandbox {
    let openai = Signer::new("chatgpt.com", 2);
    let (p256, of_p256) = by_p256(NOON + 2);
    let log = [
        signed(&openai, 0, "192.0.2.1", GPTBOT, "a"),
        line(1, "192.0.2.1", GPTBOT, None),
        line(2, "192.0.2.1", GPTBOT, Some(of_p256)),
        line(3, "192.0.2.1", GPTBOT, Some(BY_RSA.map(str::to_owned))),
        signed(&openai, 4, "192.0.2.1", GPTBOT, "b"),
    ];
    let sandbox = sandbox(&log);
    let of_rsa = format!(r#"{{"keys":[{RSA_KEY}]}}"#);
    let directories = [
        ("chatgpt.com", openai.directory()),
        ("p256.example", p256),
        ("signature-agent.test", of_rsa),
    ];
    let directories = directories.each_ref().map(|(host, text)| (*host, text.as_str()));
    archive(&sandbox, "keys", &directories);
    archive(&sandbox, "others", &[("p256.example", &openai.directory())]);
    let audit = "audit -q --robots robots.txt --origin https://example.com --signature-keys keys";
    sandbox.run(&format!("{audit} -o report {more} access.log")).exits(0);
    let signed = sandbox.table("report/violations.csv").cells("requests signed");
    assert_eq!(signed, ["5 | 4"]);
    sandbox
}

fn evidence(sandbox: &Sandbox, more: &str) -> Ran {
    sandbox.run(&format!("evidence report --crawler gptbot --origin https://example.com {more}"))
}

/// The command, run in the folder; whether it succeeds.
fn runs(sandbox: &Sandbox, command: &str) -> bool {
    let mut shell = Command::new("sh");
    let ran = shell.args(["-c", command]).current_dir(sandbox.path("folder")).output().unwrap();
    ran.status.success()
}

#[test]
fn openssl_verifies_what_a_folder_encloses() {
    let sandbox = audited("--evidence requests.csv.gz");
    evidence(&sandbox, "--requests-file requests.csv.gz --signature-keys keys -o folder").exits(0);
    let names = sandbox.names("folder");
    for name in [
        "key-1.jwk",
        "key-1.pem",
        "key-2.pem",
        "key-3.pem",
        "keys-1.json",
        "signed-1.base",
        "signed-1.signature",
        "signed-2.der",
        "signed-3.base",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    // Three examples of the rule.
    assert!(!names.iter().any(|name| name.starts_with("signed-4")), "{names:?}");
    assert_eq!(sandbox.text("folder/keys-3.json"), sandbox.text("keys/2.json"));
    let letter = sandbox.text("folder/letter.txt");
    for part in [
        "5 requests (4 signed): robots.txt line 2",
        "\nSigned requests\n\n4 of the requests against robots.txt had a valid signature",
        "\n1. 2026-03-01T12:00:00Z \"GET /private/\", robots.txt line 2\n   signed by \
         https://chatgpt.com/.well-known/http-message-signatures-directory, key ",
        "as archived\n   at 2026-02-27T04:00:00Z\n",
        "Signatures checked by keys of agents, as published from 2026-02-27T04:00:00Z to ",
    ] {
        assert!(letter.contains(part), "{part}: {letter}");
    }
    assert!(runs(&sandbox, "sha256sum -c --quiet SHA256SUMS"));
    let sums = sandbox.text("folder/SHA256SUMS");
    assert!(names.iter().all(|name| name == "SHA256SUMS" || sums.contains(name)), "{sums}");
    let commands: Vec<&str> =
        letter.lines().filter_map(|line| line.strip_prefix("   openssl ")).collect();
    assert_eq!(commands.len(), 3, "{letter}");
    if !runs(&sandbox, "openssl version") {
        eprintln!("SKIPPED: there is no openssl on this machine");
        return;
    }
    for (number, command) in (1..).zip(commands) {
        let command = format!("openssl {command}");
        assert!(runs(&sandbox, &command), "{command}");
        for kind in ["base", if number == 2 { "der" } else { "signature" }] {
            let path = sandbox.path(&format!("folder/signed-{number}.{kind}"));
            let whole = fs::read(&path).unwrap();
            let mut changed = whole.clone();
            *changed.last_mut().unwrap() ^= 1;
            fs::write(&path, changed).unwrap();
            assert!(!runs(&sandbox, &command), "{command} after a change of {kind}");
            fs::write(&path, whole).unwrap();
        }
        assert!(runs(&sandbox, &command), "{command}");
    }
}

#[test]
fn a_folder_says_what_it_lacks() {
    let sandbox = audited("--evidence requests.csv.gz");
    let mut number = 0;
    let mut letter = |flags: &str| {
        number += 1;
        evidence(&sandbox, &format!("{flags} -o lacking-{number}")).exits(0);
        let names = sandbox.names(&format!("lacking-{number}"));
        (sandbox.text(&format!("lacking-{number}/letter.txt")), names.join(" "))
    };
    let (text, names) = letter("--signature-keys keys");
    assert!(text.contains("not enclosed: there is no evidence file that has them."), "{text}");
    assert!(!names.contains("signed-"), "{names}");
    let requests = "--requests-file requests.csv.gz";
    let (text, names) = letter(requests);
    let without = "The key is not enclosed: this folder was made without --signature-keys.\n";
    assert_eq!(text.matches(without).count(), 3, "{text}");
    assert!(names.contains("signed-3.base") && !names.contains("key-"), "{names}");
    let (text, names) = letter(&format!("{requests} --signature-keys others"));
    let gone = "The key is not enclosed: the archive of keys does not have it any more.\n";
    assert_eq!(text.matches(gone).count(), 3, "{text}");
    assert!(!names.contains("key-"), "{names}");
    // Agents sign only the host here, so nothing that is hidden is signed.
    let sandbox = audited("--evidence requests.csv.gz --strip-query --ip none");
    evidence(&sandbox, &format!("{requests} --signature-keys keys -o folder")).exits(0);
    assert!(sandbox.names("folder").iter().any(|name| name == "key-1.pem"));
    let folder = "folder/letter.txt";
    assert!(!sandbox.text(folder).contains("192.0.2.1"), "{}", sandbox.text(folder));
}
