//! Reads the lines of logs in JSON, which mostly differ only in their values, by the places of their quotes.

use crate::crawlers::{cache::identify_cached, identify::Identified};
use crate::input::marks::MarkedLines;
use crate::logs::json::{Places, UsualValues};
use crate::logs::{LineContent, format::Reader};
use crate::time::Zone;

use super::{Pass, Worker, reading::Reading};

/// The lines of a chunk that are not like others, more than those that are, before no more quotes are searched.
const OTHERS_MAX: u32 = 64;

/// The sender of a line in the minute of the line before.
#[derive(Clone, Copy)]
enum Sender {
    /// A browser, whose line is counted.
    Counted,
    /// Any other sender, whose line is to be read in full.
    Known(Identified),
}

impl Worker<'_> {
    /// Counts the lines of a chunk.
    pub(super) fn audit_objects(
        &mut self,
        mut lines: MarkedLines<'_, '_>,
        reader: &mut Reader,
        reading: &mut Reading<'_>,
    ) {
        let (mut places, mut others) = (Places::default(), 0_u32);
        loop {
            let Some((json, zone)) = reader.objects() else { return };
            let Some((line, is_found)) = lines.next_by(|text| json.find(text, &mut places)) else {
                return;
            };
            others = if is_found { others.saturating_sub(1) } else { others + 1 };
            if others == OTHERS_MAX {
                lines.unmark();
            }
            let text = lines.text();
            let usual = if is_found { json.usual(text, &places) } else { None };
            match usual.and_then(|usual| self.count_usual(&usual, zone, reading)) {
                Some(Sender::Counted) => {}
                Some(Sender::Known(who)) => match &json.found((text, zone), &places) {
                    LineContent::Fields(fields) => {
                        let number = reading.position.line;
                        self.judge_line(who, (line, number), fields, reading);
                    }
                    other => {
                        self.audit_in_full(line, other, reading);
                        continue;
                    }
                },
                None if is_found => {
                    self.audit_in_full(line, &json.found((text, zone), &places), reading);
                    continue;
                }
                None => {
                    self.audit_in_full(line, &reader.line(line), reading);
                    continue;
                }
            }
            if reading.days.is_some() {
                reading.tally.bytes += line.len() as u64 + 1;
            }
            reading.position.line += 1;
        }
    }

    #[inline(never)]
    fn audit_in_full(&mut self, line: &[u8], read: &LineContent<'_>, reading: &mut Reading<'_>) {
        let day = self.day_key;
        self.audit_line(line, read, reading);
        if self.day_key != day {
            // The minute may have another counter.
            self.visitors.minute.forget();
        }
    }

    /// Counts a line of a browser, if it needs nothing but that. `None` if the line is not of the minute of the one
    /// before.
    #[inline(always)]
    fn count_usual(
        &mut self,
        usual: &UsualValues<'_>,
        zone: &Zone,
        reading: &mut Reading<'_>,
    ) -> Option<Sender> {
        if self.context.pass != Pass::Judge {
            return None;
        }
        if !usual.is_of_minute(zone, &mut self.visitors.minute) {
            // The next line of a browser turns to its minute.
            self.visitors.minute.forget();
            return None;
        }
        let (registry, referer) = (self.context.registry, usual.raw_referer());
        let who = identify_cached(registry, usual.user_agent(), &mut self.user_agents);
        let is_plain = matches!(who, Identified::Other | Identified::Empty)
            && self.is_plain(referer, || usual.client(), || usual.is_sampled());
        if !is_plain {
            return Some(Sender::Known(who));
        }
        self.count_plain(who, referer, &mut reading.tally);
        Some(Sender::Counted)
    }
}
