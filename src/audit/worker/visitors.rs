//! Counts the lines of browsers and of clients without a user agent, and visits that products sent.
//!
//! These are most lines, so nearly all of them only add one to a number, which is added to the
//! counter at the end of a day. Those of the sample are judged.

use crate::bytes::equal;
use crate::crawlers::{identify::Identified, products::ProductId, ranges::Ranges};
use crate::judge::verdict::JudgedAt;
use crate::logs::plausible::may_be_user_agent;
use crate::logs::record::{Fields, Record, Scratch};
use crate::logs::reject::Reject;
use crate::logs::usual::UsualFields;
use crate::time::UtcTime;
use crate::url::path::prepare;

use super::super::input_tally::InputTally;
use super::super::sample_tally::{SampleTally, SampledLine};
use super::visitor_counts::{UnlistedRuled, Visitor, sampled};
use super::{Context, Worker};
use crate::audit::client::{address, client_address};

impl Worker<'_> {
    /// Counts a line of a client that is not a crawler.
    #[inline]
    pub(super) fn count_visitor(
        &mut self,
        visitor: Visitor,
        (line, number): (&[u8], u64),
        fields: &Fields<'_>,
        scratch: &mut Scratch,
        tally: &mut InputTally,
    ) {
        self.begin(fields, scratch, tally);
        let is_sampled = fields.is_sampled();
        let lists = self.context.identities.ranges.as_ref();
        let is_disguised = lists.is_some_and(|lists| {
            !self.is_unlisted(lists, fields.client())
                && self.count_disguised(lists, fields, scratch)
        });
        let read = match (is_disguised, is_sampled) {
            (true, _) => Some(Ok(())),
            (false, true) => Some(self.count_sampled(visitor, fields, scratch)),
            (false, false) => {
                self.visitors.requests[visitor as usize] += 1;
                None
            }
        };
        if let Some(weight) = SampleTally::weight(number, self.head_end, is_sampled) {
            let read = read.unwrap_or_else(|| fields.record(scratch).map(|_| ()));
            let has_user_agent = may_be_user_agent(fields.user_agent(scratch));
            tally.sample.count(SampledLine { number, text: line, weight, has_user_agent }, read);
        }
        self.count_referer(fields, scratch, tally);
    }

    /// Counts a usual line of a client that is not a crawler, in the minute of the line before.
    #[inline]
    pub(super) fn count_usual_visitor(
        &mut self,
        who: Identified,
        (fields, number): (&UsualFields<'_>, u64),
        scratch: &mut Scratch,
        tally: &mut InputTally,
    ) {
        if self.context.identities.ranges.is_some() || fields.is_sampled() {
            let line = (fields.line(), number);
            return self.count_visitor(Visitor::of(who), line, &fields.fields(), scratch, tally);
        }
        let referer = fields.raw_referer();
        self.count_plain(who, referer, tally);
        if matches!(referer, b"" | b"-") || self.referers.is_last_other(referer) {
            return;
        }
        // It has no escapes.
        let Some(product) = self.referers.product(referer, || referer) else { return };
        if let Ok(record) = &fields.record(scratch) {
            self.add_visit(product, record);
        }
    }

    /// Counts a line of a client that is not a crawler by its user agent, whose request the agent of
    /// this operator signed.
    pub(super) fn count_signer(
        &mut self,
        operator: String,
        fields: &Fields<'_>,
        scratch: &mut Scratch,
        tally: &mut InputTally,
    ) {
        self.begin(fields, scratch, tally);
        let ruled = self.rule_unlisted(fields, scratch, b"").ok();
        let days = self.counter.clients.signed.entry(operator).or_default();
        days.add(self.visitors.day, sampled(ruled));
        self.count_referer(fields, scratch, tally);
    }

    /// Counts the line, and turns to its minute.
    #[inline(always)]
    fn begin(&mut self, fields: &Fields<'_>, scratch: &mut Scratch, tally: &mut InputTally) {
        tally.other += 1;
        if !fields.is_of_minute(&mut self.visitors.minute) {
            self.turn_to_minute(fields, scratch);
        }
    }

    #[inline(always)]
    fn count_referer(
        &mut self,
        fields: &Fields<'_>,
        scratch: &mut Scratch,
        tally: &mut InputTally,
    ) {
        let referer = fields.raw_referer();
        if referer.is_empty() {
            return;
        }
        tally.with_referer += 1;
        if !self.referers.is_last_other(referer) && referer != b"-" {
            self.count_visit(fields, scratch);
        }
    }

    /// Adds the counts to the counter.
    pub(super) fn add_visitors(&mut self) {
        self.visitors.add_to(&mut self.counter.clients);
    }

    /// Goes on with the day of the line.
    #[inline(never)]
    pub(super) fn turn_to_minute(&mut self, fields: &Fields<'_>, scratch: &mut Scratch) {
        let zone = &self.context.options.zone;
        let time = fields.time_near_the_last(scratch);
        let day = time.map(|time| self.last_hour.of(zone, time).day);
        if day != self.visitors.day {
            self.add_visitors();
            self.visitors.day = day;
        }
        // Before there were time zones, days of places began within a minute.
        let seconds = time.map_or(0, UtcTime::unix_seconds);
        let minute = seconds - seconds.rem_euclid(60);
        let ends = [minute, minute + 59].map(UtcTime::from_unix_seconds);
        let is_like_all = |end: UtcTime| {
            Some(self.last_hour.of(zone, end).day) == day
                && self.context.options.window.contains(end)
        };
        if !ends.into_iter().flatten().all(is_like_all) {
            self.visitors.minute.forget();
        }
    }

    /// Counts a line of the sample.
    #[inline(never)]
    fn count_sampled(
        &mut self,
        visitor: Visitor,
        fields: &Fields<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Reject> {
        let ruled = self.rule_unlisted(fields, scratch, b"");
        let clients = &mut self.counter.clients;
        let sum = match visitor {
            Visitor::Browser => &mut clients.browsers,
            Visitor::NoUserAgent => &mut clients.no_user_agent,
        };
        sum.add(self.visitors.day, sampled(ruled.ok()));
        if let Ok(UnlistedRuled { origin, verdict, .. }) = ruled
            && visitor == Visitor::Browser
        {
            self.counter.rows.browsers(origin).count(verdict);
        }
        ruled.map(|_| ())
    }

    /// Whether this client, as it is logged, has no address on a list.
    #[inline(never)]
    fn is_unlisted(&mut self, lists: &Ranges, client: &[u8]) -> bool {
        // Behind a proxy, the same client of a line is many.
        if !self.context.options.trusted_proxies.is_empty() {
            return false;
        }
        if equal(client, &self.visitors.last_unlisted) {
            return true;
        }
        let is_unlisted = !address(client).is_some_and(|address| lists.ever_contain(address));
        if is_unlisted {
            self.visitors.last_unlisted.clear();
            self.visitors.last_unlisted.extend_from_slice(client);
        }
        is_unlisted
    }

    /// Counts a line whose address is on a list of a crawler, though its user agent is not the
    /// crawler's. An address that was zeroed in part may stand for others: it tells nothing.
    #[inline(never)]
    fn count_disguised(
        &mut self,
        lists: &Ranges,
        fields: &Fields<'_>,
        scratch: &mut Scratch,
    ) -> bool {
        let Ok(record) = fields.record(scratch) else { return false };
        let listed = client_address(&record, &self.context.options.trusted_proxies)
            .and_then(|address| lists.crawler_with(address, record.time));
        let Some(crawler) = listed else { return false };
        let ruled = self.rule_unlisted(fields, scratch, b"").ok();
        let operator = &self.context.registry.crawler(crawler).operator;
        let disguised = &mut self.counter.clients.disguised;
        if !disguised.contains_key(&**operator) {
            disguised.insert(operator.to_string(), Default::default());
        }
        if let Some(days) = disguised.get_mut(&**operator) {
            days.add(self.visitors.day, sampled(ruled));
        }
        true
    }

    /// The decision of the groups for `name`, or else of the `*` groups; an error if the line cannot be
    /// read past the user agent. No group is for an empty name.
    pub(super) fn rule_unlisted(
        &mut self,
        fields: &Fields<'_>,
        scratch: &mut Scratch,
        name: &[u8],
    ) -> Result<UnlistedRuled, Reject> {
        let record = fields.record(scratch)?;
        let (target, site) = self.address(&record);
        // Its robots.txt was used, so the tally lists it.
        let origin = self.origins.of(site, &self.sites, &mut self.counter.rows);
        let Context { judge, options, registry, .. } = *self.context;
        let path = target.path();
        let path = path.map(|path| prepare(path, judge.dialect(), &mut self.path_scratch));
        let known = self.sites.get(site).known(judge);
        let at = JudgedAt::Time(record.time, options.before_first);
        let who = (name, registry.generic());
        let verdict = judge.verdict_by_name(known, who, path, at).verdict;
        Ok(UnlistedRuled { verdict, origin, time: record.time, bytes: record.bytes })
    }

    /// Counts the visit, if the Referer is of a product.
    #[inline(never)]
    fn count_visit(&mut self, fields: &Fields<'_>, scratch: &mut Scratch) {
        let product = self.referers.product(fields.raw_referer(), || fields.referer(scratch));
        let Some(product) = product else { return };
        if let Ok(record) = &fields.record(scratch) {
            self.add_visit(product, record);
        }
    }

    fn add_visit(&mut self, product: ProductId, record: &Record<'_>) {
        if record.method == b"GET" && (1..400).contains(&record.status) {
            let (_, site) = self.address(record);
            let origin = self.origins.of(site, &self.sites, &mut self.counter.rows);
            let visits = self.counter.rows.visits(origin).entry(product);
            visits.count(record.time, record.status, record.bytes);
        }
    }
}
