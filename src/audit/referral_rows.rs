//! Visits that the products of each operator sent to each origin, beside the requests of its crawlers.

use std::collections::BTreeMap;

use crate::crawlers::crawler::Crawler;
use crate::crawlers::products::{Product, operator_with_product};
use crate::error::{Error, Result};
use crate::merge::{Merge, merge_fields};

use super::tally::counts::Visits;
use crate::measures::answer_tally::AnswerTally;
use crate::measures::sums::{Answered, Sums};

/// By origin, operator and product; `None` stands for all its products together.
pub(crate) type ReferralRows =
    BTreeMap<(String, &'static str, Option<&'static Product>), Referrals>;

/// What an operator sent, and what it took.
#[derive(Clone, Debug, Default)]
pub struct Referrals {
    /// Requests of visitors.
    pub visits: AnswerTally,
    /// Requests of its crawlers, without spoofed ones and tools; of all products together only.
    pub crawlers: Answered,
}

merge_fields!(Referrals { visits, crawlers });

/// The rows of all operators that have products, of the `visits` and the requests of crawlers by
/// origin.
///
/// # Errors
/// If sums that must hold do not.
pub(crate) fn referral_rows<'a>(
    visits: impl IntoIterator<Item = (String, Visits)>,
    crawlers: impl IntoIterator<Item = (&'a str, &'a Crawler, Sums)>,
) -> Result<ReferralRows> {
    let mut rows = ReferralRows::new();
    for (origin, visits) in visits {
        for (id, tally) in visits {
            if !tally.holds(tally.span) {
                return Err(Error::inconsistent("the tally is damaged: it has impossible visits"));
            }
            let product = id.product();
            for of in [None, Some(product)] {
                let row = rows.entry((origin.clone(), product.operator, of)).or_default();
                row.visits.absorb(tally.clone());
            }
        }
    }
    for (origin, crawler, Sums { requests, bytes, .. }) in crawlers {
        if let Some(operator) = operator_with_product(&crawler.operator) {
            let row = rows.entry((origin.to_owned(), operator, None)).or_default();
            row.crawlers.absorb(Answered { requests, bytes });
        }
    }
    Ok(rows)
}
