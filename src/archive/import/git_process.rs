//! Git as a process: run so that it does nothing but read the repository, and never waited for
//! without end.
//!
//! A repository may come from strangers, with its own configuration. What that can name to be run
//! (signature checkers, pagers, hooks, file system monitors, transports of a partial clone) belongs
//! to commands that are not run here, or is turned off for those that are.

use std::ffi::OsStr;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::mutex::lock;

/// How long an answer may take: a long history is searched before git says anything.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often it is looked whether an answer is late, or a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Bytes of what git says on standard error that are kept; the rest is read, and dropped.
const WORDS_BYTES_MAX: usize = 2048;

/// Settings that win over those of the repository. Git that does not know one ignores it.
const SETTINGS: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    // Dates and parents are read from the commits themselves.
    "core.commitGraph=false",
    "core.alternateRefsCommand=",
    "advice.graftFileDeprecated=false",
];

/// Variables that keep git from fetching what a partial clone lacks, and from reading anything in
/// place of the commits. Git before 2.44 does not know the first and is stopped by the second,
/// which allows no transport, whatever the repository allows: none can have that name, neither can
/// an alias of the repository, which else would stand for the helper of a transport.
const VARIABLES: [(&str, &str); 6] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "no protocol"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("LC_ALL", "C"),
];

/// What the user may have set to run git at all, or to trust a repository of another user. All
/// others of git's variables are dropped: they may name another repository.
const KEPT_VARIABLES: [&str; 4] =
    ["GIT_CONFIG", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"];

/// A process that is asked for bytes; killed when this is dropped.
pub struct Process {
    child: Arc<Mutex<Child>>,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    words: Receiver<Vec<u8>>,
    /// When an answer is late; `None` while none is waited for.
    due: Arc<Mutex<Option<Instant>>>,
    patience: Duration,
    /// Whoever watches ends when it is dropped.
    _watched: SyncSender<()>,
}

impl Process {
    /// Runs git with `arguments` in `folder`.
    ///
    /// # Errors
    /// Where it cannot be run.
    pub fn git(folder: &Path, arguments: &[&OsStr]) -> io::Result<Process> {
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
        // A pipe that nobody reads would stop git once it is full.
        thread::Builder::new().name("git-stderr".to_owned()).spawn(move || {
            let mut words = Vec::new();
            let _ = stderr.by_ref().take(WORDS_BYTES_MAX as u64).read_to_end(&mut words);
            let _ = io::copy(&mut stderr, &mut io::sink());
            // Nobody may want to know.
            let _ = said.send(words);
        })?;
        Ok(process)
    }

    /// Puts a question, and gives what `read` takes of the output.
    ///
    /// # Errors
    /// Those of `read`, and where the answer is late.
    pub fn ask<T>(
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

    /// Waits for the end of a process that has said all: whether it went well, and its complaints.
    ///
    /// # Errors
    /// Where it does not end.
    pub fn end(&mut self) -> io::Result<(bool, String)> {
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
        // Whoever inherited the pipe may keep it open.
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
        // Where it has ended already there is nothing to do.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Kills `child` when its answer is late, which ends the wait for that.
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
        // Neither is one that closes its output, and stays.
        let mut process = shell("exec >&-; exec sleep 60", Duration::from_millis(500));
        assert_eq!(process.ask(b"", all).unwrap(), "");
        // It may have been killed before anybody waited for it.
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
