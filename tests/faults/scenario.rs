//! Commands, the outputs before and after them, and the checks of a disturbed run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::shim::{Fault, disturb, fired, without_exchange};

/// The second one comes later.
const CRAWLERS: [&str; 2] = ["bingbot/2.0", "GPTBot/1.2"];

/// The reasons of the system, and those of SQLite.
const CAUSES: [&str; 7] = [
    "No space left on device (os error 28)",
    "the disk is full",
    "database or disk is full",
    "unable to open database file",
    "it is read-only",
    "attempt to write a readonly database",
    "disk I/O error",
];

/// Relative paths and contents.
pub type Contents = BTreeMap<String, Vec<u8>>;

/// A command that replaces outputs.
pub struct Scenario {
    /// What writes the older outputs, one command in each line.
    pub before: &'static str,
    /// Replaces them.
    pub command: &'static str,
    /// Begins to replace them and fails; empty if they are replaced by one call, or if the next run
    /// replaces them anyway.
    pub failing: &'static str,
    /// Outputs that are replaced together: files and directories, separated by spaces.
    pub outputs: &'static [&'static str],
    /// Prints outputs that differ even if their contents are equal; may be empty.
    pub view: &'static str,
    /// A word in each message.
    pub named: &'static [&'static str],
}

/// A scenario with its inputs, and its outputs before and after the command.
pub struct Stage<'a> {
    scenario: &'a Scenario,
    template: tempfile::TempDir,
    old: Vec<Contents>,
    new: Vec<Contents>,
    code: Option<i32>,
}

/// `count` requests of 2026-03-01, the first one of the day before; every second one disallowed.
pub fn log(count: usize) -> String {
    let line = |at: usize| {
        let (target, crawler) = (["/open", "/private"][at % 2], CRAWLERS[usize::from(at > 5)]);
        let day = if at == 0 { "28/Feb" } else { "01/Mar" };
        format!(
            "192.0.2.7 - - [{day}/2026:00:00:{:02} +0000] \"GET {target} HTTP/1.1\" 200 100 \
             \"-\" \"{crawler}\"\n",
            at % 60
        )
    };
    (0..count).map(line).collect()
}

/// An empty directory, in memory if possible, where waiting for the disk takes no time.
pub fn sandbox() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// The program in `directory`, with arguments that are separated by spaces.
pub fn program(directory: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_botaudit"));
    command.current_dir(directory).args(arguments.split_whitespace());
    command
}

/// Runs the program to its end, without an error.
pub fn run(directory: &Path, arguments: &str) -> Output {
    let ran = program(directory, arguments).output().unwrap();
    let is_well = matches!(ran.status.code(), Some(0 | 1 | 3));
    assert!(is_well, "{arguments}: {}", String::from_utf8_lossy(&ran.stderr));
    ran
}

/// The files at `path`, which is a file, a directory, or missing.
pub fn contents(directory: &Path, path: &str, found: &mut Contents) {
    let whole = directory.join(path);
    if let Ok(entries) = fs::read_dir(&whole) {
        for entry in entries {
            let name = entry.unwrap().file_name().into_string().unwrap();
            contents(directory, &format!("{path}/{name}"), found);
        }
    } else if let Ok(bytes) = fs::read(&whole) {
        let bytes = if path.ends_with("run.json") { without_time(&bytes) } else { bytes };
        found.insert(path.to_owned(), bytes);
    }
}

/// `run.json` without the time of the run.
fn without_time(bytes: &[u8]) -> Vec<u8> {
    let mut run: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    run["made_at_utc"].take();
    run.to_string().into_bytes()
}

/// Hidden files of outputs in `directory` and below.
pub fn hidden(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.contains(".botaudit-") || name.starts_with(".tmp") || name == ".latest" {
            names.push(name);
        } else if entry.file_type().unwrap().is_dir() {
            names.extend(hidden(&entry.path()));
        }
    }
    names
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => {
                fs::create_dir(&to).unwrap();
                copy(&entry.path(), &to);
            }
            kind if kind.is_symlink() => {
                std::os::unix::fs::symlink(fs::read_link(entry.path()).unwrap(), to).unwrap();
            }
            _ => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

impl<'a> Stage<'a> {
    /// Writes the inputs and the older outputs, and finds the new ones.
    pub fn new(scenario: &'a Scenario) -> Stage<'a> {
        let template = sandbox();
        let path = template.path();
        let robots = "User-agent: *\nDisallow: /private\n";
        fs::write(path.join("robots.txt"), robots).unwrap();
        fs::write(path.join("draft.txt"), "User-agent: *\nDisallow: /\n").unwrap();
        // Verdicts that do not fit in a buffer, so that they are written before the end.
        fs::write(path.join("urls.txt"), "https://a.example/private\n".repeat(400)).unwrap();
        fs::write(path.join("old.log"), log(4)).unwrap();
        fs::write(path.join("new.log"), log(10)).unwrap();
        for name in ["old", "new"] {
            let config = format!(
                "[sites.shop]\nlogs = ['{name}.log']\nrobots = 'robots.txt'\n\
                 origin = 'https://shop.example'\n"
            );
            fs::write(path.join(format!("{name}.toml")), config).unwrap();
        }
        let mut stage = Stage { scenario, template, old: Vec::new(), new: Vec::new(), code: None };
        for line in scenario.before.lines() {
            run(stage.template.path(), line);
        }
        stage.old = stage.outputs(stage.template.path());
        let done = stage.copy();
        stage.code = run(done.path(), scenario.command).status.code();
        stage.new = stage.outputs(done.path());
        assert!(stage.old != stage.new && hidden(done.path()).is_empty());
        stage
    }

    /// The inputs and the older outputs in a directory of their own.
    pub fn copy(&self) -> tempfile::TempDir {
        let directory = sandbox();
        copy(self.template.path(), directory.path());
        directory
    }

    /// The outputs in `directory`, by what is replaced together.
    fn outputs(&self, directory: &Path) -> Vec<Contents> {
        let group = |paths: &&str| {
            let mut found = Contents::new();
            paths.split(' ').for_each(|path| contents(directory, path, &mut found));
            found
        };
        let mut outputs: Vec<Contents> = self.scenario.outputs.iter().map(group).collect();
        if !self.scenario.view.is_empty() {
            let printed = run(directory, self.scenario.view).stdout;
            outputs.push(Contents::from([(self.scenario.view.to_owned(), printed)]));
        }
        outputs
    }

    /// Disturbs the call `at` of the command. Returns whether there was one.
    pub fn disturbed(&self, fault: Fault, at: usize, can_exchange: bool) -> bool {
        let directory = self.copy();
        let path = directory.path();
        let marks = sandbox();
        let mark = marks.path().join("fired");
        let mut command = program(path, self.scenario.command);
        disturb(&mut command, fault, at, &mark);
        if !can_exchange {
            without_exchange(&mut command);
        }
        let ran = command.output().unwrap();
        let calls = fired(&mark);
        let call = format!("{fault:?} at {at}: {calls}");
        let message = String::from_utf8_lossy(&ran.stderr).into_owned();
        match ran.status.code() {
            Some(2) => {
                let is_named = self.scenario.named.iter().any(|name| message.contains(name));
                let has_cause = CAUSES.iter().any(|cause| message.contains(cause));
                assert!(is_named && has_cause, "{call}{message}");
                let outputs = self.outputs(path);
                // Of several outputs that are replaced one by one, some may be new.
                assert!(outputs.len() > 1 || outputs == self.old, "{call}");
                assert!(self.is_each_whole(path), "{call}");
            }
            None => assert!(fault == Fault::Kill, "{call}{message}"),
            code => {
                assert_eq!(code, self.code, "{call}{message}");
                assert!(self.outputs(path) == self.new, "{call}{message}");
            }
        }
        if fault != Fault::Kill && !calls.contains("unlink") {
            assert!(hidden(path).is_empty(), "{call}{:?}", hidden(path));
        }
        if fault == Fault::Kill {
            self.check_failing_run(path, &call);
        }
        self.check_next_run(path, &call);
        !calls.is_empty()
    }

    /// Fails the call `at` of those that lock. Returns whether there was one. After the exit code 2 the outputs are
    /// the older ones, else the new ones.
    pub fn locks_failed(&self, at: usize) -> bool {
        let (directory, marks) = (self.copy(), sandbox());
        let (path, mark) = (directory.path(), marks.path().join("fired"));
        let mut command = program(path, self.scenario.command);
        disturb(&mut command, Fault::Once, at, &mark);
        let ran = command.env("FAULT_LOCKS", "only").output().unwrap();
        let when = format!("lock {at}: {}", String::from_utf8_lossy(&ran.stderr));
        let expected = match ran.status.code() {
            Some(2) => &self.old,
            Some(0 | 3) => &self.new,
            code => panic!("{code:?}, {when}"),
        };
        assert!(self.outputs(path) == *expected, "{when}");
        self.check_next_run(path, &when);
        !fired(&mark).is_empty()
    }

    /// After a killed run, lets the next one fail. Then checks that outputs that are replaced
    /// together are all old or all new.
    fn check_failing_run(&self, directory: &Path, when: &str) {
        let failing = self.scenario.failing;
        if !failing.is_empty() {
            let ran = program(directory, failing).output().unwrap();
            let message = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(2), "{when}{message}");
            assert!(message.contains("not.log"), "{when}{message}");
            assert!(self.is_each_whole(directory), "{when}");
        }
    }

    /// Whether outputs that are replaced together are all old or all new.
    pub fn is_each_whole(&self, directory: &Path) -> bool {
        let outputs = self.outputs(directory);
        let pairs = outputs.iter().zip(self.old.iter().zip(&self.new));
        pairs.into_iter().all(|(now, (old, new))| now == old || now == new)
    }

    /// Checks that the next run has the result of an undisturbed one, and leaves nothing else.
    pub fn check_next_run(&self, directory: &Path, when: &str) {
        let ran = run(directory, self.scenario.command);
        assert_eq!(ran.status.code(), self.code, "{when}");
        assert!(self.outputs(directory) == self.new, "{when}");
        assert!(hidden(directory).is_empty(), "{when}: {:?}", hidden(directory));
    }
}
