//! A library that is preloaded before libc, in which one call fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What happens at a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// It fails.
    Once,
    /// It fails, and all later calls that need space.
    Full,
    /// It kills the process.
    Kill,
}

/// The compiled library.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shim.so");
        let mut compiler = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-o"]).arg(&library).arg(source);
        assert!(compiler.arg("-ldl").status().unwrap().success(), "{compiler:?}");
        library
    })
}

/// Makes the call `at` of `command` fail, and after it writes the name of the call to `fired`.
pub fn disturb(command: &mut Command, fault: Fault, at: usize, fired: &Path) {
    let mode = match fault {
        Fault::Once => "once",
        Fault::Full => "full",
        Fault::Kill => "kill",
    };
    command.env("LD_PRELOAD", library()).env("FAULT_MODE", mode);
    command.env("FAULT_AT", at.to_string()).env("FAULT_FIRED", fired);
}

/// Lets `command` run as on a file system that cannot exchange two files.
pub fn without_exchange(command: &mut Command) {
    command.env("LD_PRELOAD", library()).env("FAULT_EXCHANGE", "no");
}

/// The calls that failed; empty if there were fewer calls.
pub fn fired(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
