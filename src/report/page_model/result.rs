//! The result of an audit in a few words.

use std::collections::BTreeSet;

use crate::audit::{conduct::Conduct, coverage::Coverage};
use crate::numbers::{counted, grouped};

use super::{PageModel, action::is_site, is_itself, text};

impl PageModel<'_> {
    /// The site and the result.
    pub(crate) fn title(&self) -> String {
        let site = match &self.origins[..] {
            [origin] if is_site(origin) => text(origin),
            [] | [_] => "Crawlers and robots.txt".to_owned(),
            origins => counted(origins.len() as u64, "origin"),
        };
        format!("{site}: {}", self.result())
    }

    fn result(&self) -> String {
        match &self.audit.coverage {
            Coverage::Nothing(_) => "nothing could be judged".to_owned(),
            Coverage::NoRequest => "no request of a known crawler".to_owned(),
            Coverage::NoneBound => "no request that robots.txt can bind".to_owned(),
            Coverage::TooLittle { judged, .. } | Coverage::Enough { judged }
                if self.not_spoofed().violations == 0 =>
            {
                format!("no crawler broke a rule in {}", counted(*judged, "judged request"))
            }
            Coverage::TooLittle { .. } | Coverage::Enough { .. } => {
                let all = counted(self.own_crawlers(), "crawler");
                match &self.with_conduct(Conduct::Ignores)[..] {
                    [] => format!("{} of {all} broke a rule", grouped(self.offending_crawlers())),
                    [(one, _)] => format!("{} ignores robots.txt", self.name(*one)),
                    [(one, _), (other, _)] => {
                        format!("{} and {} ignore robots.txt", self.name(*one), self.name(*other))
                    }
                    more => format!("{} of {all} ignore robots.txt", grouped(more.len() as u64)),
                }
            }
        }
    }

    /// The number of crawlers that are not spoofed.
    pub(crate) fn own_crawlers(&self) -> u64 {
        self.crawlers_with(0)
    }

    /// The number of those that broke a rule.
    pub(crate) fn offending_crawlers(&self) -> u64 {
        self.crawlers_with(1)
    }

    fn crawlers_with(&self, violations_min: u64) -> u64 {
        let counted = self.crawlers.iter().filter(|((_, identity), totals)| {
            is_itself(*identity) && totals.sums.violations >= violations_min
        });
        counted.map(|((crawler, _), _)| crawler).collect::<BTreeSet<_>>().len() as u64
    }
}
