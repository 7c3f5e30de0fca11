//! botaudit's matching beside that of other crates.
//!
//! `cargo run --release -- [--robots DIR] [--random N] [--urls N] [--rounds N]` takes files of DIR
//! by their number of rules, and N at random; without DIR generated ones. Answers are compared
//! before anything is timed. See README.md for what is printed.

mod causes;
mod engine;
mod files;
mod urls;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use botaudit::robots::parse::parse_body;

use causes::Explainer;
use engine::{ENGINES, Engine, Memory};
use files::{File, size, star};
use urls::{Random, urls};

/// How long an engine may take for a round; those that need longer are asked for fewer URLs.
const ROUND_MAX: Duration = Duration::from_millis(1500);

/// The fewest URLs that anybody is asked for.
const URLS_MIN: usize = 2000;

/// Differences of an engine on a file that are explained; the count has all of them.
const EXPLAINED_MAX: usize = 2000;

/// What the user asked for.
struct Options {
    robots: Option<PathBuf>,
    random: usize,
    urls: usize,
    rounds: usize,
}

/// What one engine did with one file.
struct Result {
    engine: Engine,
    asked: usize,
    differing: usize,
    ns_per_url: f64,
    building_us: f64,
    memory: Memory,
}

/// Differences of one engine, by their cause.
#[derive(Default)]
struct Differences {
    files: BTreeMap<String, usize>,
    example: String,
}

type ByCause = BTreeMap<(Engine, String), Differences>;

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("usage: botaudit-peers [--robots DIR] [--random N] [--urls N] [--rounds N]");
        return ExitCode::from(2);
    };
    let files = match &options.robots {
        None => files::generated(),
        Some(directory) => match files::real(directory, options.random) {
            Ok(files) => files,
            Err(err) => {
                eprintln!("botaudit-peers: cannot read {}: {err}", directory.display());
                return ExitCode::from(2);
            }
        },
    };
    let mut causes = ByCause::new();
    let mut wrong: BTreeMap<Engine, usize> = BTreeMap::new();
    println!(
        "bucket,file,rules,wildcards,engine,ns_a_url,times_ours,building_us,held_bytes,\
         allocations_a_url,urls,differing"
    );
    for file in &files {
        let results = measure(file, &options, &mut causes);
        print(file, &results);
        for engine in ENGINES {
            let result = results.iter().find(|result| result.engine == engine);
            let is_wrong = result.is_none_or(|result| result.differing > 0);
            *wrong.entry(engine).or_default() += usize::from(is_wrong);
        }
    }
    println!("\nengine,wrong_on,files");
    for engine in &ENGINES[1..] {
        println!("{engine},{},{}", wrong[engine], files.len());
    }
    println!("\nengine,files,differing_explained,cause,example");
    for ((engine, cause), differences) in &causes {
        let count: usize = differences.files.values().sum();
        let example = differences.example.replace('"', "\"\"");
        let cause = cause.replace('"', "\"\"");
        println!("{engine},{},{count},\"{cause}\",\"{example}\"", differences.files.len());
    }
    ExitCode::SUCCESS
}

fn options() -> Option<Options> {
    let mut options = Options { robots: None, random: 8, urls: 1_000_000, rounds: 5 };
    let mut arguments = std::env::args_os().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next()?;
        let number = || value.to_str()?.parse().ok();
        match name.to_str()? {
            "--robots" => options.robots = Some(value.into()),
            "--random" => options.random = number()?,
            "--urls" => options.urls = number().filter(|count| *count > 0)?,
            "--rounds" => options.rounds = number().filter(|count| *count > 0)?,
            _ => return None,
        }
    }
    Some(options)
}

fn measure(file: &File, options: &Options, causes: &mut ByCause) -> Vec<Result> {
    let robots = parse_body(&file.body);
    let urls = urls(&star(&robots).rules(), options.urls, &mut Random(1 + file.body.len() as u64));
    let ours = Engine::Botaudit.time(&file.body, &urls).expect("ours takes any file").answers;
    let mut results = Vec::new();
    for engine in ENGINES {
        let Some(sample) = engine.time(&file.body, &urls[..urls.len().min(URLS_MIN)]) else {
            record_difference(causes, engine, "it does not take the file".into(), file, "all URLs");
            continue;
        };
        let slow = sample.asking.as_secs_f64() / ROUND_MAX.as_secs_f64();
        let affordable = (sample.answers.len() as f64 / slow) as usize;
        let asked = urls.len().min(affordable.max(URLS_MIN));
        let run = engine.time(&file.body, &urls[..asked]).expect("taken before");
        let differing: Vec<usize> = (0..asked).filter(|at| run.answers[*at] != ours[*at]).collect();
        explain(engine, file, &urls, &differing, &ours, causes);
        let memory = engine.weigh(&file.body, &urls[..asked]).expect("taken before");
        let differing = differing.len();
        results.push(Result {
            engine,
            asked,
            differing,
            ns_per_url: 0.0,
            building_us: 0.0,
            memory,
        });
    }
    time(file, &urls, options.rounds, &mut results);
    results
}

/// All engines in turn, several times: the median of each.
fn time(file: &File, urls: &[String], rounds: usize, results: &mut [Result]) {
    let mut times = vec![(Vec::new(), Vec::new()); results.len()];
    for _ in 0..rounds {
        for (result, (building, asking)) in results.iter().zip(&mut times) {
            let run = result.engine.time(&file.body, &urls[..result.asked]).expect("taken before");
            building.push(run.building.as_secs_f64());
            asking.push(run.asking.as_secs_f64() / result.asked as f64);
        }
    }
    for (result, (building, asking)) in results.iter_mut().zip(times) {
        // Building is shared by all URLs, also by those that a slow engine was not asked for.
        let (building, asking) = (median(building), median(asking));
        result.building_us = building * 1e6;
        result.ns_per_url = (asking + building / urls.len() as f64) * 1e9;
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn explain(
    engine: Engine,
    file: &File,
    urls: &[String],
    differing: &[usize],
    ours: &[bool],
    causes: &mut ByCause,
) {
    if differing.is_empty() {
        return;
    }
    let explainer = Explainer::new(engine, &file.body);
    let step = differing.len().div_ceil(EXPLAINED_MAX);
    for at in differing.iter().step_by(step) {
        let found = explainer.explain(&urls[*at], !ours[*at]);
        let cause = match found {
            None => "unexplained".to_owned(),
            Some(found) if found.len() > 2 => "several of its causes together".to_owned(),
            Some(found) => found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + "),
        };
        record_difference(causes, engine, cause, file, &urls[*at]);
    }
}

fn record_difference(causes: &mut ByCause, engine: Engine, cause: String, file: &File, url: &str) {
    let differences = causes.entry((engine, cause)).or_default();
    *differences.files.entry(file.name.clone()).or_default() += 1;
    if differences.example.is_empty() {
        differences.example = format!("{}: {}", file.name, &url[..url.len().min(100)]);
    }
}

fn print(file: &File, results: &[Result]) {
    let size = size(&file.body);
    let ours = results[0].ns_per_url;
    for result in results {
        let Result { engine, asked, differing, ns_per_url, building_us, memory } = result;
        println!(
            "{},{},{},{},{engine},{ns_per_url:.1},{:.2},{building_us:.1},{},{:.2},{asked},{differing}",
            file.bucket,
            file.name,
            size.rules,
            size.wildcards,
            ns_per_url / ours,
            memory.held_bytes,
            memory.allocations_per_url,
        );
    }
}
