//! What one robots.txt leaves to one crawler, and by which group and line.

use crate::digest::Digest;
use crate::matcher::{reference, select::GroupChoice};
use crate::robots::model::{ParsedRobotsTxt, ProductToken, StarGroups};
use crate::url::path::Dialect;

use super::{crawl_delay::AskedDelay, profile::CrawlerProfile, restriction::RestrictionKind};

/// What one robots.txt leaves to one crawler, and by what.
#[derive(Clone, Debug)]
pub(crate) struct FileRestriction {
    /// `None` if no path is disallowed.
    pub kind: Option<RestrictionKind>,
    /// The group that binds it: `own`, `star`, or `none`.
    pub group: &'static str,
    /// The line of the rule that decides about `/`, if there is one.
    pub root_line: Option<u32>,
    /// Whether there is a group for `*`, and the crawler ignores it.
    pub ignores_star: bool,
    /// The Crawl-delay as written.
    pub crawl_delay: Option<Box<[u8]>>,
}

impl FileRestriction {
    /// The restriction of the crawler `profile` by `text`, whose digest is `digest`.
    pub(crate) fn new(
        text: &ParsedRobotsTxt,
        digest: Digest,
        profile: &CrawlerProfile,
        dialect: Dialect,
    ) -> FileRestriction {
        let selection = profile.select(text);
        let rules = selection.rules();
        let decide = |path: &[u8]| reference::decide(&rules, dialect, path);
        let root = selection.decision(decide(b"/"));
        let tokens = text.groups.iter().flat_map(|group| &group.product_tokens);
        FileRestriction {
            kind: RestrictionKind::of(&rules, dialect, decide),
            group: match selection.bound_by {
                GroupChoice::Token(_) => "own",
                GroupChoice::Star => "star",
                GroupChoice::Nothing => "none",
            },
            root_line: root.line,
            ignores_star: selection.bound_by == GroupChoice::Nothing
                && profile.star == StarGroups::Ignored
                && tokens.into_iter().any(ProductToken::is_star),
            crawl_delay: AskedDelay::new(text, digest, profile).map(|delay| delay.written),
        }
    }
}
