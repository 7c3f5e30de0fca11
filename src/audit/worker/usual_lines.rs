//! Reads the usual lines of a chunk in two steps.
//!
//! Most lines are of browsers, in the minute of the line before. They only add one to a number, in a
//! loop that does nothing else, so that a processor keeps all of it at hand. The others wait until some
//! are together.

use crate::audit::input_tally::InputTally;
use crate::bytes::equal;
use crate::crawlers::{cache::identify_cached, identify::Identified};
use crate::input::marks::MarkedLines;
use crate::logs::usual::{UsualFields, UsualLayout};
use crate::logs::{LineContent, format::Reader};
use crate::measures::example::Position;

use super::{Worker, reading::Reading, visitor_counts::Visitor};

/// The lines that wait at most. Together they are smaller than a processor's first cache.
const WAITING_MAX: usize = 256;

/// A line that is not counted yet.
struct WaitingLine<'l> {
    fields: UsualFields<'l>,
    who: Identified,
    /// Of the file.
    number: u64,
}

impl Worker<'_> {
    /// Judges `lines` of a format whose usual lines have six quotes.
    #[inline(never)]
    pub(super) fn audit_usual<'l>(
        &mut self,
        lines: MarkedLines<'l, '_>,
        layout: UsualLayout,
        reader: &mut Reader,
        reading: &mut Reading<'_>,
    ) {
        let mut waiting: Vec<WaitingLine<'l>> = Vec::with_capacity(WAITING_MAX);
        for (line, quotes) in lines {
            let usual = quotes.and_then(|quotes| UsualFields::of(line, quotes, layout));
            let Some(fields) = usual else {
                self.judge_waiting(&mut waiting, reading);
                self.audit_other(line, reader, reading);
                if reading.days.is_some() {
                    // It may have another counter.
                    self.visitors.minute.forget();
                }
                continue;
            };
            if !fields.is_of_minute(&mut self.visitors.minute) {
                self.judge_waiting(&mut waiting, reading);
                if !self.turn_to_minute_of(fields, reading) {
                    self.audit_alone(fields, reading);
                    self.visitors.minute.forget();
                    continue;
                }
            }
            let user_agent = fields.user_agent();
            let who = identify_cached(self.context.registry, user_agent, &mut self.user_agents);
            let referer = fields.raw_referer();
            let is_plain = matches!(who, Identified::Other | Identified::Empty)
                && self.is_plain(referer, || fields.client(), || fields.is_sampled());
            if is_plain {
                self.count_plain(who, referer, &mut reading.tally);
            } else {
                waiting.push(WaitingLine { fields, who, number: reading.position.line });
                if waiting.len() == WAITING_MAX {
                    self.judge_waiting(&mut waiting, reading);
                }
            }
            if reading.days.is_some() {
                reading.tally.bytes += line.len() as u64 + 1;
            }
            reading.position.line += 1;
        }
        self.judge_waiting(&mut waiting, reading);
    }

    /// A line that is not usual.
    #[inline(never)]
    fn audit_other(&mut self, line: &[u8], reader: &mut Reader, reading: &mut Reading<'_>) {
        self.audit_line(line, &reader.line(line), reading);
    }

    /// A usual line of a minute whose lines are not alike.
    #[inline(never)]
    fn audit_alone(&mut self, fields: UsualFields<'_>, reading: &mut Reading<'_>) {
        self.audit_line(fields.line(), &LineContent::Fields(fields.fields()), reading);
    }

    /// Whether a line of a browser, or of a client without a user agent, needs nothing but to be counted.
    #[inline(always)]
    pub(super) fn is_plain<'l>(
        &self,
        referer: &[u8],
        client: impl FnOnce() -> &'l [u8],
        is_sampled: impl FnOnce() -> bool,
    ) -> bool {
        let is_unlisted = self.context.identities.ranges.is_none()
            || self.context.options.trusted_proxies.is_empty()
                && equal(client(), &self.visitors.last_unlisted);
        is_unlisted
            && !is_sampled()
            && (matches!(referer, b"" | b"-") || self.referers.is_other(referer))
    }

    /// Counts a line that [is plain](Worker::is_plain).
    #[inline(always)]
    pub(super) fn count_plain(&mut self, who: Identified, referer: &[u8], tally: &mut InputTally) {
        tally.other += 1;
        tally.with_referer += u64::from(!referer.is_empty());
        self.visitors.requests[Visitor::of(who) as usize] += 1;
    }

    /// Goes on with the minute and the day of a line; says whether lines of that minute are alike.
    #[inline(never)]
    fn turn_to_minute_of(&mut self, fields: UsualFields<'_>, reading: &mut Reading<'_>) -> bool {
        let of_line = fields.fields();
        if let Some(days) = &mut reading.days {
            let key = days.key_of(
                of_line.time(),
                &self.context.options.zone,
                self.context.options.window,
            );
            self.turn_to_day(key, reading.position.file, &mut reading.tally);
        }
        self.turn_to_minute(&of_line, &mut reading.scratch);
        fields.is_of_minute(&mut self.visitors.minute)
    }

    /// Judges the lines that wait.
    #[inline(never)]
    fn judge_waiting(&mut self, waiting: &mut Vec<WaitingLine<'_>>, reading: &mut Reading<'_>) {
        for WaitingLine { fields, who, number } in waiting.iter() {
            let crawler = match *who {
                Identified::Crawler(crawler) => crawler,
                Identified::Generic => {
                    let line = (fields.line(), *number);
                    self.judge_line(*who, line, &fields.fields(), reading);
                    continue;
                }
                Identified::Other | Identified::Empty => {
                    let Reading { tally, scratch, .. } = reading;
                    self.count_usual_visitor(*who, (fields, *number), scratch, tally);
                    continue;
                }
            };
            let Reading { position, tally, scratch, evidence, .. } = reading;
            match &fields.record(scratch) {
                Err(reason) => tally.reject_crawler(*reason, *number, fields.line()),
                Ok(record) => {
                    tally.crawler += 1;
                    let position = Position { line: *number, ..*position };
                    self.count(crawler, record, position, evidence.as_deref_mut());
                }
            }
        }
        waiting.clear();
    }
}
