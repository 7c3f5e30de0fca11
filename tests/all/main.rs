//! All tests from outside but those of `allocations`: one program, because to link the library takes
//! longer than to compile the tests.
//!
//! `cargo test --test all cli::audit::` runs those of one module. Each module begins with what it covers.
//! Tests run beside each other as threads of one process, so none may change what belongs to all of it: the
//! directory, the environment, signals, limits. They start programs for that.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

#[path = "../archive.rs"]
mod archive;
#[path = "../archive_import/main.rs"]
mod archive_import;
#[path = "../cli/main.rs"]
mod cli;
#[path = "../conformance.rs"]
mod conformance;
#[path = "../crawlers.rs"]
mod crawlers;
#[path = "../docs.rs"]
mod docs;
#[path = "../faults/main.rs"]
mod faults;
#[path = "../features.rs"]
mod features;
#[path = "../fetch/main.rs"]
mod fetch;
#[path = "../google_parser/mod.rs"]
mod google_parser;
#[path = "../layers.rs"]
mod layers;
#[path = "../library.rs"]
mod library;
#[path = "../lint.rs"]
mod lint;
#[path = "../logs.rs"]
mod logs;
#[path = "../messages.rs"]
mod messages;
#[path = "../../src/random.rs"]
mod random;
#[path = "../rep.rs"]
mod rep;
mod stoppable;
