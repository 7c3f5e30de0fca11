//! The tables of measures against the plainest reading of the same requests: random robots.txt
//! files that change, random requests, and logs that are divided and merged in any order.

use std::collections::{BTreeMap, BTreeSet};

use super::nightly::bytes;
use super::random_world::{CRAWLERS, DAY, File, HOSTS, Request, UNSEEN, World, utc};
use crate::random::Random;

/// Fetches, gaps, other requests, and those on an old copy.
type FetchSums = (u64, Vec<i64>, u64, u64);

#[test]
fn files_beside_robots_txt_are_counted_by_crawler() {
    let mut random = Random(3);
    for _ in 0..4 {
        let world = World::random(&mut random, 200);
        let mut rows: BTreeMap<_, (u64, u64, u64, i64, i64)> = BTreeMap::new();
        for request in &world.requests {
            let (file, host) = (world.file(request), HOSTS[request.host]);
            let names = |url: &Option<&str>| {
                url.is_some_and(|url| {
                    url == request.path || url.ends_with(&format!("//{host}{}", request.path))
                })
            };
            let kind = match request.path {
                "/llms.txt?x" => "llms.txt",
                "/wp-sitemap.xml" => "sitemap",
                _ if names(&file.license) => "license",
                _ if names(&file.sitemap) => "sitemap",
                _ => continue,
            };
            let key = (host, CRAWLERS[request.crawler].0.to_lowercase(), kind);
            let sum = rows.entry(key).or_insert((0, 0, 0, i64::MAX, i64::MIN));
            sum.0 += 1;
            sum.1 += u64::from(request.status == 200);
            sum.2 += request.bytes;
            (sum.3, sum.4) = (sum.3.min(request.time), sum.4.max(request.time));
        }
        let expected: Vec<String> = rows
            .into_iter()
            .map(|((host, crawler, kind), (requests, ok, bytes, first, last))| {
                let (first, last) = (utc(first), utc(last));
                format!("https://{host} | {crawler} | {kind} | {requests} | {ok} | {bytes} | {first} | {last}")
            })
            .collect();
        world.check(&mut random, "", |sandbox, report| {
            let columns =
                "origin crawler file requests status_2xx bytes first_seen_utc last_seen_utc";
            let table = sandbox.table(&format!("{report}/policy-files.csv")).cells(columns);
            let mut found: Vec<String> = table
                .iter()
                .map(|row| {
                    let mut cells: Vec<String> = row.split(" | ").map(str::to_owned).collect();
                    cells[1] = cells[1].to_lowercase();
                    cells.join(" | ")
                })
                .collect();
            found.sort();
            let mut expected = expected.clone();
            expected.sort();
            assert_eq!(found, expected, "{report} {world:#?}");
            assert!(found.len() > 10);
        });
    }
}

/// What each scope calls a crawler or a host; `both` is the crawler at the host.
fn scopes(crawler: usize, host: usize) -> [(&'static str, String); 5] {
    let [operator, purpose] = [
        ["OpenAI", "ai-training"],
        ["Microsoft", "search"],
        ["Common Crawl", "archive"],
        ["Anthropic", "ai-training"],
    ][crawler];
    [
        ("crawler", CRAWLERS[crawler].0.to_owned()),
        ("operator", operator.to_owned()),
        ("purpose", purpose.to_owned()),
        ("origin", format!("https://{}", HOSTS[host])),
        ("both", format!("https://{} | {}", HOSTS[host], CRAWLERS[crawler].0)),
    ]
}

/// How many requests exceed a limit in one period.
fn over(times: &[i64], period: i64, delay: i64) -> u64 {
    let allowed = (period as u64).div_ceil(delay as u64);
    let mut periods: BTreeMap<i64, u64> = BTreeMap::new();
    times.iter().for_each(|time| *periods.entry(time / period).or_default() += 1);
    periods.values().map(|requests| requests.saturating_sub(allowed)).sum()
}

#[test]
fn compliance_is_counted_by_directive() {
    let (mut random, mut directives) = (Random(7), BTreeSet::new());
    for _ in 0..4 {
        let world = World::random(&mut random, 300);
        let mut rows: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        let mut add = |crawler: usize, host, directive: &str, is_specific, requests, kept| {
            for (scope, name) in scopes(crawler, host) {
                let group = if is_specific { "specific" } else { "*" };
                let key = (scope, name, directive.to_owned(), group);
                let sum = rows.entry(key).or_default();
                *sum = (sum.0 + requests, sum.1 + kept);
            }
        };
        let mut delayed: BTreeMap<_, (i64, bool, Vec<i64>)> = BTreeMap::new();
        for request in &world.requests {
            let (file, crawler) = (world.file(request), request.crawler);
            let is_specific = file.groups(crawler).1;
            if let (Some(is_violation), Some(restriction)) =
                (world.is_violation(request), file.restriction(crawler))
            {
                let kept = u64::from(!is_violation);
                add(crawler, request.host, restriction, is_specific, 1, kept);
            }
            if let Some(delay) = file.delay(crawler).filter(|_| request.path != "/robots.txt") {
                let key = (crawler, request.host, file.text());
                let times = delayed.entry(key).or_insert((delay, is_specific, Vec::new()));
                times.2.push(request.time);
            }
        }
        for ((crawler, host, _), (delay, is_specific, times)) in delayed {
            let requests = times.len() as u64;
            let over = over(&times, 3600, delay).max(over(&times, DAY, delay));
            add(crawler, host, "crawl-delay-pace", is_specific, requests, requests - over);
        }
        let mut expected: Vec<String> = rows
            .into_iter()
            .map(|((scope, name, directive, group), (requests, kept))| {
                directives.insert((directive.clone(), requests == kept));
                let share = kept as f64 / requests as f64;
                let row = format!("{scope} | {name} | {directive} | {group} | {requests} | {kept}");
                format!("{row} | {share:.6}")
            })
            .collect();
        expected.sort();
        world.check(&mut random, "", |sandbox, report| {
            let table = sandbox.table(&format!("{report}/compliance.csv"));
            let mut found = table.cells("scope name directive group requests kept share");
            let table = sandbox.table(&format!("{report}/origin-compliance.csv"));
            let of_both = table.cells("origin crawler directive group requests kept share");
            found.extend(of_both.into_iter().map(|row| format!("both | {row}")));
            found.sort();
            assert_eq!(found, expected, "{report} {world:#?}");
        });
    }
    assert!(directives.len() >= 6, "{directives:?}");
}

/// The last crawler of an origin is the first one of the next.
#[test]
fn origins_with_one_crawler_have_rows_of_their_own() {
    let groups = vec![("*", vec![(false, "/a")], None)];
    let file = File { groups, ..File::default() };
    let requests = [(0, "/a"), (0, "/c"), (0, "/c"), (1, "/a")].map(|(host, path)| Request {
        time: DAY,
        crawler: 0,
        host,
        path,
        status: 200,
        bytes: 1,
        client: 0,
    });
    let files = [vec![(0, file.clone())], vec![(0, file)]];
    World { files, requests: requests.to_vec() }.check(&mut Random(9), "", |sandbox, report| {
        let table = sandbox.table(&format!("{report}/origin-compliance.csv"));
        assert_eq!(
            table.cells("origin crawler directive requests kept"),
            [
                "https://a.example | GPTBot | disallow | 3 | 2",
                "https://b.example | GPTBot | disallow | 1 | 0"
            ]
        );
    });
}

/// The nearest rank of sorted numbers.
fn percentile(sorted: &[i64], percent: usize) -> String {
    let rank = (sorted.len() * percent).div_ceil(100);
    rank.checked_sub(1).map_or(String::new(), |at| sorted[at].to_string())
}

#[test]
fn fetches_of_robots_txt_and_old_copies_are_counted() {
    let mut random = Random(7);
    for _ in 0..4 {
        let world = World::random(&mut random, 400);
        let mut rows: BTreeMap<(String, usize), FetchSums> = BTreeMap::new();
        for (host, crawler) in (0..8).map(|at| (at / 4, at % 4)) {
            let own = world.requests.iter().filter(|of| (of.host, of.crawler) == (host, crawler));
            let (fetches, other): (Vec<&Request>, Vec<&Request>) =
                own.partition(|of| of.path == "/robots.txt");
            let mut fetches: Vec<i64> =
                fetches.iter().filter(|of| of.status < 400).map(|of| of.time / 60).collect();
            fetches.sort_unstable();
            if fetches.is_empty() {
                continue;
            }
            for origin in ["*".to_owned(), format!("https://{}", HOSTS[host])] {
                let row = rows.entry((origin, crawler)).or_default();
                row.0 += fetches.len() as u64;
                row.1.extend(fetches.windows(2).map(|pair| pair[1] - pair[0]));
                for request in &other {
                    let minute = request.time / 60;
                    let before = fetches.iter().rfind(|fetch| **fetch <= minute);
                    row.2 += u64::from(before.is_some());
                    row.3 += u64::from(before.is_some_and(|fetch| minute - fetch > 1440));
                }
            }
        }
        let mut expected: Vec<String> = rows
            .into_iter()
            .map(|((origin, crawler), (fetches, mut gaps, requests, old))| {
                gaps.sort_unstable();
                let (name, count) = (CRAWLERS[crawler].0, gaps.len());
                let (half, most) = (percentile(&gaps, 50), percentile(&gaps, 95));
                format!(
                    "{origin} | {name} | {fetches} | {count} | {half} | {most} | {requests} | {old}"
                )
            })
            .collect();
        expected.sort();
        world.check(&mut random, "", |sandbox, report| {
            let columns = "origin crawler successful_fetches gaps gap_minutes_median gap_minutes_p95 \
                           requests_after_first_fetch requests_on_old_copy";
            let mut found = sandbox.table(&format!("{report}/refetches.csv")).cells(columns);
            found.sort();
            assert_eq!(found, expected, "{report}");
            assert!(found.len() > 10 && found.iter().any(|row| !row.ends_with(" 0")), "{found:?}");
        });
    }
}

/// Wholes, parts and shares before and since, and whether they are tested.
fn compared([before, since]: [(u64, u64); 2]) -> String {
    let total = (before.0 + since.0) as f64;
    let share = (before.1 + since.1) as f64 / total;
    let expects = |of: f64| [share * of, (1.0 - share) * of];
    let counts = [expects(before.0 as f64), expects(since.0 as f64)].concat();
    let is_tested = counts.iter().all(|count| *count >= 5.0);
    let shares = [before, since].map(|(whole, part)| match whole {
        0 => String::new(),
        _ => format!("{:.6}", part as f64 / whole as f64),
    });
    let ((n1, k1), (n2, k2), [s1, s2]) = (before, since, shares);
    format!("{n1} | {k1} | {s1} | {n2} | {k2} | {s2} | {is_tested}")
}

/// Sorted rows that say of their last two cells, z and p, only whether they are there.
fn without_numbers(rows: &[String]) -> Vec<String> {
    let row = |row: &String| {
        let (row, p_value) = row.rsplit_once(" | ").unwrap();
        let (row, z) = row.rsplit_once(" | ").unwrap();
        assert_eq!(z.is_empty(), p_value.is_empty());
        format!("{row} | {}", !z.is_empty())
    };
    let mut rows: Vec<String> = rows.iter().map(row).collect();
    rows.sort();
    rows
}

/// The rows of one crawler at one host.
fn compared_changes(world: &World, host: usize, crawler: usize) -> Vec<String> {
    let files = &world.files[host];
    let rules = |at: usize| BTreeSet::from_iter(files[at].1.lines(crawler));
    let changed: Vec<usize> = (1..files.len()).filter(|at| rules(at - 1) != rules(*at)).collect();
    let own = || world.requests.iter().filter(|of| (of.host, of.crawler) == (host, crawler));
    let mut rows = Vec::new();
    for (index, &at) in changed.iter().enumerate().filter(|_| own().next().is_some()) {
        let (after, before) = (files[at].0 - UNSEEN, files[at].0);
        let from = index.checked_sub(1).map_or(i64::MIN, |last| files[changed[last]].0);
        let until = changed.get(index + 1).map_or(i64::MAX, |next| files[*next].0 - UNSEEN);
        for (direction, is_allowed) in [("newly-disallowed", false), ("newly-allowed", true)] {
            let is_touched = |path: &str| {
                let [old, new] = [at - 1, at].map(|at| files[at].1.allows(crawler, path));
                path != "/robots.txt" && old != new && new == is_allowed
            };
            let part = |times: std::ops::RangeInclusive<i64>| {
                let all = || own().filter(|of| times.contains(&of.time));
                (all().count() as u64, all().filter(|of| is_touched(of.path)).count() as u64)
            };
            let differing = &rules(at - 1) ^ &rules(at);
            if differing
                .iter()
                .any(|rule| is_touched(rule.1) || is_touched(&format!("{}x", rule.1)))
            {
                let parts = compared([part(from..=after), part(before..=until)]);
                let (origin, name) = (HOSTS[host], CRAWLERS[crawler].0);
                let (after, before) = (utc(after), utc(before));
                rows.push(format!(
                    "https://{origin} | {name} | {after} | {before} | {direction} | {parts}"
                ));
            }
        }
    }
    rows
}

#[test]
fn shares_before_and_since_changes_are_compared() {
    let mut random = Random(13);
    let mut tested = 0;
    for _ in 0..4 {
        let world = World::random(&mut random, 1200);
        let mut expected: Vec<String> =
            (0..8).flat_map(|at| compared_changes(&world, at / 4, at % 4)).collect();
        expected.sort();
        tested += expected.iter().filter(|row| row.ends_with("true")).count();
        world.check(&mut random, "", |sandbox, report| {
            let ran = format!("report {report} --compare-at changes -o compared");
            sandbox.run(&ran).exits(0);
            let columns = "origin crawler changed_after_utc changed_before_utc direction \
                           requests_before touched_before share_before requests_since \
                           touched_since share_since z p_value";
            let cells = sandbox.table("compared/change-comparison.csv").cells(columns);
            assert_eq!(without_numbers(&cells), expected, "{report} {world:#?}");
            assert!(!sandbox.path("compared/comparison.csv").exists());
        });
    }
    assert!(tested > 5, "{tested}");
}

#[test]
fn shares_before_and_since_a_day_are_compared() {
    let mut random = Random(9);
    for _ in 0..3 {
        let world = World::random(&mut random, 400);
        // Requests and violations, before and since.
        let mut rows: BTreeMap<usize, [(u64, u64); 2]> = BTreeMap::new();
        for request in &world.requests {
            let parts = rows.entry(request.crawler).or_default();
            if let Some(is_violation) = world.is_violation(request) {
                let part = &mut parts[usize::from(request.time >= 4 * DAY)];
                *part = (part.0 + 1, part.1 + u64::from(is_violation));
            }
        }
        let mut expected: Vec<String> = rows
            .into_iter()
            .map(|(crawler, parts)| format!("{} | {}", CRAWLERS[crawler].0, compared(parts)))
            .collect();
        expected.sort();
        world.check(&mut random, "", |sandbox, report| {
            let ran = format!("report {report} --compare-at 2026-03-05 -o compared");
            sandbox.run(&ran).exits(0);
            let columns = "crawler requests_before violations_before share_before requests_since \
                           violations_since share_since z p_value";
            let cells = sandbox.table("compared/comparison.csv").cells(columns);
            assert_eq!(without_numbers(&cells), expected, "{report}");
            // A report that is drawn again keeps its comparison.
            let before = bytes(&sandbox.path("compared"));
            sandbox.run("report compared").exits(0);
            assert!(bytes(&sandbox.path("compared")) == before);
            sandbox.run("report compared --compare-at none").exits(0);
            assert!(!sandbox.path("compared/comparison.csv").exists());
        });
    }
}

/// The same requests at most 15 minutes out of order, but for some that are late.
fn as_logged(random: &mut Random, requests: &[Request]) -> Vec<Request> {
    let mut ends: Vec<(i64, Request)> =
        requests.iter().map(|of| (of.time + random.below(901) as i64, *of)).collect();
    ends.sort_by_key(|(end, _)| *end);
    let mut requests: Vec<Request> = ends.into_iter().map(|(_, request)| request).collect();
    for _ in 0..4 {
        let moved = requests.remove(random.below(requests.len()));
        requests.insert(random.below(requests.len() + 1), moved);
    }
    requests
}

/// The requests that are not late, in the order of time, and the others.
fn in_time(logged: &[Request]) -> (Vec<Request>, Vec<Request>) {
    let is_late = |at: usize| logged[..at].iter().any(|of| of.time - logged[at].time > 900);
    let (late, mut others): (Vec<usize>, Vec<usize>) =
        (0..logged.len()).partition(|at| is_late(*at));
    others.sort_by_key(|at| logged[*at].time);
    let of = |all: Vec<usize>| all.into_iter().map(|at| logged[at]).collect();
    (of(others), of(late))
}

#[test]
fn sessions_and_gaps_are_counted_in_the_order_of_time_of_each_input() {
    const SILENCE: i64 = 300 * 60;
    // The network of each client, by the longest prefix, as a cell.
    const NAMES: [&str; 3] = ["'=pair", "one, alone", ""];
    const NETWORKS: &str = "prefix,network\n192.0.2.0/31,=pair\n192.0.2.1,\"one, alone\"\n\
                            2001:db8::/32,six\n";
    let (mut random, mut tested) = (Random(7), 0);
    for _ in 0..4 {
        let world = World::random(&mut random, 400);
        let inputs = world.requests.split_at(50 + random.below(300));
        let inputs = [inputs.0, inputs.1].map(|input| as_logged(&mut random, input));
        let mut late: BTreeMap<(usize, &str), u64> = BTreeMap::new();
        let mut sizes: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        let mut by_network: BTreeMap<(usize, &str), Vec<i64>> = BTreeMap::new();
        let mut paths: BTreeMap<usize, BTreeSet<_>> = BTreeMap::new();
        let mut gaps: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for input in inputs.each_ref().map(|input| in_time(input)) {
            for request in &input.1 {
                let paths = paths.entry(request.crawler).or_default();
                paths.insert((request.host, request.path));
                *late.entry((request.crawler, NAMES[request.client])).or_default() += 1;
            }
            let input = input.0;
            for (crawler, client) in (0..12).map(|at| (at / 3, at % 3)) {
                let own = input.iter().filter(|of| (of.crawler, of.client) == (crawler, client));
                let own: Vec<&Request> = own.collect();
                let is_one = |pair: &&Request, next: &&Request| next.time - pair.time <= SILENCE;
                let sessions = own.chunk_by(is_one).map(|session| session.len() as i64);
                if !own.is_empty() {
                    let network = by_network.entry((crawler, NAMES[client])).or_default();
                    network.extend(sessions.clone());
                }
                sizes.entry(crawler).or_default().extend(sessions);
                let of_path = own.iter().map(|of| (of.host, of.path));
                paths.entry(crawler).or_default().extend(of_path);
                for host in 0..2 {
                    let at_host = own.iter().filter(|of| of.host == host);
                    let pages = at_host.filter(|of| of.path != "/robots.txt");
                    for pair in Vec::from_iter(pages).windows(2) {
                        let [before, file] = [world.file(pair[0]), world.file(pair[1])];
                        let delay = file.delay(crawler).filter(|_| before.text() == file.text());
                        let Some(delay) = delay else { continue };
                        let group = ["*", "specific"][usize::from(file.groups(crawler).1)];
                        let key = format!("{} | {group}", CRAWLERS[crawler].0);
                        let sum = gaps.entry(key).or_default();
                        sum.0 += 1;
                        sum.1 += u64::from(pair[1].time - pair[0].time >= delay);
                    }
                }
            }
        }
        let sums = |mut sizes: Vec<i64>| {
            sizes.sort_unstable();
            let (count, requests) = (sizes.len(), sizes.iter().sum::<i64>());
            let (half, most) = (percentile(&sizes, 50), percentile(&sizes, 95));
            format!("{count} | {requests} | {half} | {most} | 0")
        };
        let mut expected: Vec<String> = sizes
            .into_iter()
            .map(|(crawler, sizes)| {
                let paths = paths[&crawler].len();
                let of = late.iter().filter(|((of, _), _)| *of == crawler);
                let late: u64 = of.map(|(_, late)| late).sum();
                format!("{} | {} | {paths} | exact | {late}", CRAWLERS[crawler].0, sums(sizes))
            })
            .collect();
        expected.sort();
        let mut networks: Vec<String> = by_network
            .into_iter()
            .map(|((crawler, network), sizes)| {
                let late = late.get(&(crawler, network)).copied().unwrap_or_default();
                format!("{} | {network} | {} | {late}", CRAWLERS[crawler].0, sums(sizes))
            })
            .collect();
        networks.sort();
        let gaps: Vec<String> = gaps
            .into_iter()
            .map(|(key, (gaps, kept))| {
                format!("crawler | crawl-delay-gaps | {key} | {gaps} | {kept}")
            })
            .collect();
        let sandbox = world.sandbox();
        sandbox.write("networks.csv", NETWORKS);
        let audit = "audit -q --robots db --session-minutes 300 --networks networks.csv";
        for (log, input) in ["one", "two"].iter().zip(&inputs) {
            sandbox
                .write(&format!("{log}.log"), input.iter().map(Request::line).collect::<String>());
            sandbox.run(&format!("{audit} --partial {log}.tally {log}.log")).exits(0);
        }
        sandbox.run(&format!("{audit} --threads 1 -o all one.log two.log")).exits(0);
        sandbox.run(&format!("{audit} --threads 8 -o other two.log one.log")).exits(0);
        sandbox.run("report two.tally one.tally -o merged").exits(0);
        assert!(late.values().sum::<u64>() > 1, "{late:?}");
        for report in ["all", "other", "merged"] {
            let columns = "crawler sessions requests_in_sessions requests_median requests_p95 \
                           requests_without_session distinct_paths paths_kind requests_late";
            let mut found = sandbox.table(&format!("{report}/sessions.csv")).cells(columns);
            found.sort();
            assert_eq!(found, expected, "{report}");
            let columns = "crawler network sessions requests_in_sessions requests_median requests_p95 \
                           requests_without_session requests_late";
            let mut found = sandbox.table(&format!("{report}/networks.csv")).cells(columns);
            found.sort();
            assert_eq!(found, networks, "{report}");
            let columns = "scope directive name group requests kept";
            let mut found = sandbox.table(&format!("{report}/compliance.csv")).cells(columns);
            found.retain(|row| row.starts_with("crawler | crawl-delay-gaps"));
            found.sort();
            assert_eq!(found, gaps, "{report}");
            tested += found.len();
        }
    }
    assert!(tested > 9, "{tested}");
}
