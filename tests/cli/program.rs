//! Runs the program in a directory of its own, and reads its output.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

/// A directory for runs, removed at the end.
pub struct Sandbox {
    dir: tempfile::TempDir,
}

/// The output of a run.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A CSV file: its header and rows.
#[derive(Debug)]
pub struct Table {
    header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The text of a file; a tally is decompressed.
pub fn text_of(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    if path.extension().is_some_and(|extension| extension == "tally") {
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let unpacked = zstd::stream::decode_all(&bytes[end + 1..]).unwrap();
        return String::from_utf8_lossy(&unpacked).into_owned();
    }
    String::from_utf8(bytes).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
}

impl Sandbox {
    pub fn new() -> Sandbox {
        Sandbox { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn write_gz(&self, name: &str, bytes: impl AsRef<[u8]>) {
        self.write(name, gzip(bytes.as_ref()));
    }

    /// Runs with arguments that are separated by spaces.
    pub fn run(&self, arguments: &str) -> Ran {
        self.run_with_input(arguments, b"")
    }

    pub fn run_with_input(&self, arguments: &str, input: &[u8]) -> Ran {
        finish(self.command(arguments), input)
    }

    /// Runs with arguments that may hold spaces.
    pub fn run_words(&self, arguments: &[&str], input: &[u8]) -> Ran {
        run_in(self.dir.path(), arguments, input)
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = command_in(self.dir.path());
        command.args(arguments.split_whitespace());
        command
    }

    pub fn text(&self, name: &str) -> String {
        text_of(&self.path(name))
    }

    pub fn table(&self, name: &str) -> Table {
        Table::parse(&self.text(name))
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// Names in a directory, in order.
    pub fn names(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Runs in `directory` with arguments that may hold spaces.
pub fn run_in(directory: &Path, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = command_in(directory);
    command.args(arguments);
    finish(command, input)
}

fn command_in(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_botaudit"));
    // Sentences of summaries stay on one line.
    command.current_dir(directory).env("COLUMNS", "400");
    // Any run may use the directory for temporary files, so the test's files must not be in it:
    // they can be reached only as far as the confinement of the run allows.
    command.env("TMPDIR", env!("CARGO_TARGET_TMPDIR"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs `command` with `input` on standard input.
fn finish(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that needs no input closes the pipe.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran::new(output)
}

impl Ran {
    fn new(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Checks that standard error contains `what`.
    #[track_caller]
    pub fn complains(self, what: &str) -> Ran {
        assert!(self.stderr.contains(what), "{what:?} is not in:\n{}", self.stderr);
        self
    }
}

impl Table {
    pub fn parse(text: &str) -> Table {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
        Table { header, rows: rows.collect() }
    }

    /// The cells of `columns` (separated by spaces) of each row, separated by ` | `.
    #[track_caller]
    pub fn cells(&self, columns: &str) -> Vec<String> {
        let indexes: Vec<usize> =
            columns.split_whitespace().map(|name| self.column(name)).collect();
        let row = |row: &Vec<String>| {
            indexes.iter().map(|&index| row[index].as_str()).collect::<Vec<_>>().join(" | ")
        };
        self.rows.iter().map(row).collect()
    }

    /// The sum of a column of numbers.
    #[track_caller]
    pub fn sum(&self, column: &str) -> u64 {
        let index = self.column(column);
        self.rows.iter().map(|row| row[index].parse::<u64>().unwrap()).sum()
    }

    #[track_caller]
    fn column(&self, name: &str) -> usize {
        self.header
            .iter()
            .position(|column| column == name)
            .unwrap_or_else(|| panic!("no column {name}"))
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// A combined line of `user_agent`, `second` seconds past midnight of 2026-03-01 in UTC.
pub fn line(second: u32, target: &str, status: u16, user_agent: &str) -> String {
    let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "192.0.2.7 - - [01/Mar/2026:{h:02}:{m:02}:{s:02} +0000] \"GET {target} HTTP/1.1\" {status} 100 \"-\" \"{user_agent}\"\n"
    )
}

pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
