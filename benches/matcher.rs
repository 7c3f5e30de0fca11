//! What do policies cost: to make ready, to compile, to hold, and a verdict?
//!
//! `cargo bench --bench matcher -- [DIRECTORY]` takes the largest group of each
//! robots.txt in DIRECTORY, or of generated ones, and a few hostile rule sets.
//! Every engine must first agree with the reference on every path. Prints CSV:
//! times in microseconds, a verdict in nanoseconds, the mean over all paths,
//! and its ratio to ordered globs.

use botaudit::matcher::compiled::CompiledPolicy;
use botaudit::matcher::decision::IndexedDecision;
use botaudit::matcher::limits::Limits;
use botaudit::matcher::linear::LinearGlobs;
use botaudit::matcher::precedence::rank;
use botaudit::matcher::reference;
use botaudit::robots::model::{Directive, ParsedRobotsTxt, Rule};
use botaudit::robots::parse::parse_body;
use botaudit::url::path::Dialect::Google;
use botaudit::url::path::prepare;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

const PATHS_COUNT: usize = 64;
const BUCKETS: [usize; 10] = [5, 10, 20, 50, 100, 200, 500, 1000, 5000, usize::MAX];

/// One rule set and what is asked of it.
struct Case {
    bucket: String,
    rules: Vec<Rule>,
    paths: Vec<Vec<u8>>,
}

/// What one engine took for one case.
#[derive(Clone, Copy, Default)]
struct Cost {
    ready_us: f64,
    compile_us: f64,
    heap_bytes: f64,
    verdict_ns: f64,
}

fn main() {
    // cargo passes `--bench`.
    let directory = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let mut cases = directory.map_or_else(generated, |directory| real(&directory));
    cases.extend(hostile());
    let mut costs: BTreeMap<(String, &str), Vec<Cost>> = BTreeMap::new();
    for case in &cases {
        let (ordered, costs_of_case) = measure(case);
        for (engine, cost) in [("ordered", ordered)].into_iter().chain(costs_of_case) {
            costs.entry((case.bucket.clone(), engine)).or_default().push(cost);
            if !case.bucket.starts_with("hostile") {
                costs.entry(("all".into(), engine)).or_default().push(cost);
            }
        }
    }
    println!(
        "rules,engine,sets,ready_us_p50,ready_us_p99,ready_us_max,compile_us_p50,compile_us_p99,\
         compile_us_max,heap_bytes_p50,heap_bytes_p99,heap_bytes_max,verdict_ns_mean,verdict_ratio"
    );
    for ((bucket, engine), of_engine) in &costs {
        let verdict = |costs: &[Cost]| {
            costs.iter().map(|cost| cost.verdict_ns).sum::<f64>() / costs.len() as f64
        };
        let ratio = verdict(of_engine) / verdict(&costs[&(bucket.clone(), "ordered")]);
        println!(
            "{bucket},{engine},{},{},{},{},{:.1},{ratio:.2}",
            of_engine.len(),
            spread(of_engine, |cost| cost.ready_us),
            spread(of_engine, |cost| cost.compile_us),
            spread(of_engine, |cost| cost.heap_bytes),
            verdict(of_engine),
        );
    }
}

fn spread(costs: &[Cost], of: fn(&Cost) -> f64) -> String {
    let mut values: Vec<f64> = costs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    let at = |percent: usize| values[(values.len() - 1) * percent / 100];
    format!("{:.1},{:.1},{:.1}", at(50), at(99), at(100))
}

fn measure(case: &Case) -> (Cost, Vec<(&'static str, Cost)>) {
    let rules: Vec<&Rule> = case.rules.iter().collect();
    let expected: Vec<IndexedDecision> =
        case.paths.iter().map(|path| reference::decide(&rules, Google, path)).collect();
    let (globs, ready_us) = timed(|| LinearGlobs::new(&rank(&rules, Google), Google));
    check(case, &expected, |path| globs.decide(path));
    let verdict_ns = verdict_ns(case, |path| globs.decide(path));
    let heap_bytes = globs.heap_bytes() as f64;
    let ordered = Cost { ready_us, compile_us: 0.0, heap_bytes, verdict_ns };
    let standard = Limits::default();
    let table = Limits { ordered_patterns_max: 0, ..standard };
    let engines = [
        ("policy", standard),
        ("table", table),
        ("table-globs", Limits { automata_bytes_max: 0, ..table }),
        ("policy-unindexed", Limits { suffixes_to_index_min: usize::MAX, ..standard }),
    ];
    let cost = |(name, limits)| (name, cost(case, &rules, &expected, &limits));
    (ordered, engines.into_iter().map(cost).collect())
}

fn cost(case: &Case, rules: &[&Rule], expected: &[IndexedDecision], limits: &Limits) -> Cost {
    let (policy, ready_us) = timed(|| CompiledPolicy::new(rules, Google, limits));
    let ((), compile_us) = timed(|| policy.compile());
    check(case, expected, |path| policy.decide(path));
    let verdict_ns = verdict_ns(case, |path| policy.decide(path));
    Cost { ready_us, compile_us, heap_bytes: policy.heap_bytes() as f64, verdict_ns }
}

fn check(case: &Case, expected: &[IndexedDecision], decide: impl Fn(&[u8]) -> IndexedDecision) {
    for (path, expected) in case.paths.iter().zip(expected) {
        assert_eq!(decide(path), *expected, "{}: {}", case.bucket, path.escape_ascii());
    }
}

/// The best of a few rounds: other people's load only ever adds.
fn verdict_ns(case: &Case, decide: impl Fn(&[u8]) -> IndexedDecision) -> f64 {
    let mut best = f64::MAX;
    let mut spent = Duration::ZERO;
    for _ in 0..12 {
        let started = Instant::now();
        for path in &case.paths {
            black_box(decide(black_box(path)));
        }
        let took = started.elapsed();
        best = best.min(took.as_secs_f64() * 1e9 / case.paths.len() as f64);
        spent += took;
        if spent > Duration::from_millis(200) {
            break;
        }
    }
    best
}

fn timed<T>(make: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let made = make();
    (made, started.elapsed().as_secs_f64() * 1e6)
}

fn real(directory: &str) -> Vec<Case> {
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("a directory of robots.txt files")
        .map(|entry| entry.expect("an entry of it").path())
        .collect();
    files.sort();
    let case = |file| case(&std::fs::read(file).ok()?);
    files.iter().filter_map(case).collect()
}

fn case(body: &[u8]) -> Option<Case> {
    let ParsedRobotsTxt { groups, .. } = parse_body(body);
    let group = groups.into_iter().max_by_key(|group| group.rules.len())?;
    let rules = group.rules;
    if rules.is_empty() {
        return None;
    }
    let bucket = BUCKETS.iter().find(|bucket| rules.len() <= **bucket).expect("the last has all");
    let bucket = match *bucket {
        usize::MAX => "more".to_string(),
        bucket => format!("<= {bucket:4}"),
    };
    let paths = paths(&rules, &mut Random(1 + body.len() as u64));
    Some(Case { bucket, rules, paths })
}

/// Half of them made from rules, half that any site is asked for.
fn paths(rules: &[Rule], random: &mut Random) -> Vec<Vec<u8>> {
    let path = |number| {
        let made = if number % 2 == 0 {
            let rule = &rules[random.below(rules.len())];
            let mut path = Vec::new();
            for byte in &rule.pattern {
                match byte {
                    b'*' => path.extend(random.word()),
                    b'$' => {}
                    byte => path.push(*byte),
                }
            }
            path.extend(random.word());
            path
        } else {
            let count = 1 + random.below(5);
            let mut path: Vec<u8> =
                (0..count).flat_map(|_| [b"/", random.word()].concat()).collect();
            path.extend(
                [&b""[..], b".html", b".php?id=42", b"/", b"?page=2&sort=asc"][random.below(5)],
            );
            path
        };
        let made = if made.starts_with(b"/") { made } else { [b"/", &made[..]].concat() };
        prepare(&made, Google, &mut Vec::new()).as_bytes().to_vec()
    };
    (0..PATHS_COUNT).map(path).collect()
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }

    fn word(&mut self) -> &'static [u8] {
        const WORDS: [&[u8]; 16] = [
            b"",
            b"index",
            b"blog",
            b"2024",
            b"some-long-article-title",
            b"products",
            b"search",
            b"wp-content",
            b"uploads",
            b"images",
            b"en",
            b"category",
            b"x",
            b"feed",
            b"node/1234",
            b"comments",
        ];
        WORDS[self.below(WORDS.len())]
    }
}

fn generated() -> Vec<Case> {
    let mut random = Random(3);
    let mut cases = Vec::new();
    for count in [3, 6, 15, 40, 80, 150, 400, 900, 3000] {
        let mut text = b"User-agent: *\n".to_vec();
        for number in 0..count {
            let (first, second) = (random.word(), random.word());
            let shape =
                [&b"Disallow: /"[..], b"Disallow: /", b"Allow: /", b"Disallow: /*/"][number % 4];
            text.extend([shape, first, b"/", second].concat());
            text.extend(
                format!("{}\n", if number % 5 == 0 { "*.php$".into() } else { number.to_string() })
                    .bytes(),
            );
        }
        cases.extend(case(&text));
    }
    cases
}

/// Files of at most 500 KiB that were made to hurt.
fn hostile() -> Vec<Case> {
    let tens = |number: usize| format!("/*{number}a*b*c*d*e*f*g*h*i*j");
    let letters = |number: usize| {
        let letter = |digit: u32| char::from(b'a' + (number / 3_usize.pow(digit) % 3) as u8);
        (0..5).map(letter).collect::<String>()
    };
    let digits = |number: usize, base: usize, count: u32| {
        let digit = |place: u32| char::from(b'a' + (number / base.pow(place) % base) as u8);
        (0..count).map(digit).collect::<Vec<_>>()
    };
    let word = |number: usize| digits(number, 2, 15).into_iter().collect::<String>();
    let starred = |number: usize| {
        digits(number, 12, 4).into_iter().map(|letter| format!("*{letter}")).collect::<String>()
    };
    let pairs = |number: usize| {
        let pair = |number: usize| digits(number, 12, 2).into_iter().collect::<String>();
        format!("/*{}*{}", pair(number), pair(number / 144))
    };
    let sets: [(&str, Vec<String>); 14] = [
        ("20,000 of one word", (0..20_000).map(|n| format!("/*some-{n}-word")).collect()),
        ("20,000 of one parameter", (0..20_000).map(|n| format!("/*.php?id={n}$")).collect()),
        ("18,000 of two letters", (0..18_000).map(|n| format!("/*{}", word(n))).collect()),
        ("20,000 of four letters each", (0..20_000).map(|n| format!("/{}", starred(n))).collect()),
        ("20,000 of two pairs", (0..20_000).map(pairs).collect()),
        ("47,000 plain prefixes", (0..47_000).map(|n| format!("/{n}")).collect()),
        ("50 of ten wildcards", (0..50).map(tens).collect()),
        ("/*a*b*c*d$ fifty times", vec!["/*a*b*c*d$".into(); 50]),
        ("fifty like /*a*b*c*d$", (0..50).map(|n| format!("/*a{n}*b*c*d$")).collect()),
        ("33,000 times /*x*yzw", vec!["/*x*yzw".into(); 33_000]),
        ("33,000 like /*x*yzw", (0..33_000).map(|n| format!("/*x*{n}")).collect()),
        ("prefixes in prefixes", (1..980).map(|n| "/".to_string() + &"a".repeat(n)).collect()),
        (
            "suffixes on prefixes in prefixes",
            (1..970).map(|n| "/".to_string() + &"a".repeat(n) + "*b*c").collect(),
        ),
        (
            "8,000 of few letters",
            (0..8_000).map(|n| format!("/*{}*{}", letters(n), letters(n / 7))).collect(),
        ),
    ];
    let case = |(name, patterns): (&str, Vec<String>)| {
        let rule = |pattern: &String| Rule::new(Directive::Disallow, pattern.clone(), 1);
        let rules: Vec<Rule> = patterns.iter().map(rule).collect();
        let mut random = Random(5);
        let mut paths = paths(&rules, &mut random);
        paths.truncate(16);
        for letters in [&b"a"[..], b"abc", b"ab", b"xyz"] {
            paths.push([b"/", letters.repeat(200 / letters.len()).as_slice()].concat());
        }
        Case { bucket: format!("hostile: {}", name.replace(',', "")), rules, paths }
    };
    sets.into_iter().map(case).collect()
}
