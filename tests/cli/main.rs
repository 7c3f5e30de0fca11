//! The program, run as by its users.
//!
//! - `answers`: what servers answered, by verdict.
//! - `audit`: verdicts, counts and origins, from logs to cells.
//! - `bad_input`: damaged, invalid and hostile input; nothing is lost, and memory is limited.
//! - `boundaries`: definitions, one second or one request before, at and after their limits.
//! - `browser`: shows pages; a tool of other tests.
//! - `check`: one URL and the explanation.
//! - `classify`: lists of URLs.
//! - `classify_files`: input and output files, with any content, also if the run fails.
//! - `evidence`: folders about one crawler, to be sent.
//! - `clients`: all lines by the class of their client.
//! - `formats`: lists and detects log formats.
//! - `help`: length, content, and running examples.
//! - `log_lines`: times, parse rates, origins, addresses.
//! - `chunks`: the size of chunks, which no flag sets and no report shows.
//! - `collect`: first passes on several machines.
//! - `conduct`: fetches of robots.txt, crawl delays, identities.
//! - `configured`: an audit with the settings of a site of a configuration file.
//! - `crawl`: audits of a crawl by its own files.
//! - `crawlers`: the registry, shown and checked.
//! - `deny`: rules for servers that refuse crawlers.
//! - `history`: each request is judged by the ruling in force at its time.
//! - `hostile_archive`: edited or damaged archives, and archives written at the same time.
//! - `html`: the page of a report, in a real browser.
//! - `identity`: verified and spoofed crawlers, by address lists.
//! - `kept`: files of earlier versions.
//! - `lint`: findings on robots.txt files.
//! - `infer_outages`: outages of robots.txt, from the logs.
//! - `manual`: first steps, completions and manual pages.
//! - `nightly`: daily reports of each site.
//! - `nightly_state`: the state between runs, also if runs are killed.
//! - `nights`: the summary of a night, and the first configuration.
//! - `nights_rules`: nights between which robots.txt changes.
//! - `nothing_judged`: runs that could judge nothing say why.
//! - `odd_logs`: line ends, encodings, and logs of which most cannot be read.
//! - `parse_rate`: logs of which the lines of crawlers, or others, cannot be read.
//! - `options`: each option of the table is found everywhere.
//! - `output`: reports in one step, exit codes, equal bytes for any number of threads.
//! - `overwrite`: no output is an input, and no foreign file is overwritten.
//! - `pictures`: what the page looks like.
//! - `mistakes`: common mistakes and their messages.
//! - `names`: verified and spoofed crawlers, by DNS.
//! - `measures`: the tables of measures, computed again from the requests.
//! - `bundled_ranges`: identities by the address lists that come with the program.
//! - `merge`: tallies of parts, merged.
//! - `promises`: what operators promise, and cards of agents.
//! - `reactions`: what crawlers do after a change of robots.txt.
//! - `random_world`: random robots.txt files and requests.
//! - `referrals`: visits that products sent.
//! - `repeated_logs`: the same lines in several logs.
//! - `report`: a report written again, without the logs.
//! - `restrictions`: how far robots.txt files restrict crawlers.
//! - `robots_changes`: how the rules for crawlers changed through time.
//! - `robots`: robots.txt versions in an archive.
//! - `usage`: statements about the use of what crawlers fetch.
//! - `what_if`: what a draft of a robots.txt would change.
//! - `which_group`: the group of robots.txt that binds a client.
//! - `sample`: the sample data and its expected reports.
//! - `documents`: the commands of README.md and `docs/`, run in a `document_sandbox`.
//! - `regression`: one test per bug.
//! - `stdout`: `-` as an output file.
//! - `taken`: what crawlers requested and got, computed again from the requests.
//! - `terminal`: notes, colors, and lines that fit the terminal.
//! - `threshold`: conditions that make a run fail.

mod address_history;
mod altered_answers;
mod answers;
mod audit;
mod bad_input;
mod boundaries;
mod browser;
mod bundled_ranges;
mod check;
mod chunks;
mod classify;
mod classify_files;
mod clients;
mod collect;
mod conduct;
mod configured;
mod confinement;
mod crawl;
mod crawlers;
mod deny;
mod document_sandbox;
mod documents;
mod evidence;
mod formats;
mod help;
mod history;
mod hostile_archive;
mod html;
mod identity;
mod infer_outages;
mod kept;
mod lint;
mod log_lines;
mod manual;
mod measures;
mod merge;
mod mistakes;
mod names;
mod nightly;
mod nightly_state;
mod nights;
mod nights_rules;
mod nothing_judged;
mod odd_logs;
mod options;
mod output;
mod overwrite;
mod parse_rate;
mod pictures;
mod program;
mod promises;
mod random_world;
mod reactions;
mod referrals;
mod regression;
mod repeated_logs;
mod report;
mod restrictions;
mod robots;
mod robots_changes;
mod sample;
mod signatures;
mod signed_evidence;
mod stdout;
mod taken;
mod terminal;
mod threshold;
mod usage;
mod violation_networks;
mod what_if;
mod which_group;
mod who_it_was;
