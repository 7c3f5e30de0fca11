//! Statements about the use of what is fetched: `Content-Usage` (draft-ietf-aipref-attach-05 with
//! draft-ietf-aipref-vocab-07), and `Content-Signal` (Cloudflare).
//!
//! They change no rule, no group and no verdict. Both are read in groups. A statement may begin with
//! a path; else it is about all paths. By the draft a Content-Usage line is a rule: it closes the
//! list of User-agent lines above it, so it does not hold for names below it, though Google's parser
//! sees one group for both. Content-Signal has no grammar; it is read in the same way.

use std::cmp::Reverse;

use crate::named_enum;
use crate::structured_fields::token_members;

use super::lines::{Field, Separator, strip};

/// The most statements of a file, and the most licences; later ones are ignored.
pub const USAGE_LINES_MAX: usize = 1000;

named_enum! {
    /// The form of a preference about use.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    #[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
    pub enum UsageSignal {
        /// A field of the IETF's drafts.
        ContentUsage = "content-usage",
        /// A field of Cloudflare.
        ContentSignal = "content-signal",
        /// A group for a product token that no crawler sends, such as Google-Extended.
        ProductToken = "product-token",
    }
}

named_enum! {
    /// A kind of use.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    #[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
    pub enum UsageCategory {
        /// Training, in Content-Usage.
        TrainAi = "train-ai",
        /// Search, in both fields.
        Search = "search",
        /// Training, in Content-Signal.
        AiTrain = "ai-train",
        /// Input to models when they answer.
        AiInput = "ai-input",
        /// How much of the content may be used.
        Use = "use",
        /// What a product token stands for: the purpose of its row in the registry.
        AiTraining = "ai-training",
    }
}

named_enum! {
    /// A preference, the most restrictive first.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    #[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
    pub enum UsagePreference {
        Reserved = "reserved",
        Permitted = "permitted",
        /// Nothing may be kept.
        Immediate = "immediate",
        /// The content may be indexed, quoted and linked.
        Reference = "reference",
        /// The content may be summarised and reproduced.
        Full = "full",
        /// Copies of robots.txt that the crawler may have had differ.
        ChangedRecently = "changed-recently",
    }
}

impl UsageSignal {
    pub fn named(name: &str) -> Option<UsageSignal> {
        UsageSignal::ALL.into_iter().find(|signal| signal.as_str() == name)
    }
}

use UsageCategory::{AiInput, AiTrain, Search, TrainAi, Use};
use UsagePreference::{Full, Immediate, Permitted, Reference, Reserved};

/// The labels of each field, and their values.
type Labels =
    &'static [(&'static str, UsageCategory, &'static [(&'static str, UsagePreference)])];

const DRAFT_VALUES: &[(&str, UsagePreference)] = &[("y", Permitted), ("n", Reserved)];

/// Of draft-ietf-aipref-vocab-07.
const DRAFT_LABELS: Labels =
    &[("train-ai", TrainAi, DRAFT_VALUES), ("search", Search, DRAFT_VALUES)];

const SIGNAL_VALUES: &[(&str, UsagePreference)] = &[("yes", Permitted), ("no", Reserved)];

/// Of Cloudflare's documentation.
const SIGNAL_LABELS: Labels = &[
    ("search", Search, SIGNAL_VALUES),
    ("ai-input", AiInput, SIGNAL_VALUES),
    ("ai-train", AiTrain, SIGNAL_VALUES),
    ("use", Use, &[("immediate", Immediate), ("reference", Reference), ("full", Full)]),
];

/// A key of a statement, and its preference; `None` if the key or the value is not known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UsageMember<'a> {
    /// As written.
    pub key: &'a [u8],
    pub category: Option<UsageCategory>,
    /// What the value says about it.
    pub preference: Option<UsagePreference>,
}

/// The form of statements that `field` has.
pub fn signal(field: &Field<'_>) -> Option<UsageSignal> {
    let is = |signal: &UsageSignal| field.key.eq_ignore_ascii_case(signal.as_str().as_bytes());
    let signals = [UsageSignal::ContentUsage, UsageSignal::ContentSignal];
    signals.into_iter().find(is).filter(|_| field.separator == Separator::Colon)
}

/// The path of a value, empty if there is none, and its members in the order of their precedence: a
/// later one of equal keys counts. `None` if a Content-Usage value is not a dictionary.
pub fn value(signal: UsageSignal, value: &[u8]) -> (&[u8], Option<Vec<UsageMember<'_>>>) {
    let end = match value.first() {
        Some(b'/') => value.iter().position(|byte| b" \t".contains(byte)).unwrap_or(value.len()),
        _ => 0,
    };
    let (path, rest) = value.split_at(end);
    let members = match signal {
        UsageSignal::ContentSignal => Some(signal_members(rest)),
        _ => token_members(strip(rest)).map(|members| {
            let member = |(key, token)| UsageMember::new(DRAFT_LABELS, key, token, <[u8]>::eq);
            members.into_iter().map(member).collect()
        }),
    };
    (path, members)
}

/// The members of a Content-Signal value. Of equal keys, the most restrictive one is the last.
fn signal_members(value: &[u8]) -> Vec<UsageMember<'_>> {
    let parts = value.split(|byte| *byte == b',').map(strip).filter(|part| !part.is_empty());
    let member = |part| {
        let equals = memchr::memchr(b'=', part).unwrap_or(part.len());
        let token = part.get(equals + 1..).map(strip);
        let is_same = |one: &[u8], other: &[u8]| one.eq_ignore_ascii_case(other);
        UsageMember::new(SIGNAL_LABELS, strip(&part[..equals]), token, is_same)
    };
    let mut members: Vec<UsageMember<'_>> = parts.map(member).collect();
    members.sort_by_key(|member| member.preference.map(Reverse));
    members
}

impl<'a> UsageMember<'a> {
    fn new(
        labels: Labels,
        key: &'a [u8],
        token: Option<&[u8]>,
        is_same: impl Fn(&[u8], &[u8]) -> bool,
    ) -> UsageMember<'a> {
        let label = labels.iter().find(|(name, ..)| is_same(name.as_bytes(), key));
        let (category, values) =
            label.map_or((None, &[][..]), |(_, category, values)| (Some(*category), *values));
        let is_meant =
            |(name, _): &&(&str, _)| token.is_some_and(|token| is_same(name.as_bytes(), token));
        let preference = values.iter().find(is_meant).map(|(_, preference)| *preference);
        UsageMember { key, category, preference }
    }
}

/// The preference of the last member of each category, by category.
pub fn preferences(members: &[UsageMember<'_>]) -> Vec<(UsageCategory, UsagePreference)> {
    let last = |category| members.iter().rfind(|member| member.category == Some(category));
    let preference = |category| Some((category, last(category)?.preference?));
    UsageCategory::ALL.into_iter().filter_map(preference).collect()
}

/// Whether `url` is absolute: the value of a License line (RSL 1.0) must have a scheme and a host.
pub fn is_license_url(url: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(url, b"://") else { return false };
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let host = &url[at + 3..];
    url[0].is_ascii_alphabetic()
        && url[..at].iter().all(is_scheme)
        && host.first().is_some_and(|byte| !b"/?#".contains(byte))
}

pub fn is_license(field: &Field<'_>) -> bool {
    field.key.eq_ignore_ascii_case(b"license") && field.separator == Separator::Colon
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value as `path: category=preference`, or `-` if it is not a dictionary.
    #[track_caller]
    fn check(signal: UsageSignal, text: &str, expected: &str) {
        let (path, members) = value(signal, text.as_bytes());
        let shown = members.map_or(vec!["-".to_owned()], |members| {
            let all = preferences(&members).into_iter();
            all.map(|(kind, what)| format!("{}={}", kind.as_str(), what.as_str())).collect()
        });
        let path = String::from_utf8_lossy(path);
        assert_eq!(format!("{path}: {}", shown.join(" ")), expected, "{text}");
    }

    #[test]
    fn values_of_the_draft() {
        for (text, expected) in [
            ("train-ai=n", ": train-ai=reserved"),
            ("/ai-ok/ train-ai=y", "/ai-ok/: train-ai=permitted"),
            ("/a\ttrain-ai=n", "/a: train-ai=reserved"),
            ("/p train-ai=n, train-ai=y", "/p: train-ai=permitted"),
            ("/p train-ai=n, train-ai", "/p: "),
            ("train-ai=n, search=y", ": train-ai=reserved search=permitted"),
            ("/*.pdf$ train-ai=n", "/*.pdf$: train-ai=reserved"),
            ("*.pdf train-ai=n", ": -"),
            ("Train-AI=n", ": -"),
            ("train-ai=no, search=y", ": search=permitted"),
            ("train-ai=N", ": "),
            ("train-ai=n search=y", ": -"),
            ("train-ai=n,", ": -"),
            ("train-ai = n", ": -"),
            ("foo=y, train-ai=n;x=1, bots=n", ": train-ai=reserved"),
            ("search=yes, ai-train=no", ": "),
            ("/a b train-ai=n", "/a: -"),
            ("/a%20b train-ai=n", "/a%20b: train-ai=reserved"),
            ("/a", "/a: "),
            ("", ": "),
        ] {
            check(UsageSignal::ContentUsage, text, expected);
        }
    }

    #[test]
    fn values_of_cloudflare() {
        for (text, expected) in [
            ("search=yes,ai-train=no", ": search=permitted ai-train=reserved"),
            ("Search = YES , x=y, AI-Input=no", ": search=permitted ai-input=reserved"),
            ("/blog/ ai-train=no, use=reference", "/blog/: ai-train=reserved use=reference"),
            ("ai-train=yes, ai-train=no, ai-train=maybe", ": ai-train=reserved"),
            ("ai-train=no, ai-train=yes", ": ai-train=reserved"),
            ("use=full, use=immediate, use=y", ": use=immediate"),
            ("train-ai=n, search=y, ,=", ": "),
            ("", ": "),
        ] {
            check(UsageSignal::ContentSignal, text, expected);
        }
    }

    #[test]
    fn licences_have_absolute_urls() {
        for url in ["https://a.example/license.xml", "HTTP://a", "x+y://[::1]/ a"] {
            assert!(is_license_url(url.as_bytes()), "{url}");
        }
        for url in ["", "/license.xml", "//a/b", "MIT", "://a", "https:///a", "1a://b", "a b://c"] {
            assert!(!is_license_url(url.as_bytes()), "{url}");
        }
    }
}
