//! What a robots.txt has for the names in it, by name.

use std::{collections::HashMap, sync::OnceLock};

use crate::robots::model::ParsedRobotsTxt;

/// The longest name that can have rules, in bytes: the name of no crawler is longer.
const NAME_BYTES_MAX: usize = 64;

/// The names in a robots.txt, in lower case, each with a `T`. They are collected when the first name is
/// looked up, and its `T` is made when it is found for the first time.
#[derive(Debug)]
pub(super) struct ByName<T>(OnceLock<HashMap<Box<[u8]>, OnceLock<T>>>);

impl<T> Default for ByName<T> {
    fn default() -> ByName<T> {
        ByName(OnceLock::new())
    }
}

impl<T> ByName<T> {
    /// The `T` of `name`, by `make`; `None` if no group of `text` has the name.
    pub(super) fn get(
        &self,
        text: &ParsedRobotsTxt,
        name: &[u8],
        make: impl FnOnce() -> T,
    ) -> Option<&T> {
        if name.is_empty() {
            return None;
        }
        let mut buffer = [0; NAME_BYTES_MAX];
        let lower = buffer.get_mut(..name.len())?;
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        let of_name = self.0.get_or_init(|| names(text)).get(&*lower)?;
        Some(of_name.get_or_init(make))
    }
}

/// The names in `text`, in each form in which a line may name a crawler.
fn names<T>(text: &ParsedRobotsTxt) -> HashMap<Box<[u8]>, OnceLock<T>> {
    let tokens = text.groups.iter().flat_map(|group| &group.product_tokens);
    let names = tokens.filter(|token| !token.is_star()).flat_map(|token| {
        let forms = token.interpretations().into_iter();
        forms.filter(|name| (1..=NAME_BYTES_MAX).contains(&name.len()))
    });
    names.map(|name| (name.to_ascii_lowercase().into(), OnceLock::new())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::parse::parse;

    #[test]
    fn each_form_of_a_name_is_found_in_any_case() {
        let (text, _) = parse(
            b"User-agent: *\nUser-agent: Photo-Agent/2\nUser-agent: archive.example\nDisallow: /\n",
        );
        let by_name = ByName::default();
        for name in
            [&b"photo-agent"[..], b"PHOTO-AGENT", b"Photo-Agent/2", b"archive", b"archive.example"]
        {
            assert_eq!(by_name.get(&text, name, || 1), Some(&1), "{name:?}");
            // It is made once.
            assert_eq!(by_name.get(&text, name, || 2), Some(&1), "{name:?}");
        }
        let too_long = [b'a'; NAME_BYTES_MAX + 1];
        for name in [&b""[..], b"*", b"photo", b"photo-agent2", &too_long] {
            assert_eq!(by_name.get(&text, name, || 1), None, "{name:?}");
        }
    }
}
