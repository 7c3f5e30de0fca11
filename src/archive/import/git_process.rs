//! Runs git so that it only reads the repository, with a time limit.
//!
//! A repository may be untrusted and have its own configuration. The programs that it can name
//! (signature checkers, pagers, hooks, file system monitors, transports of a partial clone) belong
//! to commands that are not run here, or are turned off for those that are.

use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{ffi::OsStr, path::Path, thread};

use crate::mutex::lock;

/// The time limit of an answer: git may search a long history before its first output.
const PATIENCE: Duration = Duration::from_secs(600);

/// The interval of checks for late answers and ended processes.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The most bytes of standard error that are kept; the rest is read and dropped.
const WORDS_BYTES_MAX: usize = 2048;

/// Settings that override those of the repository. Versions of git that do not know one ignore it.
const SETTINGS: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    // Dates and parents are read from the commits themselves.
    "core.commitGraph=false",
    "core.alternateRefsCommand=",
    "advice.graftFileDeprecated=false",
];

/// Variables that prevent git from fetching objects that a partial clone lacks, and from replacing
/// commits. Git before 2.44 does not know the first one; the second one stops it, because it allows
/// no transport. No transport can have that name, and no alias of the repository can replace it.
const VARIABLES: [(&str, &str); 6] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "no protocol"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("LC_ALL", "C"),
];

/// Variables that the user may need to run git, or to trust a repository of another user. All other
/// variables of git are dropped, because they may name another repository.
const KEPT_VARIABLES: [&str; 4] =
    ["GIT_CONFIG", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"];

/// A process that answers questions; it is killed when this is dropped.
pub(crate) struct Process {
    child: Arc<Mutex<Child>>,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    words: Receiver<Vec<u8>>,
    /// The deadline of the current answer; `None` between answers.
    due: Arc<Mutex<Option<Instant>>>,
    patience: Duration,
    /// The watching thread ends when this is dropped.
    _watched: SyncSender<()>,
}

impl Process {
    /// Runs git with `arguments` in `folder`.
    ///
    /// # Errors
    /// If it cannot be run.
    pub(crate) fn git(folder: &Path, arguments: &[&OsStr]) -> io::Result<Process> {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("GIT_") && !KEPT_VARIABLES.iter().any(|kept| text.starts_with(kept))
            {
                command.env_remove(&name);
            }
        }
        command.envs(VARIABLES);
        command.args(["--no-pager", "--no-replace-objects", "--literal-pathspecs"]);
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command.arg("-C").arg(folder).args(arguments);
        Process::spawn(command, PATIENCE)
    }

    fn spawn(mut command: Command, patience: Duration) -> io::Result<Process> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it was piped"));
        let mut stderr = child.stderr.take().expect("it was piped");
        let child = Arc::new(Mutex::new(child));
        let due = Arc::new(Mutex::new(None));
        let (said, words) = sync_channel(1);
        let (watched, over) = sync_channel(0);
        let process = Process { child, input, output, words, due, patience, _watched: watched };
        let (child, due) = (process.child.clone(), process.due.clone());
        thread::Builder::new().name("git-watch".to_owned()).spawn(move || {
            watch(&child, &due, &over);
        })?;
        // git would block on a full pipe.
        thread::Builder::new().name("git-stderr".to_owned()).spawn(move || {
            let mut words = Vec::new();
            let _ = stderr.by_ref().take(WORDS_BYTES_MAX as u64).read_to_end(&mut words);
            let _ = io::copy(&mut stderr, &mut io::sink());
            // The receiver may be gone.
            let _ = said.send(words);
        })?;
        Ok(process)
    }

    /// Sends a question, and returns what `read` reads from the output.
    ///
    /// # Errors
    /// Errors of `read`, and a late answer.
    pub(crate) fn ask<T>(
        &mut self,
        question: &[u8],
        read: impl FnOnce(&mut BufReader<ChildStdout>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.set_due(Some(Instant::now() + self.patience));
        let asked = match &mut self.input {
            Some(input) if !question.is_empty() => {
                input.write_all(question).and_then(|()| input.flush())
            }
            _ => Ok(()),
        };
        let answer = asked.and_then(|()| read(&mut self.output));
        self.in_time()?;
        self.set_due(None);
        answer
    }

    /// Waits for the end of a process without further output. Returns whether it succeeded, and its
    /// standard error.
    ///
    /// # Errors
    /// If it does not end.
    pub(crate) fn end(&mut self) -> io::Result<(bool, String)> {
        self.input = None;
        self.set_due(Some(Instant::now() + self.patience));
        let status = loop {
            let status = lock(&self.child).try_wait()?;
            if let Some(status) = status {
                break status;
            }
            self.in_time()?;
            thread::sleep(LOOK_EVERY);
        };
        self.set_due(None);
        // A child of the process may keep the pipe open.
        let words = self.words.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        let words: String = String::from_utf8_lossy(&words)
            .trim()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        Ok((status.success(), words))
    }

    fn set_due(&self, due: Option<Instant>) {
        *lock(&self.due) = due;
    }

    fn in_time(&self) -> io::Result<()> {
        let is_late = lock(&self.due).is_some_and(|due| due <= Instant::now());
        let late = || {
            let why = format!("no answer for {} seconds", self.patience.as_secs());
            io::Error::new(io::ErrorKind::TimedOut, why)
        };
        if is_late { Err(late()) } else { Ok(()) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        // The process may have ended already.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Kills `child` when its answer is late, which ends the wait for the answer.
fn watch(child: &Mutex<Child>, due: &Mutex<Option<Instant>>, over: &Receiver<()>) {
    while over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
        if lock(due).is_some_and(|due| due <= Instant::now()) {
            let _ = lock(child).kill();
            return;
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::spawn(command, patience).unwrap()
    }

    fn all(output: &mut BufReader<ChildStdout>) -> io::Result<String> {
        let mut text = String::new();
        output.read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn a_process_that_gives_no_answer_is_killed() {
        let began = Instant::now();
        let mut process = shell("exec sleep 60", Duration::from_millis(100));
        let late = process.ask(b"", all).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        // A process that closes its output and keeps running is killed, too.
        let mut process = shell("exec >&-; exec sleep 60", Duration::from_millis(500));
        assert_eq!(process.ask(b"", all).unwrap(), "");
        // It may have been killed before the wait.
        match process.end() {
            Ok((went_well, _)) => assert!(!went_well),
            Err(err) => assert_eq!(err.kind(), io::ErrorKind::TimedOut),
        }
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn complaints_do_not_stop_a_process_however_many() {
        let script = "yes complaint | head -c 1000000 >&2; echo done; exit 3";
        let mut process = shell(script, Duration::from_secs(60));
        assert_eq!(process.ask(b"", all).unwrap(), "done\n");
        let (went_well, words) = process.end().unwrap();
        assert!(!went_well && words.starts_with("complaint complaint"), "{words}");
        assert!(words.len() <= WORDS_BYTES_MAX);
    }

    #[test]
    fn nobody_is_late_while_nothing_is_asked() {
        let mut process = shell("read line; echo $line", Duration::from_millis(300));
        thread::sleep(Duration::from_millis(600));
        assert_eq!(process.ask(b"a\n", all).unwrap(), "a\n");
        assert_eq!(process.end().unwrap(), (true, String::new()));
    }
}
