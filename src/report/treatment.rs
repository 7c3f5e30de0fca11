//! What the server does with crawlers, against what robots.txt asks for: who is allowed but refused, and who is
//! disallowed but served.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::crawlers::identity::Actor;
use crate::measures::answers::Asked;
use crate::measures::statuses::StatusGroup;
use crate::measures::sums::{Answered, Span};
use crate::merge::{Merge, merge_fields};
use crate::numbers::grouped;
use crate::statistics::wilson_interval;
use crate::table::escape::shown;

use super::page_model::PageModel;

/// The most crawlers named in a finding.
const NAMED_MAX: usize = 3;

/// A crawler is named if the share of its requests is certainly this or more: the lower end of the Wilson interval.
const SHARE_MIN: f64 = 0.5;

/// The fewest requests of a crawler that is named.
const REQUESTS_MIN: u64 = 10;

/// What robots.txt asks for, what the server answers, and both in words.
type Finding = (Asked, fn(StatusGroup) -> bool, &'static str);

const FINDINGS: [Finding; 3] = [
    (Asked::Allowed, is_refused, "allowed but refused"),
    (Asked::Violation, is_served, "disallowed but served"),
    (Asked::Violation, is_refused, "refused as robots.txt asks"),
];

fn is_refused(answer: StatusGroup) -> bool {
    use StatusGroup::{Challenged, PaymentRequired, Refused};
    matches!(answer, Refused | PaymentRequired | Challenged)
}

fn is_served(answer: StatusGroup) -> bool {
    matches!(answer, StatusGroup::Ok | StatusGroup::NotModified)
}

/// Requests with a verdict, and those of them with an answer.
#[derive(Clone, Copy, Debug, Default)]
struct Treated {
    all: Answered,
    answered: Answered,
    span: Option<Span>,
}

merge_fields!(Treated { all, answered, span });

/// `allowed but refused: OAI-SearchBot (verified) 50 of 50 since 2026-11-20`, each finding with its crawlers,
/// most requests first. The numbers are requests. Crawlers that are tools or spoofed are in none.
pub(super) fn findings(model: &PageModel<'_>) -> Vec<String> {
    FINDINGS.iter().filter_map(|finding| found(model, finding)).collect()
}

fn found(model: &PageModel<'_>, (asked, is_answer, words): &Finding) -> Option<String> {
    let mut treated: BTreeMap<Actor, Treated> = BTreeMap::new();
    for row in model.audit.rows().iter().filter(|row| model.audit.is_own_crawler(row.actor)) {
        let answers = row.tally.answers.iter().filter(|((of, _), _)| of == asked);
        for ((_, answer), tally) in answers {
            let (answered, span) = match is_answer(*answer) {
                true => (tally.answered, tally.span),
                false => (Answered::default(), None),
            };
            let treated = treated.entry(row.actor).or_default();
            treated.absorb(Treated { all: tally.answered, answered, span });
        }
    }
    let mut named: Vec<(Actor, Treated)> =
        treated.into_iter().filter(|(_, treated)| is_named(treated)).collect();
    named.sort_by_key(|(actor, treated)| (Reverse(treated.answered.requests), *actor));
    let one = |&((crawler, identity), Treated { all, answered, span }): &(Actor, Treated)| {
        let since = span.map_or_else(String::new, |span| {
            format!(" since {}", span.first.to_string().split('T').next().unwrap_or_default())
        });
        format!(
            "{} ({}) {} of {}{since}",
            shown(&model.name(crawler)),
            identity.as_str(),
            grouped(answered.requests),
            grouped(all.requests),
        )
    };
    let names: Vec<String> = named.iter().take(NAMED_MAX).map(one).collect();
    let more = match named.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!names.is_empty()).then(|| format!("{words}: {}{more}", names.join("; ")))
}

fn is_named(Treated { all, answered, .. }: &Treated) -> bool {
    let interval = wilson_interval(answered.requests, all.requests);
    all.requests >= REQUESTS_MIN && interval.is_some_and(|(low, _)| low >= SHARE_MIN)
}
