//! What the library brings along without its default feature.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeSet;
use std::process::Command;

/// The most crates, this one included, that a user of the matcher alone compiles.
const CRATES_MAX: usize = 12;

#[test]
fn the_library_alone_needs_few_crates() {
    let tree = "tree --no-default-features --edges normal --prefix none --locked --offline";
    let cargo = Command::new(env!("CARGO"))
        .args(tree.split(' '))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let tree = String::from_utf8(cargo.stdout).unwrap();
    let crates: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains("botaudit") && crates.contains("regex-automata"), "{tree}");
    assert!(crates.len() <= CRATES_MAX, "{tree}");
}
