//! One line of any format: who sent it, and what is done with it.

use crate::audit::sample_tally::SampledLine;
use crate::crawlers::{cache::identify_cached, identify::Identified};
use crate::input::marks::MarkedLines;
use crate::logs::{LineContent, format::Reader, record::Fields, reject::Skip, usual::UsualFields};
use crate::measures::example::Position;
use crate::time::Window;

use super::{Pass, Worker, reading::Reading, visitor_counts::Visitor};

impl Worker<'_> {
    /// Judges the next line, whatever it has; `false` if there is none.
    #[inline(always)]
    pub(super) fn audit_next(
        &mut self,
        lines: &mut MarkedLines<'_, '_>,
        reader: &mut Reader,
        reading: &mut Reading<'_>,
    ) -> bool {
        let Some((line, quotes)) = lines.next_of_any_kind() else { return false };
        let layout = reader.usual_layout();
        let usual =
            quotes.zip(layout).and_then(|(quotes, layout)| UsualFields::of(line, quotes, layout));
        let read = match usual {
            Some(usual) => LineContent::Fields(usual.fields()),
            None => reader.line(line),
        };
        self.audit_line(line, &read, reading);
        true
    }

    // Calls of this one and the next would take a twentieth of a browser's line.
    #[inline(always)]
    pub(super) fn audit_line(
        &mut self,
        line: &[u8],
        read: &LineContent<'_>,
        reading: &mut Reading<'_>,
    ) {
        self.turn_to_day_of(read, line, reading);
        let Reading { tally, position, scratch, .. } = reading;
        match read {
            LineContent::Skip(reason) => tally.skip(*reason, line, self.is_wrapped),
            LineContent::Reject(reason) => tally.reject(*reason, position.line, line),
            LineContent::Fields(fields) if is_outside(fields, self.context.options.window) => {
                tally.skip(Skip::OutsideTime, line, self.is_wrapped);
            }
            LineContent::Fields(fields) => match self.context.pass {
                Pass::Judge => {
                    let user_agent = fields.user_agent(scratch);
                    let registry = self.context.registry;
                    let who = identify_cached(registry, user_agent, &mut self.user_agents);
                    let number = position.line;
                    self.judge_line(who, (line, number), fields, reading);
                }
                Pass::Collect(wanted) => self.collect(wanted, line, fields, scratch),
            },
        }
        reading.position.line += 1;
    }

    /// Judges a line of `who`, with its number.
    #[inline(always)]
    pub(super) fn judge_line(
        &mut self,
        who: Identified,
        (line, number): (&[u8], u64),
        fields: &Fields<'_>,
        reading: &mut Reading<'_>,
    ) {
        let Reading { tally, position, scratch, evidence, .. } = reading;
        if fields.may_be_signed() && self.count_signed_visitor(who, fields, scratch, tally) {
            return;
        }
        match who {
            Identified::Generic => {
                tally.other += 1;
                let read = self.count_unknown_crawler(fields, scratch);
                let line = SampledLine { number, text: line, weight: 1, has_user_agent: true };
                tally.sample.count(line, read);
            }
            found @ (Identified::Other | Identified::Empty) => {
                self.count_visitor(Visitor::of(found), (line, number), fields, scratch, tally);
            }
            // A record is large, and stays where it is made.
            Identified::Crawler(crawler) => match &fields.record(scratch) {
                Err(reason) => tally.reject_crawler(*reason, number, line),
                Ok(record) => {
                    tally.crawler += 1;
                    self.count(
                        crawler,
                        record,
                        Position { line: number, ..*position },
                        evidence.as_deref_mut(),
                    );
                }
            },
        }
    }

    /// Goes on with the counter of the day of `line`, if each day has its own.
    #[inline(always)]
    fn turn_to_day_of(
        &mut self,
        read: &LineContent<'_>,
        line: &[u8],
        Reading { position, tally, days, .. }: &mut Reading<'_>,
    ) {
        if let Some(days) = days {
            let key =
                days.key_of(read.time(), &self.context.options.zone, self.context.options.window);
            self.turn_to_day(key, position.file, tally);
            tally.bytes += line.len() as u64 + 1;
        }
    }
}

/// Checked for every parsed line, of any client. A line with an invalid time is not outside of the
/// window: it is rejected later.
fn is_outside(fields: &Fields<'_>, window: Window) -> bool {
    window != Window::ALWAYS && fields.time().is_some_and(|time| !window.contains(time))
}
