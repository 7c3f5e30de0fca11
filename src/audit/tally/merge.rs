//! Merges several tallies into the one that a single audit of all their logs would make, and finds the one that
//! contradicts itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::audit::packed::{self, Unreadable};
use crate::audit::repeated_content::{NamedContent, RepeatedContents, repeated_contents};
use crate::audit::{memory_limit::MemoryLimit, model::ReportModel, shares::COMPARE_AT};
use crate::config::option::Class;
use crate::crawlers::crawler::{Crawler, CrawlerId};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::input::{copies::AlikeLogs, source::FileId};
use crate::judge::robots::RobotsId;
use crate::measures::renumbering::Renumbering;
use crate::merge::{Merge, least};
use crate::numbers::counted;

use super::counter::{Counter, TallyLimits};
use super::file::{DAMAGED, PackedTally, unreadable};
use super::header::{Header, InputSummary, MadeBy, RobotsVersion, merge_options};
use super::{Tally, counts::Counts};

/// The next step for tallies that cannot be merged.
const ADVICE: &str = "audit the logs of one of them again, with the options of the other";

/// The tally of all logs of the tallies at `paths`, files or report directories. Equal files count
/// once.
///
/// # Errors
/// If one cannot be read, two of them have an input of the same name or content, or they do not fit
/// together: another version of the program, another registry, options that change a verdict.
pub fn merge_files(paths: &[PathBuf], limits: TallyLimits) -> Result<Tally> {
    let memory = MemoryLimit::new(limits.memory_bytes);
    let mut known = BTreeSet::new();
    let mut packed: Vec<(&Path, PackedTally)> = Vec::new();
    for path in paths {
        let tally = PackedTally::read(path, &memory)?;
        if known.insert(tally.hash) {
            packed.push((path, tally));
        }
    }
    refuse_repeated_inputs(&packed)?;
    let alike = refuse_repeated_contents(&packed)?;
    let named: Vec<(String, &Header)> =
        packed.iter().map(|(path, tally)| (path.display().to_string(), &tally.header)).collect();
    for (name, header) in named.iter().skip(1) {
        check_same_run((&named[0].0, named[0].1), (name, header))?;
    }
    let mut header = merged_header(named.iter().map(|(_, header)| *header));
    header.repeats.alike.extend(alike);
    let mut sum = Counter::new(limits, ranks(&header));
    let before = memory.taken();
    for (at, (path, tally)) in packed.into_iter().enumerate() {
        let numbers = renumbering(&tally.header, &header);
        let mut counts = tally.unpack(&memory);
        if at > 0 && matches!(counts, Err(Unreadable::TooLarge)) {
            // Equal rows of several tallies are one row of the sum.
            memory.back_to(before);
            let measured = packed::measure(finish(sum, &header)?, &memory);
            sum = Counter::new(limits, ranks(&header));
            let measured = measured.map_err(|why| unreadable(path, why, &memory))?;
            sum.add(measured, &renumbering(&header, &header))?;
            counts = tally.unpack(&memory);
        }
        let counts = counts.map_err(|why| unreadable(path, why, &memory))?;
        sum.add(counts, &numbers).map_err(|err| err.in_file(path, DAMAGED))?;
    }
    Ok(Tally { counts: finish(sum, &header)?, header })
}

/// Merges `earlier` and `later`, tallies of the same job: later lines are added to inputs of the
/// same name.
///
/// # Errors
/// If one of them is damaged.
pub fn continued(earlier: Tally, later: Tally, limits: TallyLimits) -> Result<Tally> {
    let mut header = merged_header([&earlier.header, &later.header].into_iter());
    header.version.clone_from(&later.header.version);
    header.options.clone_from(&later.header.options);
    header.registry.clone_from(&later.header.registry);
    let mut counter = Counter::new(limits, ranks(&header));
    for tally in [earlier, later] {
        let numbers = renumbering(&tally.header, &header);
        counter.add(tally.counts, &numbers)?;
    }
    Ok(Tally { counts: finish(counter, &header)?, header })
}

fn finish(counter: Counter, header: &Header) -> Result<Counts> {
    counter.finish(header.inputs.len(), &renumbering(header, header))
}

/// Names are ordered, so the index of a crawler is the rank of its name.
fn ranks(header: &Header) -> std::sync::Arc<[u16]> {
    (0..header.crawlers.len()).map(|at| u16::try_from(at).unwrap_or(u16::MAX)).collect()
}

/// Tallies of different days may hold lines of the same input.
fn refuse_repeated_inputs(packed: &[(&Path, PackedTally)]) -> Result<()> {
    let mut known: BTreeMap<&str, Vec<&(&Path, PackedTally)>> = BTreeMap::new();
    for named in packed {
        for input in &named.1.header.inputs {
            let others = known.entry(&input.name).or_default();
            let days = &named.1.header.days;
            let is_apart = |other: &&(&Path, PackedTally)| {
                let of_other = &other.1.header.days;
                !days.is_empty() && !of_other.is_empty() && days.is_disjoint(of_other)
            };
            if let Some((other, _)) = others.iter().find(|other| !is_apart(other)) {
                return Err(Error::unfit(format!(
                    "{} and {} both contain the input '{}' but differ, so its lines would count \
                     twice; remove one, or give the inputs different names with audit --partial \
                     --name",
                    other.display(),
                    named.0.display(),
                    input.name
                )));
            }
            others.push(named);
        }
    }
    Ok(())
}

/// Gives short inputs that may repeat others.
fn refuse_repeated_contents(packed: &[(&Path, PackedTally)]) -> Result<Vec<AlikeLogs>> {
    let inputs = packed.iter().enumerate().flat_map(|(owner, (_, PackedTally { header, .. }))| {
        header.inputs.iter().filter_map(move |InputSummary { name, sketch, .. }| {
            Some(NamedContent { owner, name, sketch: sketch.as_ref()? })
        })
    });
    let RepeatedContents { certain, alike } = repeated_contents(inputs.collect());
    let Some((part, whole)) = certain else { return Ok(alike) };
    let path = |content: NamedContent<'_>| packed[content.owner].0.display();
    Err(Error::unfit(format!(
        "the input '{}' of {} begins with all lines of the input '{}' of {}, so these lines would \
         count twice; leave one of the two logs out, and audit the others of its tally again",
        whole.name,
        path(whole),
        part.name,
        path(part),
    )))
}

/// Whether two tallies were made by the same program, registry and options.
fn check_same_run(
    (left_name, left): (&str, &Header),
    (right_name, right): (&str, &Header),
) -> Result<()> {
    let (left_by, right_by) = (made_by(left_name, left), made_by(right_name, right));
    // The times of what was read, and of what a report compares.
    let is_of_time = |name: &str, class| class == Some(Class::Window) || name == COMPARE_AT;
    left_by.check_same(&right_by, is_of_time, ADVICE)?;
    let differ = |what: &str, of_left: &str, of_right: &str| {
        Err(left_by.differs(&right_by, what, [of_left, of_right], ADVICE))
    };
    if left.draft != right.draft {
        let digest = |header: &Header| {
            header.draft.as_ref().map_or("none".to_owned(), |draft| draft.digest.to_string())
        };
        return differ("the draft of robots.txt", &digest(left), &digest(right));
    }
    if left.outages != right.outages {
        let hours = |header: &Header| {
            let outages = header.outages.unwrap_or_default();
            let origins = counted(outages.origins, "origin");
            format!("{} at {origins}", counted(outages.hours, "hour"))
        };
        let what = "the inferred outages (see audit --collect)";
        return differ(what, &hours(left), &hours(right));
    }
    Ok(())
}

fn made_by<'a>(name: &'a str, header: &'a Header) -> MadeBy<'a> {
    let Header { version, registry, options, .. } = header;
    MadeBy { name, version, registry, options }
}

/// The merged header of several tallies of one run.
fn merged_header<'a>(headers: impl Iterator<Item = &'a Header>) -> Header {
    let mut inputs: BTreeMap<String, InputSummary> = BTreeMap::new();
    let mut crawlers: BTreeMap<String, Crawler> = BTreeMap::new();
    let mut robots: BTreeMap<Digest, RobotsVersion> = BTreeMap::new();
    let mut merged: Option<Header> = None;
    for header in headers {
        for input in &header.inputs {
            inputs.absorb(BTreeMap::from([(input.name.clone(), input.clone())]));
        }
        for crawler in &header.crawlers {
            crawlers.insert(crawler.name.clone(), crawler.clone());
        }
        for version in &header.robots {
            robots.absorb(BTreeMap::from([(version.digest, version.clone())]));
        }
        match &mut merged {
            None => merged = Some(header.clone()),
            Some(merged) => {
                // Days are only kept if all tallies are of days.
                match merged.days.is_empty() || header.days.is_empty() {
                    true => merged.days.clear(),
                    false => merged.days.extend(&header.days),
                }
                merged.rulings.absorb(header.rulings.clone());
                merged.identities.absorb(header.identities.clone());
                merged.repeats.absorb(header.repeats.clone());
                merge_options(&mut merged.options, &header.options);
            }
        }
    }
    let mut merged = merged.expect("there is a tally to merge");
    merged.inputs = inputs.into_values().collect();
    merged.crawlers = crawlers.into_values().collect();
    merged.robots = robots.into_values().collect();
    merged
}

impl Merge for InputSummary {
    fn absorb(&mut self, other: InputSummary) {
        let InputSummary {
            name: _,
            size_bytes,
            decompressed_bytes,
            format,
            lines_tried,
            damage,
            may_be_cut,
            sketch,
            cut_bytes,
            proposal,
        } = other;
        self.size_bytes.absorb(size_bytes);
        self.decompressed_bytes.absorb(decompressed_bytes);
        self.format = self.format.take().or(format);
        self.lines_tried = self.lines_tried.max(lines_tried);
        self.damage = damage.or(self.damage.take());
        self.may_be_cut |= may_be_cut;
        self.cut_bytes.absorb(cut_bytes);
        self.proposal = least(self.proposal.take(), proposal);
        if self.sketch != sketch {
            self.sketch = None;
        }
    }
}

/// A map of the numbers of `from` to those of `to`, which has all entries of `from`.
fn renumbering(from: &Header, to: &Header) -> Renumbering {
    let input = |input: &InputSummary| {
        let at = to.inputs.binary_search_by(|known| known.name.cmp(&input.name));
        at.ok().map(FileId::from_index)
    };
    let crawler = |crawler: &Crawler| {
        let at = to.crawlers.binary_search_by(|known| known.name.cmp(&crawler.name)).ok()?;
        Some(CrawlerId(u16::try_from(at).ok()?))
    };
    let robots = |version: &RobotsVersion| {
        let at = to.robots.binary_search_by_key(&version.digest, |known| known.digest);
        at.ok().map(RobotsId::from_index)
    };
    Renumbering {
        inputs: from.inputs.iter().map(input).collect(),
        crawlers: from.crawlers.iter().map(crawler).collect(),
        robots: from.robots.iter().map(robots).collect(),
    }
}

/// What to do about tallies that are whole, but not their sum.
const NOT_TOGETHER: &str = "cannot be merged with the other tallies, because its counts are too \
                            large; create them again";

/// `err`, which was found in the sum of the tallies at `paths`. If sums differ that must agree, a
/// file is damaged, and the error names it.
pub fn name_damaged(err: Error, paths: &[PathBuf], limits: TallyLimits) -> Error {
    match paths {
        [path, others @ ..] if err.is_inconsistent() => {
            let is_damaged = |path: &&PathBuf| !others.is_empty() && check(path, limits).is_err();
            match paths.iter().find(is_damaged) {
                Some(damaged) => err.in_file(damaged, DAMAGED),
                None if others.is_empty() => err.in_file(path, DAMAGED),
                None => err.in_file(path, NOT_TOGETHER),
            }
        }
        _ => err,
    }
}

/// Whether the tally at `path` can be reported alone.
fn check(path: &Path, limits: TallyLimits) -> Result<()> {
    let tally = merge_files(&[path.to_owned()], limits)?;
    ReportModel::new(tally).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::header::{RegistrySummary, ReportedOptions};
    use super::super::identity_sources::RangeSources;
    use super::*;
    use crate::audit::tally::counts::UserAgentTally;
    use crate::input::content_hash::ContentSketch;
    use crate::measures::sums::Sums;
    use crate::time::Day;

    /// Of a tally of these inputs, in which nothing was found.
    fn header(inputs: &[&str]) -> Header {
        Header::of_inputs(inputs.iter().map(|name| InputSummary::of_whole(name, 1)).collect())
    }

    fn summary(size: u64) -> InputSummary {
        InputSummary { decompressed_bytes: 2 * size, ..InputSummary::of_whole("access.log", size) }
    }

    /// Parts of one log: each may have what the other lacks.
    #[test]
    fn parts_of_a_log_are_one_log() {
        let cut = || InputSummary {
            may_be_cut: true,
            cut_bytes: 5,
            lines_tried: 3,
            damage: Some("damaged".to_owned()),
            ..summary(10)
        };
        for (mut one, other) in [(cut(), summary(1)), (summary(1), cut())] {
            one.absorb(other);
            let sums = (one.size_bytes, one.decompressed_bytes, one.cut_bytes, one.lines_tried);
            assert_eq!(sums, (11, 22, 5, 3));
            assert!(one.may_be_cut);
            assert_eq!(one.damage.as_deref(), Some("damaged"));
        }
        let sketch = |end| Some(ContentSketch { bytes: 10, marks: Vec::new(), end });
        for (end, expected) in [(1, sketch(1)), (2, None)] {
            let mut one = InputSummary { sketch: sketch(1), ..summary(10) };
            one.absorb(InputSummary { sketch: sketch(end), ..summary(10) });
            assert_eq!(one.sketch, expected, "of another content");
        }
        let mut twice = cut();
        twice.absorb(cut());
        assert_eq!((twice.cut_bytes, twice.may_be_cut), (10, true));
    }

    /// Only days of a job are days: a merged tally without any could hold any lines.
    #[test]
    fn days_are_kept_only_if_all_tallies_are_of_days() {
        let of = |of: &[&str]| Header { days: days(of), ..header(&[]) };
        let merged = |one: &Header, other: &Header| {
            let merged = merged_header([one, other].into_iter());
            merged.days.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let (first, second) = (of(&["2026-03-01"]), of(&["2026-03-02"]));
        assert_eq!(merged(&first, &second), ["2026-03-01", "2026-03-02"]);
        assert_eq!(merged(&first, &of(&[])), [""; 0]);
        assert_eq!(merged(&of(&[]), &first), [""; 0]);
    }

    fn tally(header: Header) -> Tally {
        let inputs = header.inputs.iter().map(|_| Default::default()).collect();
        Tally { header, counts: Counts { inputs, ..Counts::default() } }
    }

    fn days(days: &[&str]) -> BTreeSet<Day> {
        days.iter().map(|day| Day::parse(day).unwrap()).collect()
    }

    #[test]
    fn a_job_goes_on_with_its_last_version_and_settings() {
        let later = Header {
            version: "2".to_owned(),
            options: ReportedOptions::of(&serde_json::json!({ "origin": "https://a.example" })),
            registry: RegistrySummary { digest: "new".to_owned(), crawlers: 9 },
            ..header(&["access.log"])
        };
        let earlier = tally(header(&["access.log"]));
        let both = continued(earlier, tally(later.clone()), TallyLimits::default()).unwrap();
        assert_eq!(both.header.version, later.version);
        assert_eq!(both.header.options, later.options);
        assert_eq!(both.header.registry, later.registry);
    }

    #[test]
    fn only_tallies_of_different_days_may_have_the_same_input() {
        let refused = |left: &[&str], right: &[&str]| {
            let packed = [("left", left), ("right", right)].map(|(name, of)| {
                let header = Header { days: days(of), ..header(&["access.log"]) };
                let bytes = tally(header).to_bytes();
                let memory = MemoryLimit::new(1 << 20);
                (
                    Path::new(name),
                    PackedTally::from_bytes(&bytes, Path::new(name), &memory).unwrap(),
                )
            });
            refuse_repeated_inputs(&packed).is_err()
        };
        assert!(!refused(&["2026-03-01"], &["2026-03-02", "2026-03-03"]));
        assert!(refused(&["2026-03-01"], &["2026-03-01", "2026-03-03"]));
        assert!(refused(&[], &["2026-03-02"]));
        assert!(refused(&["2026-03-02"], &[]));
        assert!(refused(&[], &[]));
    }

    #[test]
    fn what_each_part_knows_of_lists_and_repeats_stays() {
        let with = |input: &str, unused: &str| {
            let mut header = header(&[input]);
            let ranges = RangeSources { unused: vec![unused.to_owned()], ..Default::default() };
            header.identities.ranges = Some(ranges);
            let alike = AlikeLogs { name: input.to_owned(), of: "other.log".to_owned() };
            header.repeats.alike.insert(alike);
            header
        };
        let merged = merged_header([with("a.log", "x.json"), with("b.log", "y.json")].iter());
        assert_eq!(merged.identities.ranges.unwrap().unused, ["x.json", "y.json"]);
        assert_eq!(merged.repeats.alike.len(), 2);
        assert_eq!(merged.inputs.len(), 2);
    }

    /// Equal user agents of many tallies take the memory of those of one.
    #[test]
    fn more_tallies_are_merged_than_the_memory_has_room_for() {
        let dir = tempfile::tempdir().unwrap();
        let write = |number: u8| {
            let path = dir.path().join(format!("{number}.tally"));
            let mut tally = tally(header(&[&format!("{number}.log")]));
            let sums = Sums { requests: 1, allowed: 1, ..Sums::default() };
            let of = UserAgentTally { sums, span: None };
            let agent = |at: usize| (format!("agent {at:05}").into_bytes().into(), of);
            tally.counts.unknown_crawlers = (0..500).map(agent).collect();
            std::fs::write(&path, tally.to_bytes()).unwrap();
            path
        };
        let paths: Vec<PathBuf> = (0..20).map(write).collect();
        let one = MemoryLimit::new(1 << 30);
        let packed = PackedTally::read(&paths[0], &one).unwrap();
        let header_bytes = one.taken();
        packed.unpack(&one).unwrap();
        let counts_bytes = one.taken() - header_bytes;
        let merged = |memory_bytes| {
            merge_files(&paths, TallyLimits { memory_bytes, ..TallyLimits::default() })
        };
        let sum = merged(20 * header_bytes + 4 * counts_bytes).unwrap();
        assert_eq!((sum.header.inputs.len(), sum.counts.unknown_crawlers.len()), (20, 500));
        assert!(sum.counts.unknown_crawlers.iter().all(|(_, of)| of.sums.requests == 20));
        assert!(merged(20 * header_bytes + counts_bytes / 2).is_err());
    }
}
