//! Reads the lines of logs in JSON, which mostly differ only in their values, by the places of their quotes.

use crate::crawlers::{cache::identify_cached, identify::Identified};
use crate::input::marks::MarkedLines;
use crate::logs::format::Reader;
use crate::logs::json::{Places, UsualValues};
use crate::time::Zone;

use super::{Pass, Worker, reading::Reading};

/// The lines of a chunk that are not like others, more than those that are, before no more quotes are searched.
const OTHERS_MAX: u32 = 64;

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
            let text = lines.text();
            let usual = if is_found { json.usual(text, &places) } else { None };
            if usual.is_some_and(|usual| self.is_counted(&usual, zone, reading)) {
                if reading.days.is_some() {
                    reading.tally.bytes += line.len() as u64 + 1;
                }
                reading.position.line += 1;
                others = others.saturating_sub(1);
                continue;
            }
            others = if is_found { others.saturating_sub(1) } else { others + 1 };
            if others == OTHERS_MAX {
                lines.unmark();
            }
            let day = self.day_key;
            let read = match is_found {
                true => json.found((text, zone), &places),
                false => reader.line(line),
            };
            self.audit_line(line, &read, reading);
            if self.day_key != day {
                // The minute may have another counter.
                self.visitors.minute.forget();
            }
        }
    }

    /// Counts a line of a browser, if it needs nothing but that.
    #[inline(always)]
    fn is_counted(
        &mut self,
        usual: &UsualValues<'_>,
        zone: &Zone,
        reading: &mut Reading<'_>,
    ) -> bool {
        if self.context.pass != Pass::Judge {
            return false;
        }
        if !usual.is_of_minute(zone, &mut self.visitors.minute) {
            // The next line of a browser turns to its minute.
            self.visitors.minute.forget();
            return false;
        }
        let (registry, referer) = (self.context.registry, usual.raw_referer());
        let who = identify_cached(registry, usual.user_agent(), &mut self.user_agents);
        let is_plain = matches!(who, Identified::Other | Identified::Empty)
            && self.is_plain(referer, || usual.client(), || usual.is_sampled());
        if is_plain {
            self.count_plain(who, referer, &mut reading.tally);
        }
        is_plain
    }
}
