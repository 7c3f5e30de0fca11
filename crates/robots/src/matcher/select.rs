//! Selects the groups of a robots.txt that bind a crawler.

use crate::robots::model::{Group, ParsedRobotsTxt, Rule, StarGroups};

use super::decision::{Decision, IndexedDecision};

/// The groups that bind a crawler.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum GroupChoice {
    /// Those of this product token, by index.
    Token(usize),
    /// The groups for all crawlers.
    Star,
    /// None: everything is allowed.
    Nothing,
}

/// The rules that bind a crawler, merged.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Selection<'a> {
    /// The reason for the choice.
    pub bound_by: GroupChoice,
    /// The binding groups, in the order of the file.
    pub groups: Vec<&'a Group>,
}

impl<'a> Selection<'a> {
    /// Their rules, in the order of the file.
    pub fn rules(&self) -> Vec<&'a Rule> {
        let mut rules = Vec::with_capacity(self.groups.iter().map(|group| group.rules.len()).sum());
        rules.extend(self.groups.iter().flat_map(|group| &group.rules));
        rules
    }

    /// The lines of its rules, in order. A compiled policy does not know them, because files that
    /// differ only in lines may share it. Needed by callers that keep the policy longer than the
    /// text.
    pub fn lines(&self) -> Box<[u32]> {
        self.rules().iter().map(|rule| rule.line).collect()
    }

    /// The decision with the line of its rule; allocates nothing.
    #[inline]
    pub fn decision(&self, decision: IndexedDecision) -> Decision {
        let mut rules = self.groups.iter().flat_map(|group| &group.rules);
        decision.with_line(|rule| rules.nth(rule).map(|rule| rule.line))
    }
}

/// Selects the groups for a crawler that answers to `product_tokens`, the most specific first.
///
/// The first token that any group names decides: all groups that name it are merged, and no others
/// count. If no token is named, the `*` groups are merged, unless the crawler ignores them. A
/// crawler without tokens follows `*`.
///
/// Names are compared as they are: no group names `GPTBot/1.2`. What people give passes
/// [`checked_token`](crate::robots::product_token::checked_token) first.
///
/// ```
/// use botaudit_robots::StarGroups;
/// use botaudit_robots::matcher::select::{GroupChoice, select};
/// let text = b"User-agent: googlebot\nDisallow: /a\nUser-agent: *\nDisallow: /";
/// let (robots, _) = botaudit_robots::robots::parse::parse(text);
/// let selection = select(&robots, &["googlebot-image", "googlebot"], StarGroups::Honoured);
/// assert_eq!(selection.bound_by, GroupChoice::Token(1));
/// assert_eq!(selection.rules().len(), 1);
/// ```
pub fn select<'a>(
    robots: &'a ParsedRobotsTxt,
    product_tokens: &[impl AsRef<[u8]>],
    star: StarGroups,
) -> Selection<'a> {
    for (index, product_token) in product_tokens.iter().enumerate() {
        let is_named = |group: &Group| {
            group.product_tokens.iter().any(|written| written.names(product_token.as_ref()))
        };
        if let Some(selection) = merge(robots, GroupChoice::Token(index), is_named) {
            return selection;
        }
    }
    select_star(robots, star)
}

/// Selects groups as Google's parser does for the name `asked`, unprepared: a name that its grammar
/// cannot express is never found.
pub fn select_as_google<'a>(robots: &'a ParsedRobotsTxt, asked: &[u8]) -> Selection<'a> {
    let is_named = |group: &Group| {
        let mut tokens = group.product_tokens.iter();
        tokens.any(|token| !token.is_star() && token.google_form().eq_ignore_ascii_case(asked))
    };
    merge(robots, GroupChoice::Token(0), is_named)
        .unwrap_or_else(|| select_star(robots, StarGroups::Honoured))
}

fn select_star(robots: &ParsedRobotsTxt, star: StarGroups) -> Selection<'_> {
    let is_star = |group: &Group| group.product_tokens.iter().any(|token| token.is_star());
    let selection = match star {
        StarGroups::Honoured => merge(robots, GroupChoice::Star, is_star),
        StarGroups::Ignored => None,
    };
    let nothing = || Selection { bound_by: GroupChoice::Nothing, groups: vec![] };
    selection.unwrap_or_else(nothing)
}

fn merge(
    robots: &ParsedRobotsTxt,
    bound_by: GroupChoice,
    is_binding: impl Fn(&Group) -> bool,
) -> Option<Selection<'_>> {
    let groups: Vec<&Group> = robots.groups.iter().filter(|group| is_binding(group)).collect();
    (!groups.is_empty()).then_some(Selection { bound_by, groups })
}
