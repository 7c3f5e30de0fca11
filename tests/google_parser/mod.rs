//! Google's parser as a whole: robots.txt, product token and URL to a decision.
//!
//! Without botaudit's additions: no digits in product tokens, no preparation of the URL, no
//! exception for `/robots.txt`.

use botaudit::matcher::{
    decision::{Decision, IndexedDecision},
    select::{GroupChoice, select_as_google},
};
use botaudit::robots::{model::Rule, parse::parse};
use botaudit::url::path::of_url;

use std::borrow::Cow;

/// The result of Google's parser for one URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer<'a> {
    /// The decision with the matching line.
    pub decision: Decision,
    /// Whether any group names the product token.
    pub is_named: bool,
    /// The path, parameters and query that were compared.
    pub path: Cow<'a, [u8]>,
}

/// Decides with `decide` as the matcher, which gets the binding rules and the path. Google's path
/// ends at a NUL.
pub fn ask<'a>(
    robots_txt: &[u8],
    asked: &[u8],
    url: &'a [u8],
    decide: impl FnOnce(&[&Rule], &[u8]) -> IndexedDecision,
) -> Answer<'a> {
    let (robots, _) = parse(robots_txt);
    let selection = select_as_google(&robots, asked);
    let path = of_url(url);
    let end = memchr::memchr(0, &path).unwrap_or(path.len());
    let decision = selection.decision(decide(&selection.rules(), &path[..end]));
    Answer { decision, is_named: matches!(selection.bound_by, GroupChoice::Token(_)), path }
}
