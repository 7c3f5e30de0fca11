//! The real program, run as its users run it.
//!
//! - `audit`: verdicts, counts and origins, from logs to cells.
//! - `bad_input`: damage, garbage, hostile strings; nothing lost, nothing unbounded.
//! - `check`: one URL, and why.
//! - `classify`: lists of URLs.
//! - `classify_files`: which lists go in and what comes out, whatever is in them and however it ends.
//! - `formats`: the log formats, and which of them a log has.
//! - `help`: how long it is, what it holds, and that its examples run.
//! - `log_lines`: which lines count, and whose they are: times, parse rates, origins, addresses.
//! - `chunks`: the size of chunks, which no flag sets and no report shows.
//! - `collect`: what must be known before logs are judged, collected on several machines.
//! - `conduct`: what else crawlers did: had they read the rules, did they keep to a delay, who are they?
//! - `configured`: an audit with the settings of a site of a configuration file.
//! - `crawlers`: the registry, shown and checked.
//! - `history`: each request by what was in force when it was made.
//! - `hostile_archive`: archives edited by hand, damaged, or written meanwhile.
//! - `html`: the page of a report, in a real browser.
//! - `identity`: who was really asking.
//! - `lint`: what is odd about a robots.txt.
//! - `infer_outages`: what the logs themselves show of robots.txt.
//! - `manual`: how to start, completions and manual pages.
//! - `nightly`: a day of each site, night after night.
//! - `nightly_state`: what is remembered meanwhile, also where runs are killed.
//! - `nights`: what a night tells besides its reports, and how to begin.
//! - `nothing_judged`: runs that could judge nothing say why.
//! - `output`: reports all at once, exit codes, equal bytes for any number of threads.
//! - `overwrite`: no output is an input, and nothing of others is overwritten.
//! - `mistakes`: common mistakes, and the messages that they get.
//! - `merge`: tallies of parts, added up.
//! - `report`: a report shown again, without the logs.
//! - `robots`: robots.txt files through time, in an archive.
//! - `what_if`: what a draft of a robots.txt would change.
//! - `sample`: the sample data and its expected reports.
//! - `documents`: the commands of README.md and `docs/`, run in a `document_sandbox`.
//! - `regression`: one test a bug.
//! - `stdout`: `-` in the place of an output file.
//! - `terminal`: what a run says besides its result: notes, colors, lines that fit.
//! - `threshold`: conditions on which a run fails.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod audit;
mod bad_input;
mod check;
mod chunks;
mod classify;
mod classify_files;
mod collect;
mod conduct;
mod configured;
mod crawlers;
mod document_sandbox;
mod documents;
mod formats;
mod help;
mod history;
mod hostile_archive;
mod html;
mod identity;
mod infer_outages;
mod lint;
mod log_lines;
mod manual;
mod merge;
mod mistakes;
mod nightly;
mod nightly_state;
mod nights;
mod nothing_judged;
mod output;
mod overwrite;
mod program;
mod regression;
mod report;
mod robots;
mod sample;
mod stdout;
mod terminal;
mod threshold;
mod what_if;
