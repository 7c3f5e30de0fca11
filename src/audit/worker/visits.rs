//! Counts visits that products sent.

use crate::logs::record::{Fields, Scratch};

use super::super::input_tally::InputTally;
use super::Worker;

impl Worker<'_> {
    /// Counts a line of a client that is not a crawler.
    #[inline]
    pub(super) fn count_visitor(
        &mut self,
        fields: &Fields<'_>,
        scratch: &mut Scratch,
        tally: &mut InputTally,
    ) {
        tally.other += 1;
        let referer = fields.raw_referer();
        if referer.is_empty() {
            return;
        }
        tally.with_referer += 1;
        if !self.referers.is_last_other(referer) && referer != b"-" {
            self.count_visit(fields, scratch);
        }
    }

    /// Counts the visit, if the Referer is of a product.
    #[inline(never)]
    fn count_visit(&mut self, fields: &Fields<'_>, scratch: &mut Scratch) {
        let product = self.referers.product(fields.raw_referer(), || fields.referer(scratch));
        let Some(product) = product else { return };
        let Ok(record) = fields.record(scratch) else { return };
        if record.method == b"GET" && (1..400).contains(&record.status) {
            let (_, site) = self.address(&record);
            let origin = self.origins.of(site, &self.sites, &mut self.counter.rows);
            let visits = self.counter.rows.visits(origin).entry(product);
            visits.count(record.time, record.status, record.bytes);
        }
    }
}
