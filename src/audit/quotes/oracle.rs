//! Requests by preference against the plainest reading, over random histories, requests and orders of
//! merging.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::archive::snapshot::{Fetch, SnapshotOutcome};
    use crate::archive::writer::NewSnapshot;
    use crate::archive::{Store, reader::Archive};
    use crate::crawlers::registry::Registry;
    use crate::judge::timeline::BeforeFirst;
    use crate::judge::verdict::JudgedAt;
    use crate::judge::{HostSource, Judge};
    use crate::merge::Merge;
    use crate::random::Random;
    use crate::time::UtcTime;
    use crate::url::origin::Origin;
    use crate::url::path::{Dialect, prepare};

    use crate::measures::crawler_tally::CrawlerTally;

    /// Crawlers, their product tokens, the kinds of use that concern them, and a control token.
    const CRAWLERS: [(&str, &str, &[&str], &str); 4] = [
        ("GPTBot", "GPTBot", &["content-usage train-ai", "content-signal ai-train"], ""),
        ("bingbot", "bingbot", &["content-usage search", "content-signal search"], ""),
        (
            "Googlebot",
            "Googlebot",
            &["content-usage search", "content-signal search"],
            "Google-Extended",
        ),
        (
            "OAI-SearchBot",
            "OAI-SearchBot",
            &[
                "content-usage search",
                "content-signal search",
                "content-signal ai-input",
                "content-signal use",
            ],
            "",
        ),
    ];
    const PATHS: [&str; 4] = ["/", "/a", "/a/b", "/c"];
    const TOKENS: [&str; 5] = ["*", "GPTBot", "Googlebot", "bingbot", "Google-Extended"];
    const START: i64 = 1_772_000_000;
    const DAY: i64 = 86_400;

    /// A line of a group: its number, its field, its path, and the kinds of use with their values.
    struct Line {
        number: u32,
        field: &'static str,
        path: &'static str,
        values: Vec<(String, &'static str)>,
    }

    /// Groups with one token each, which begin with a rule, and their text.
    #[derive(Default)]
    struct File {
        groups: Vec<(&'static str, Vec<Line>)>,
        text: String,
    }

    fn random_file(random: &mut Random) -> File {
        let mut file = File::default();
        let mut number = 0;
        for _ in 0..2 + random.below(5) {
            let token = TOKENS[random.below(TOKENS.len())];
            file.text += &format!("User-agent: {token}\n");
            number += 1;
            let mut lines = Vec::new();
            for at in 0..1 + random.below(5) {
                number += 1;
                let fields = ["allow", "disallow", "content-usage", "content-signal"];
                let field = fields[random.below(if at == 0 { 2 } else { 4 })];
                let path = PATHS[random.below(PATHS.len())];
                let (labels, words): (&[&str], _) = match field {
                    "content-usage" => (&["train-ai", "search"], ["y", "n", "yes"]),
                    _ => (&["search", "ai-train", "ai-input"], ["yes", "no", "maybe"]),
                };
                let mut values = Vec::new();
                if !field.ends_with("allow") {
                    for label in labels {
                        if random.below(2) == 0 {
                            values.push(((*label).to_owned(), words[random.below(3)]));
                        }
                    }
                    if field == "content-signal" && random.below(2) == 0 {
                        let level = ["immediate", "reference", "full"][random.below(3)];
                        values.push(("use".to_owned(), level));
                    }
                }
                let said: Vec<_> =
                    values.iter().map(|(key, value)| format!("{key}={value}")).collect();
                file.text += &format!("{field}: {path} {}\n", said.join(", "));
                lines.push(Line { number, field, path, values });
            }
            file.groups.push((token, lines));
        }
        file
    }

    impl File {
        /// The lines that bind `token`, and whether a group names it.
        fn lines(&self, token: &str) -> (Vec<&Line>, bool) {
            let of = |token: &str| -> Vec<&Line> {
                let groups = self.groups.iter().filter(|(named, _)| *named == token);
                groups.flat_map(|(_, lines)| lines).collect()
            };
            let own = of(token);
            let is_named = !own.is_empty();
            (if is_named { own } else { of("*") }, is_named)
        }

        /// Whether `token` may request `path`, and by which line.
        fn rule(&self, token: &str, path: &str) -> (bool, Option<u32>) {
            let (mut longest, mut allowed, mut by) = (0, true, None);
            for line in self.lines(token).0 {
                let length = line.path.len();
                let is_allow = line.field == "allow";
                if line.field.ends_with("allow")
                    && path.starts_with(line.path)
                    && (length > longest || length == longest && is_allow && !allowed)
                {
                    (longest, allowed, by) = (length, is_allow, Some(line.number));
                }
            }
            (allowed, by)
        }

        /// The preferences for a crawler: value and line, by kind of use.
        fn stated(
            &self,
            (_, token, kinds, control): (&str, &str, &[&'static str], &'static str),
            path: &str,
        ) -> BTreeMap<&'static str, (&'static str, u32)> {
            let mut stated = BTreeMap::new();
            if !self.rule(token, path).0 {
                return stated;
            }
            const RANKS: [(&str, &[&str]); 5] = [
                ("reserved", &["n", "no"]),
                ("permitted", &["y", "yes"]),
                ("immediate", &["immediate"]),
                ("reference", &["reference"]),
                ("full", &["full"]),
            ];
            for kind in kinds {
                let (field, label) = kind.split_once(' ').unwrap();
                let lines = self.lines(token).0.into_iter();
                let matching: Vec<&Line> = lines
                    .filter(|line| line.field == field && path.starts_with(line.path))
                    .collect();
                let longest = matching.iter().map(|line| line.path.len()).max();
                let deciding = matching.iter().filter(|line| Some(line.path.len()) == longest);
                let said: Vec<(&str, u32)> = deciding
                    .flat_map(|line| line.values.iter().map(|value| (value, line.number)))
                    .filter(|((key, value), _)| {
                        key == label && (field, *value) != ("content-usage", "yes")
                    })
                    .map(|((_, value), line)| (*value, line))
                    .collect();
                let found = RANKS.iter().find_map(|(name, words)| {
                    said.iter().find(|(value, _)| words.contains(value)).map(|said| (*name, said.1))
                });
                stated.extend(found.map(|found| (*kind, found)));
            }
            if !control.is_empty() && self.lines(control).1 {
                let (allowed, line) = self.rule(control, path);
                if let Some(line) = line {
                    let what = if allowed { "permitted" } else { "reserved" };
                    stated.insert("product-token ai-training", (what, line));
                }
            }
            stated
        }
    }

    /// By crawler, version, kind, preference and line: requests, bytes, first and last time.
    type Sums = BTreeMap<(String, u32, String, String, u32), (u64, u64, i64, i64)>;

    /// How many rows there are, and how many of them are uncertain.
    fn check(random: &mut Random, registry: &Registry) -> (usize, usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive");
        let origin = Origin::parse(b"https://a.example").unwrap();
        let utc = |seconds| UtcTime::from_unix_seconds(seconds).unwrap();
        let mut writer = Archive::writer(&path).unwrap();
        let mut files: Vec<(i64, File)> = Vec::new();
        let mut time = START;
        for _ in 0..1 + random.below(4) {
            time += 3600 + random.below(3 * DAY as usize) as i64;
            let file = random_file(random);
            let (fetched_at, outcome) = (utc(time), SnapshotOutcome::Status(200));
            let fetch = Fetch { fetched_at, outcome, max_age_seconds: None, chain: vec![] };
            let body = file.text.clone().into_bytes().into();
            let source = String::new();
            writer.push(NewSnapshot { origin: origin.clone(), fetch, source, body }).unwrap();
            // An equal version goes on.
            if files.last().is_none_or(|(_, last)| last.text != file.text) {
                files.push((time, file));
            }
        }
        writer.flush().unwrap();
        let judge = Judge::new(Store::open(&path).unwrap(), registry, Dialect::Google).unwrap();
        let known = judge.known(&origin, HostSource::Own).unwrap();
        let mut parts: Vec<BTreeMap<&str, CrawlerTally>> = vec![BTreeMap::new(); 3];
        let mut slow = Sums::new();
        for _ in 0..80 {
            let crawler = CRAWLERS[random.below(CRAWLERS.len())];
            let time = START + random.below(14 * DAY as usize) as i64;
            let path = ["/", "/a", "/a/b/c", "/c", "/robots.txt"][random.below(5)];
            let (status, bytes) = (200, random.below(9) as u64);
            let id = registry.find(crawler.0).unwrap();
            let at = JudgedAt::Time(utc(time), BeforeFirst::AsFirst);
            let mut scratch = Vec::new();
            let prepared = Some(prepare(path.as_bytes(), Dialect::Google, &mut scratch));
            let dated = judge.verdict(Some(&known), id, prepared, at);
            let tally = parts[random.below(3)].entry(crawler.0).or_default();
            for stated in judge.usage(Some(&known), &dated, (id.into(), prepared), at) {
                tally.usage.entry(stated).count(utc(time), status, bytes);
            }
            if path == "/robots.txt" {
                continue;
            }
            let now = files.iter().rposition(|(since, _)| *since <= time).unwrap_or(0);
            let id = dated.robots.map_or(u32::MAX, |robots| robots.id.0);
            for (kind, (preference, line)) in files[now].1.stated(crawler, path) {
                let is_held = |at: &usize| time - files[at + 1].0 <= DAY;
                let differs = (0..now).filter(is_held).any(|at| {
                    let earlier = files[at].1.stated(crawler, path);
                    earlier.get(kind).map(|(earlier, _)| *earlier) != Some(preference)
                });
                let preference = if differs { "changed-recently" } else { preference };
                let key = (crawler.0.to_owned(), id, kind.to_owned(), preference.to_owned(), line);
                let sum = slow.entry(key).or_insert((0, 0, time, time));
                *sum = (sum.0 + 1, sum.1 + bytes, sum.2.min(time), sum.3.max(time));
            }
        }
        let mut merged: BTreeMap<&str, CrawlerTally> = BTreeMap::new();
        while !parts.is_empty() {
            let part = parts.remove(random.below(parts.len()));
            merged.absorb(part);
        }
        let mut fast = Sums::new();
        for (crawler, tally) in merged {
            for (stated, tally) in &tally.usage {
                assert!(tally.holds(tally.span));
                let kind = format!("{} {}", stated.signal.as_str(), stated.category.as_str());
                let preference = stated.preference.as_str().to_owned();
                let span = tally.span.unwrap();
                let span = (span.first.unix_seconds(), span.last.unix_seconds());
                let key = (crawler.to_owned(), stated.robots.0, kind, preference, stated.line);
                fast.insert(key, (tally.requests, tally.bytes, span.0, span.1));
            }
        }
        let texts: Vec<_> = files.iter().map(|(time, file)| (time, &file.text)).collect();
        assert_eq!(fast, slow, "{texts:#?}");
        (slow.len(), slow.keys().filter(|key| key.3 == "changed-recently").count())
    }

    #[test]
    fn requests_are_counted_by_the_preference_in_force() {
        let (mut random, registry) = (Random(7), Registry::builtin());
        let found: Vec<_> = (0..100).map(|_| check(&mut random, &registry)).collect();
        let rows: usize = found.iter().map(|found| found.0).sum();
        let changed: usize = found.iter().map(|found| found.1).sum();
        assert!(rows > 300 && changed > 30, "{rows} rows, {changed} of them uncertain");
    }
}
