//! Whether the signature of a request is one of the agent that it names.
//!
//! A log line may lack what a signature covers, and the keys of that time may not be known. Then the
//! signature is unchecked, which says nothing against the client.

use botaudit_robots::named_enum;
use serde::{Deserialize, Serialize};

use crate::digest::sha256;
use crate::url::origin::Origin;

use super::base::{NoBase, ReadHeaders, Reading, SignedRequest, signature_base};
use super::fields::{BareItem, Item, Member, Parameters, read_item};
use super::keys::PublicKey;

/// The path of a directory of keys at an origin.
pub(crate) const DIRECTORY_PATH: &str = "/.well-known/http-message-signatures-directory";

/// The tag of signatures that say who sent a request.
const TAG: &str = "web-bot-auth";

/// How far the clocks of signer and server may differ, and a server may log a request later, in seconds.
const TOLERANCE_SECONDS: i64 = 300;

/// The most signatures of one request that are checked.
const SIGNATURES_MAX: usize = 4;

/// The longest URL of an agent.
const URL_BYTES_MAX: usize = 512;

named_enum! {
    /// What is known of the signature of a request.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum SignatureClass {
        /// A key that the agent published signed the request for this host and this time.
        Signed = "signed",
        /// No key of the agent signed it, or not for this time.
        Invalid = "invalid",
        /// A server in front says that the signature is valid.
        EdgeVerified = "edge-verified",
        /// Nobody can tell from this log and these keys.
        Unchecked = "unchecked",
    }
}

named_enum! {
    /// The same with the reason, the more telling first.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum SignatureState {
        /// The signature is the agent's.
        Signed = "signed",
        /// The agent's directory is not known.
        NoDirectory = "no-directory",
        /// The key is not in the directory, but that is of another time.
        OtherTime = "no-directory-of-that-time",
        /// The log lacks something that the signature covers.
        NotLogged = "not-logged",
        /// The log does not name the host, and the signature is not for the host of the origin.
        NoHost = "no-host",
        /// The signature does not cover which agent made it.
        NoAgent = "no-agent",
        /// It does not cover the host.
        HostNotCovered = "host-not-covered",
        /// It lacks its key, its time, or the end of its time.
        Incomplete = "incomplete",
        /// An algorithm, or a way to publish keys, that is not supported.
        Unsupported = "unsupported",
        /// The headers cannot be read: they are damaged, or the log cut them.
        Unreadable = "unreadable",
        /// Its time was over.
        Expired = "expired",
        /// Its time had not begun.
        NotYetValid = "not-yet-valid",
        /// The directory says that its key was not to be used then.
        KeyNotInForce = "key-not-in-force",
        /// The directory of that time does not have its key.
        UnknownKey = "unknown-key",
        /// It does not fit the request in the log.
        Mismatch = "mismatch",
        /// It has another purpose than to say who sent the request.
        OtherTag = "other-tag",
        /// A server in front of the log says that it is valid; the log and the keys do not tell.
        EdgeVerified = "edge",
        /// It says that the signature is not valid.
        EdgeInvalid = "edge-invalid",
        /// It says that its time was over.
        EdgeExpired = "edge-expired",
        /// It says that the agent is not known.
        EdgeUnknown = "edge-unknown-bot",
    }
}

impl SignatureState {
    /// Why a signature is not valid; empty if it is.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            SignatureState::Signed => "",
            other => other.as_str(),
        }
    }

    /// What AWS WAF's label of a request says of its signature; `None` for another label.
    pub(crate) fn of_edge(label: &[u8]) -> Option<SignatureState> {
        let label = label.strip_prefix(b"awswaf:managed:aws:bot-control:web_bot_auth:")?;
        Some(match label {
            b"verified" => SignatureState::EdgeVerified,
            b"invalid" => SignatureState::EdgeInvalid,
            b"expired" => SignatureState::EdgeExpired,
            b"unknown_bot" => SignatureState::EdgeUnknown,
            _ => return None,
        })
    }

    /// What that means.
    pub(crate) fn class(self) -> SignatureClass {
        use SignatureState::*;
        match self {
            Signed => SignatureClass::Signed,
            Expired | NotYetValid | KeyNotInForce | UnknownKey | Mismatch => {
                SignatureClass::Invalid
            }
            EdgeVerified => SignatureClass::EdgeVerified,
            EdgeInvalid | EdgeExpired | EdgeUnknown => SignatureClass::Unchecked,
            NoDirectory | OtherTime | NotLogged | NoHost | NoAgent | HostNotCovered
            | Incomplete | Unsupported | Unreadable | OtherTag => SignatureClass::Unchecked,
        }
    }
}

/// What an archive of directories knows of a key.
pub(crate) enum KeyAnswer<'k> {
    /// The directory had it at that time.
    Key(&'k PublicKey),
    /// The directory of that time does not have it.
    NotInDirectory,
    /// No directory has it, but none is of that time.
    OtherTime,
    /// The directory is not known.
    NoDirectory,
}

/// Directories of keys.
pub(crate) trait Directories {
    /// The key with this thumbprint in the directory at `url`, at `time` in seconds since the epoch.
    fn key(&self, url: &str, thumbprint: &str, time: i64) -> KeyAnswer<'_>;
}

/// The result of a check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CheckedSignature {
    /// Whether it is the agent's.
    pub state: SignatureState,
    /// The URL at which the agent publishes its keys; empty if it names none.
    pub agent: String,
    /// The JWK thumbprint of the key; empty if it names none.
    pub thumbprint: String,
    /// The text that was signed, if the signature is valid.
    pub base: Vec<u8>,
    /// The signature itself, if it is valid.
    pub signature: Vec<u8>,
    /// Equal for equal nonces of one key, or without a nonce for equal signatures.
    pub use_hash: u64,
}

impl CheckedSignature {
    fn of(state: SignatureState) -> CheckedSignature {
        CheckedSignature {
            state,
            agent: String::new(),
            thumbprint: String::new(),
            base: Vec::new(),
            signature: Vec::new(),
            use_hash: 0,
        }
    }
}

impl CheckedSignature {
    /// A signature that only a server in front has checked: the log has its result and nothing else.
    pub(crate) fn of_edge(edge: SignatureState) -> CheckedSignature {
        CheckedSignature::of(edge)
    }

    /// The same with the word of a server in front, which counts only where the log and the keys do not
    /// tell.
    pub(crate) fn with_edge(mut self, edge: Option<SignatureState>) -> CheckedSignature {
        match edge {
            Some(edge) if self.state.class() == SignatureClass::Unchecked => self.state = edge,
            _ => {}
        }
        self
    }

    /// Whether it is the agent's.
    pub(crate) fn is_valid(&self) -> bool {
        self.state == SignatureState::Signed
    }
}

/// Checks the signatures of a request that was logged at `time`, in seconds since the epoch. Of
/// several, the best counts: that of a proxy need not be the one that the log can confirm.
pub(crate) fn check(
    request: &SignedRequest<'_>,
    directories: &dyn Directories,
    time: i64,
) -> CheckedSignature {
    if request.headers.signature.is_empty() {
        return CheckedSignature::of(SignatureState::NotLogged);
    }
    let Some(headers) = ReadHeaders::read(&request.headers) else {
        return CheckedSignature::of(SignatureState::Unreadable);
    };
    let with_tag = headers.inputs.iter().filter_map(|(label, member)| match member {
        Member::List(items, parameters) if parameters.string("tag") == Some(TAG) => {
            Some(Claim { label, items, parameters, covered: member.to_text() })
        }
        _ => None,
    });
    let checked = with_tag
        .take(SIGNATURES_MAX)
        .map(|claim| claim.check(request, &headers, directories, time));
    let best = checked.min_by_key(|checked| checked.state);
    best.unwrap_or_else(|| CheckedSignature::of(SignatureState::OtherTag))
}

/// One signature of a request.
struct Claim<'h> {
    label: &'h str,
    items: &'h [Item],
    parameters: &'h Parameters,
    covered: String,
}

impl Claim<'_> {
    fn check(
        &self,
        request: &SignedRequest<'_>,
        headers: &ReadHeaders,
        directories: &dyn Directories,
        time: i64,
    ) -> CheckedSignature {
        let mut checked = CheckedSignature::of(SignatureState::Unreadable);
        let Some(signature) = self.signature(headers) else { return checked };
        let (parameters, mut state) = (self.parameters, SignatureState::Signed);
        checked.thumbprint = parameters.string("keyid").unwrap_or_default().to_owned();
        checked.thumbprint.truncate(URL_BYTES_MAX);
        let of_use = parameters.string("nonce").map_or(signature, str::as_bytes);
        let digest = sha256(&[checked.thumbprint.as_bytes(), b" ", of_use]);
        checked.use_hash = digest[..8].iter().fold(0, |hash, byte| hash << 8 | u64::from(*byte));
        match self.agent(request, headers) {
            Ok(agent) => checked.agent = agent,
            Err(why) => state = why,
        }
        let times = parameters.integer("created").zip(parameters.integer("expires"));
        let names = || self.items.iter().map(|item| &item.value);
        let covers =
            |name: &str| names().any(|of| matches!(of, BareItem::String(of) if of == name));
        if state == SignatureState::Signed {
            state = match times {
                _ if !covers("@authority") && !covers("@target-uri") => {
                    SignatureState::HostNotCovered
                }
                Some(_) if checked.thumbprint.is_empty() => SignatureState::Incomplete,
                Some(times) => {
                    let key = directories.key(&checked.agent, &checked.thumbprint, time);
                    match self.base(request, headers, signature, key) {
                        Err(why) => why,
                        Ok((base, key)) => {
                            (checked.base, checked.signature) = (base, signature.to_vec());
                            in_time(times, key, time)
                        }
                    }
                }
                None => SignatureState::Incomplete,
            };
        }
        checked.state = state;
        checked
    }

    fn signature<'s>(&self, headers: &'s ReadHeaders) -> Option<&'s [u8]> {
        match headers.signatures.get(self.label)? {
            Member::Item(Item { value: BareItem::Bytes(bytes), .. }) => Some(bytes),
            _ => None,
        }
    }

    /// The text that was signed, and the key, if one signed it.
    fn base<'k>(
        &self,
        request: &SignedRequest<'_>,
        headers: &ReadHeaders,
        signature: &[u8],
        key: KeyAnswer<'k>,
    ) -> Result<(Vec<u8>, &'k PublicKey), SignatureState> {
        let key = match key {
            KeyAnswer::Key(key) => key,
            KeyAnswer::NotInDirectory => return Err(SignatureState::UnknownKey),
            KeyAnswer::OtherTime => return Err(SignatureState::OtherTime),
            KeyAnswer::NoDirectory => return Err(SignatureState::NoDirectory),
        };
        if self.parameters.string("alg").is_some_and(|algorithm| algorithm != key.algorithm()) {
            return Err(SignatureState::Unsupported);
        }
        let readings = request.authorities.iter().flat_map(|authority| {
            request.schemes.iter().map(|scheme| Reading { authority, scheme })
        });
        let mut tried = Vec::new();
        for reading in readings {
            let base = signature_base(self.items, &self.covered, request, headers, reading);
            let base = base.map_err(|why| match why {
                NoBase::NotLogged => SignatureState::NotLogged,
                NoBase::Unreadable => SignatureState::Unreadable,
            })?;
            if tried.contains(&base) {
                continue;
            }
            if key.verifies(&base, signature) {
                return Ok((base, key));
            }
            tried.push(base);
        }
        Err(if request.has_host { SignatureState::Mismatch } else { SignatureState::NoHost })
    }

    /// The URL of the directory of the agent that the signature covers.
    fn agent(
        &self,
        request: &SignedRequest<'_>,
        headers: &ReadHeaders,
    ) -> Result<String, SignatureState> {
        let is_agent = |item: &&Item| matches!(&item.value, BareItem::String(name) if name == "signature-agent");
        let component = self.items.iter().find(is_agent).ok_or(SignatureState::NoAgent)?;
        let header = request.headers.agent.trim_ascii();
        let key = component.parameters.string("key");
        let agent = if header.starts_with(b"\"") && key.is_none() {
            // A bare string, as earlier drafts had it.
            read_item(header)
        } else {
            let member = headers.agents.as_ref().and_then(|all| all.get(key.unwrap_or(self.label)));
            match member {
                Some(Member::Item(item)) => Some(item.clone()),
                _ => None,
            }
        };
        let agent = agent.ok_or(SignatureState::NoAgent)?;
        directory_url(&agent).ok_or(SignatureState::Unsupported)
    }
}

/// Whether a valid signature was made for `time`.
fn in_time((created, expires): (i64, i64), key: &PublicKey, time: i64) -> SignatureState {
    if created > time.saturating_add(TOLERANCE_SECONDS) {
        SignatureState::NotYetValid
    } else if expires < time.saturating_sub(TOLERANCE_SECONDS) {
        SignatureState::Expired
    } else if !key.may_be_used(time) {
        SignatureState::KeyNotInForce
    } else {
        SignatureState::Signed
    }
}

/// The URL at which an agent publishes its keys; `None` for what the profile does not allow, and for
/// documents that contain more than keys.
fn directory_url(agent: &Item) -> Option<String> {
    let BareItem::String(url) = &agent.value else { return None };
    let of_type = match agent.parameters.get("type") {
        None => "directory",
        Some(BareItem::Token(of_type)) => of_type,
        Some(_) => return None,
    };
    let origin = Origin::parse(url.as_bytes()).filter(|origin| origin.scheme() == "https")?;
    let (_, rest) = url.split_once("://")?;
    let path = &rest[rest.find(['/', '?', '#']).unwrap_or(rest.len())..];
    let url = match of_type {
        "directory" if matches!(path, "" | "/" | DIRECTORY_PATH) => {
            format!("{origin}{DIRECTORY_PATH}")
        }
        "jwks_uri" => format!("{origin}{}", &path[..path.find(['?', '#']).unwrap_or(path.len())]),
        _ => return None,
    };
    (url.len() <= URL_BYTES_MAX).then_some(url)
}

#[cfg(test)]
mod tests;
