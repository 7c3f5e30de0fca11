//! The members of a card: JSON by a stranger, with limits, and the place of each mistake.

use std::{fmt, path::Path};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::Error;

/// The deepest nesting of a card.
const DEPTH_MAX: usize = 16;

/// The longest text of a member.
const TEXT_BYTES_MAX: usize = 1024;

/// The most members of a card.
const MEMBERS_MAX: usize = 256;

/// The most texts of one member.
const TEXTS_MAX: usize = 32;

/// What spreadsheets read as the start of a formula, and our own mark of it.
const FORMULA_STARTS: &str = "=+-@'\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}";

/// What the user says about a card.
#[derive(Clone, Copy, Debug)]
pub struct CardOptions<'a> {
    /// The crawler's name, in place of that in the card.
    pub name: Option<&'a str>,
    /// The operator, which no card names.
    pub operator: Option<&'a str>,
    /// The page at which the card was published.
    pub url: Option<&'a str>,
    /// Whether a text has characters that hide, break or reverse text.
    pub has_hidden: fn(&str) -> bool,
}

/// The members of an object, in their order, with repetitions.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> std::result::Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        reader.deserialize_map(Object)
    }
}

/// One text, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Many(Vec<String>),
}

/// Whether robots.txt is followed, or which directives of it.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Compliance {
    All(bool),
    Directives(Vec<String>),
}

/// A card that is being read.
pub(super) struct Card<'a> {
    pub path: &'a Path,
    text: &'a str,
    pub options: CardOptions<'a>,
    members: Vec<(String, &'a RawValue)>,
    pub mistakes: Vec<Error>,
}

impl<'a> Card<'a> {
    /// Reads the members of the card `text` of the file `path`.
    ///
    /// # Errors
    /// If it is not a card.
    pub(super) fn new(
        path: &'a Path,
        text: &'a [u8],
        options: CardOptions<'a>,
    ) -> std::result::Result<Card<'a>, Vec<Error>> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let text = std::str::from_utf8(text).map_err(|err| {
            let line = line_at(&text[..err.valid_up_to()]);
            vec![Error::invalid(path, line, "not UTF-8; save the file as UTF-8")]
        })?;
        if let Some(line) = too_deep(text.as_bytes()) {
            let why = format!("nested more than {DEPTH_MAX} times, so it is not a card");
            return Err(vec![Error::invalid(path, line, why)]);
        }
        let members: Members<'a> = serde_json::from_str(text).map_err(|err| {
            let why = format!("not a card, which is a JSON object: {}", what(&err));
            vec![Error::invalid(path, err.line() as u64, why)]
        })?;
        if members.0.len() > MEMBERS_MAX {
            let why = format!("more than {MEMBERS_MAX} members, so it is not a card");
            return Err(vec![Error::invalid(path, 1, why)]);
        }
        let mut card = Card { path, text, options, members: members.0, mistakes: Vec::new() };
        card.flatten();
        card.refuse_duplicates();
        Ok(card)
    }

    /// Puts the members of `web_bot_auth` in place of it.
    fn flatten(&mut self) {
        let members = std::mem::take(&mut self.members);
        for (name, value) in members {
            if name != "web_bot_auth" {
                self.members.push((name, value));
                continue;
            }
            match serde_json::from_str::<Members<'a>>(value.get()) {
                Ok(Members(inner)) if inner.len() <= MEMBERS_MAX => self.members.extend(inner),
                _ => self.mistake(value, "web_bot_auth must be an object of few members"),
            }
        }
    }

    fn refuse_duplicates(&mut self) {
        for at in 1..self.members.len() {
            let (name, value) = &self.members[at];
            if self.members[..at].iter().any(|(before, _)| before == name) {
                let (why, value) = (format!("'{name}' is there twice; remove one of them"), *value);
                self.mistake(value, why);
            }
        }
    }

    pub(super) fn line_of(&self, value: &RawValue) -> u64 {
        // The value is a part of the text.
        let at = (value.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        line_at(&self.text.as_bytes()[..at.min(self.text.len())])
    }

    pub(super) fn mistake(&mut self, value: &RawValue, why: impl Into<String>) {
        let line = self.line_of(value);
        self.mistakes.push(Error::invalid(self.path, line, why));
    }

    /// The value of a member; one that is `null` says nothing.
    pub(super) fn member(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.members.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value).filter(|value| value.get() != "null")
    }

    pub(super) fn read<T: Deserialize<'a>>(&mut self, name: &str, is: &str) -> Option<T> {
        let value = self.member(name)?;
        let read = serde_json::from_str(value.get());
        if read.is_err() {
            self.mistake(value, format!("{name} must be {is}"));
        }
        read.ok()
    }

    /// The texts of a member, which may be a single one.
    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        let texts = match self.read(name, "a text, or a list of texts") {
            None => return Vec::new(),
            Some(Texts::One(text)) => vec![text],
            Some(Texts::Many(texts)) => texts,
        };
        let texts: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
        let Some(value) = self.member(name) else { return Vec::new() };
        if texts.len() > TEXTS_MAX {
            self.mistake(value, format!("{name} has more than {TEXTS_MAX} texts"));
            return Vec::new();
        }
        for text in &texts {
            if let Some(why) = wrong_text(text, self.options.has_hidden) {
                self.mistake(value, format!("{name} {why}"));
                return Vec::new();
            }
        }
        texts.into_iter().filter(|text| !text.is_empty()).collect()
    }

    pub(super) fn text_of(&mut self, name: &str) -> Option<String> {
        let texts = self.texts(name);
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// The URL of a member.
    pub(super) fn url(&mut self, name: &str) -> Option<String> {
        let url = self.text_of(name)?;
        match self.member(name) {
            Some(value) if !is_url(&url) => {
                self.mistake(value, format!("{name} must be one URL that begins with https://"));
                None
            }
            _ => Some(url),
        }
    }
}

/// The message of a JSON error without its place.
fn what(err: &serde_json::Error) -> String {
    let text = err.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
}

fn line_at(before: &[u8]) -> u64 {
    1 + before.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The line at which arrays and objects are nested too deeply.
fn too_deep(text: &[u8]) -> Option<u64> {
    let (mut depth, mut is_text, mut is_escaped) = (0usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => depth += 1,
            b'}' | b']' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return Some(line_at(&text[..at]));
        }
    }
    None
}

fn wrong_text(text: &str, has_hidden: fn(&str) -> bool) -> Option<String> {
    if text.len() > TEXT_BYTES_MAX {
        return Some(format!("is longer than {TEXT_BYTES_MAX} bytes"));
    }
    if has_hidden(text) {
        return Some("has a control character, or one that cannot be seen".to_owned());
    }
    let first = text.chars().next().filter(|first| FORMULA_STARTS.contains(*first));
    first.map(|first| format!("begins with '{first}', which spreadsheets run as a formula"))
}

fn is_url(url: &str) -> bool {
    url.starts_with("https://")
        && host_of(url).is_some()
        && url.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The host of a URL, without `www.`.
pub(super) fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.split(':').next()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    (host.contains('.') && host.bytes().all(is_host) && !authority.contains('@')).then_some(host)
}
