//! Limits of the system, kills at random moments, and two runs at once.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::calls::{AUDIT, TALLY};
use super::scenario::{Contents, Scenario, Stage, contents, hidden, log, program, run, sandbox};
use super::shim::{Fault, disturb, fired, without_exchange};
use crate::random::Random;
use crate::stoppable::stoppable;

const TWO_AT_ONCE: usize = 20;

/// Runs the program with `arguments` in a shell that has set `limit`. Returns exit code and
/// standard error.
fn limited(directory: &Path, limit: &str, arguments: &str) -> (Option<i32>, String) {
    let script = format!("ulimit {limit}; exec {} {arguments}", env!("CARGO_BIN_EXE_botaudit"));
    let ran = Command::new("sh").args(["-c", &script]).current_dir(directory).output().unwrap();
    (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
}

/// The system sends SIGXFSZ, which kills a process that does not handle it.
#[test]
fn a_limit_of_the_file_size_is_an_error_of_the_file() {
    let stage = Stage::new(&AUDIT);
    for (limit, file) in [("-f 0", "evidence.csv"), ("-f 1", "report/"), ("-f 8", "report/")] {
        let directory = stage.copy();
        let path = directory.path();
        let (code, message) = limited(path, limit, AUDIT.command);
        assert_eq!(code, Some(2), "{limit}: {message}");
        assert!(message.contains("File too large (os error 27)"), "{limit}: {message}");
        assert!(message.contains(file), "{limit}: {message}");
        assert!(stage.is_each_whole(path) && hidden(path).is_empty(), "{limit}");
        stage.check_next_run(path, limit);
    }
}

/// The last verdicts may be written when all of them are judged.
#[test]
fn a_list_beyond_the_limit_of_the_file_size_is_never_done() {
    let directory = sandbox();
    let path = directory.path();
    fs::write(path.join("robots.txt"), "User-agent: *\nDisallow: /1\n").unwrap();
    let urls: String = (0..3000).map(|number| format!("https://{number}.example/\n")).collect();
    fs::write(path.join("urls.txt"), urls).unwrap();
    let classify = "classify -q --robots robots.txt --token a urls.txt";
    for output in ["-o v.csv", "-o v.tsv", "-o v.jsonl", "-o v.csv.gz", "-o v.csv.zst", "> v.csv"] {
        let name = output.rsplit(' ').next().unwrap();
        for threads in [1, 2, 8] {
            let arguments = format!("{classify} --threads {threads} {output}");
            let (code, message) = limited(path, "-f 10000", &arguments);
            assert_eq!((code, message.as_str()), (Some(0), ""), "{arguments}");
            let blocks = fs::metadata(path.join(name)).unwrap().len() / 512;
            fs::remove_file(path.join(name)).unwrap();
            for limit in [0, 1, blocks / 2, blocks - 1, blocks] {
                let (code, message) = limited(path, &format!("-f {limit}"), &arguments);
                assert_eq!(code, Some(2), "{arguments}, {limit} of {blocks} blocks: {message}");
                assert!(message.contains("File too large (os error 27)"), "{message}");
                // The shell opens its own file.
                let is_there = path.join(name).exists();
                assert_eq!(is_there, output.starts_with('>'), "{arguments}");
                assert!(hidden(path).is_empty(), "{arguments}");
            }
        }
    }
}

#[test]
fn few_open_files_are_enough_or_an_error_of_the_file() {
    let stage = Stage::new(&AUDIT);
    for files in 4..32 {
        let directory = stage.copy();
        let path = directory.path();
        let (code, message) = limited(path, &format!("-n {files}"), AUDIT.command);
        if code != Some(0) {
            assert_eq!(code, Some(2), "{files}: {message}");
            assert!(message.contains("(os error 24)"), "{files}: {message}");
        }
        assert!(stage.is_each_whole(path) && hidden(path).is_empty(), "{files}");
        stage.check_next_run(path, &files.to_string());
    }
}

/// As a user who may start few threads, because the limit does not hold for root. `None` if this
/// system cannot change the user.
fn with_few_threads(directory: &Path, limit: u32, arguments: &str) -> Option<(i32, String)> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
    let is_root = fs::metadata("/proc/self").is_ok_and(|data| data.uid() == 0);
    // The limit counts all processes of a user, so each test has its own.
    let user = format!("--reuid={}", 100_000 + std::process::id());
    let as_user = ["setpriv", &user, "--regid=61234", "--clear-groups"];
    let as_user = if is_root { &as_user[..] } else { &[] };
    let run = |limit: u32, arguments: &str| {
        let limit = format!("--nproc={limit}");
        let limited = ["prlimit", limit.as_str(), env!("CARGO_BIN_EXE_botaudit")];
        let words: Vec<&str> =
            as_user.iter().copied().chain(limited).chain(arguments.split_whitespace()).collect();
        Command::new(words[0]).args(&words[1..]).current_dir(directory).output().ok()
    };
    run(99, "--version").filter(|ran| ran.status.success())?;
    let ran = run(limit, arguments)?;
    let message = String::from_utf8(ran.stderr).unwrap();
    // A process that ends by a signal has no code.
    Some((ran.status.code().unwrap_or(-1), message))
}

#[test]
fn few_threads_are_enough_or_an_error_with_its_cause() {
    let (mut refused, mut done) = (0, 0);
    for arguments in [
        "audit -q --threads 4 --robots robots.txt -o report --evidence evidence.csv new.log",
        "audit --threads 1 --robots robots.txt --verify-dns --dns-server 127.0.0.1:9 \
         --dns-timeout 0.01 -o report new.log",
        "classify -q --threads 4 --robots robots.txt --token a -o verdicts.csv urls.txt",
        "robots fetch -q --archive new.db a.invalid http://127.0.0.1:9",
        "nightly -q --config new.toml --day 2026-03-01",
    ] {
        for limit in [1, 2, 3, 4, 6, 9] {
            let directory = sandbox();
            let path = directory.path();
            fs::write(path.join("robots.txt"), "User-agent: *\nDisallow: /private\n").unwrap();
            fs::write(path.join("urls.txt"), "https://a.example/private\n").unwrap();
            fs::write(path.join("new.log"), log(10)).unwrap();
            let config = "[sites.shop]\nlogs = ['new.log']\nrobots = 'robots.txt'\n\
                          origin = 'https://shop.example'\n";
            fs::write(path.join("new.toml"), config).unwrap();
            let Some((code, message)) = with_few_threads(path, limit, arguments) else { return };
            assert!(!message.contains("panicked"), "{arguments} {limit}: {message}");
            match code {
                0 | 3 => done += 1,
                2 => {
                    assert!(message.contains("cannot start "), "{arguments} {limit}: {message}");
                    assert!(message.contains("(os error 11)"), "{arguments} {limit}: {message}");
                    assert!(message.contains("ulimit -u"), "{arguments} {limit}: {message}");
                    refused += 1;
                }
                code => panic!("{arguments} {limit}: {code} {message}"),
            }
        }
    }
    assert!(refused > 4 && done > 4, "{refused} {done}");
}

/// The program says so where new evidence lies beside an older report, also if the record of the run
/// does not lie beside it.
#[test]
fn evidence_that_is_newer_than_its_report_is_refused() {
    let evidence = "evidence report --crawler GPTBot --origin https://a.example -o folder \
                    --requests-file evidence.csv.gz";
    let of_tally = "evidence a.tally --crawler GPTBot --origin https://a.example -o folder \
                    --requests-file evidence.csv";
    for (scenario, evidence) in [(AUDIT, evidence), (TALLY, of_tally)] {
        let stage = Stage::new(&scenario);
        let mut mixed = 0;
        for at in 1.. {
            let directory = stage.copy();
            let path = directory.path();
            let marks = sandbox();
            let mark = marks.path().join("fired");
            let mut command = program(path, scenario.command);
            // An exchange is one call of the kernel, in which nothing can be disturbed.
            without_exchange(&mut command);
            disturb(&mut command, Fault::Kill, at, &mark);
            command.output().unwrap();
            let is_last = fired(&mark).is_empty();
            let refuses = |why: &str| {
                let ran = program(path, evidence).output().unwrap();
                let message = String::from_utf8(ran.stderr).unwrap();
                assert!(!path.join("folder").exists());
                assert_eq!(ran.status.code(), Some(2), "{message}");
                message.contains(why)
            };
            if stage.is_each_whole(path) {
                assert!(!refuses("newer than its report") && !refuses("not the evidence"), "{at}");
            } else {
                assert!(refuses("newer than its report"), "{at}");
                if scenario.outputs == AUDIT.outputs && !path.join("report").exists() {
                    continue;
                }
                mixed += 1;
                for name in hidden(path) {
                    let name = path.join(name);
                    let _ = fs::remove_file(&name).or_else(|_| fs::remove_dir_all(&name));
                }
                // A tally alone does not name its evidence.
                assert_eq!(refuses("not the evidence"), scenario.outputs == AUDIT.outputs, "{at}");
            }
            if is_last {
                break;
            }
        }
        assert!(mixed > 0, "no kill between the two: {}", scenario.command);
    }
}

/// A kill between two renames may leave new evidence beside the older report until the next run, but
/// each is whole.
#[test]
fn runs_may_be_killed_at_random_moments() {
    let alone = Scenario { outputs: &["report", "evidence.csv.gz"], ..AUDIT };
    let stage = Stage::new(&alone);
    let begun = Instant::now();
    run(stage.copy().path(), AUDIT.command);
    let whole = usize::try_from(begun.elapsed().as_micros()).unwrap();
    let mut random = Random::new();
    for round in 0..10 {
        let directory = stage.copy();
        let path = directory.path();
        for _ in 0..3 {
            let mut child = spawn(path, AUDIT.command);
            thread::sleep(Duration::from_micros(random.below(whole) as u64));
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(stage.is_each_whole(path), "round {round}");
        }
        stage.check_next_run(path, "after three kills");
    }
}

/// Signals that stop a run leave nothing, at any moment.
#[test]
fn stopped_runs_leave_nothing() {
    let stage = Stage::new(&AUDIT);
    let directory = stage.copy();
    let path = directory.path();
    for (at, signal) in ["INT", "TERM", "HUP"].into_iter().cycle().take(18).enumerate() {
        let mut run = stoppable(&program(path, AUDIT.command));
        let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(4 + 2 * at as u64));
        let id = child.id().to_string();
        // The run may have ended.
        let _ = Command::new("kill").args([&format!("-{signal}"), &id]).output();
        let code = child.wait().unwrap().code();
        assert!(stage.is_each_whole(path), "{signal} {at}");
        // Before its first line, the program does not handle signals.
        assert!(matches!(code, Some(0 | 130) | None), "{signal} {at}: {code:?}");
        assert!(hidden(path).is_empty(), "{signal} {at}: {:?}", hidden(path));
    }
}

/// As by `nohup`.
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let stage = Stage::new(&AUDIT);
    let directory = stage.copy();
    let script = format!(
        "trap '' HUP; exec {} audit -q --robots robots.txt -o report -",
        env!("CARGO_BIN_EXE_botaudit")
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(directory.path()).stdin(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(200));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    thread::sleep(Duration::from_millis(100));
    child.stdin.take().unwrap().write_all(log(4).as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn spawn(directory: &Path, arguments: &str) -> Child {
    let mut command = program(directory, arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Two runs with different logs at the same time: the result is that of one of them.
#[test]
fn two_runs_at_once_leave_the_result_of_one() {
    let directory = sandbox();
    let path = directory.path();
    fs::write(path.join("robots.txt"), "User-agent: *\nDisallow: /private\n").unwrap();
    let command =
        |log: &str| format!("audit -q --robots robots.txt -o report --evidence evidence.csv {log}");
    let outputs = || {
        let mut found = Contents::new();
        contents(path, "report", &mut found);
        contents(path, "evidence.csv", &mut found);
        found
    };
    let alone = [("a.log", 5), ("b.log", 2_000)].map(|(name, count)| {
        fs::write(path.join(name), log(count)).unwrap();
        run(path, &command(name));
        outputs()
    });
    let mut refused = 0;
    for at in 0..TWO_AT_ONCE {
        if at % 2 == 0 {
            fs::remove_dir_all(path.join("report")).unwrap();
        }
        let both = ["a.log", "b.log"].map(|log| spawn(path, &command(log)));
        let both = both.map(|child| child.wait_with_output().unwrap());
        for ran in &both {
            let message = String::from_utf8_lossy(&ran.stderr);
            match ran.status.code() {
                Some(0) => {}
                Some(2) => {
                    let why = "report: another run is writing this report; wait until it ends";
                    assert!(message.contains(why), "{message}");
                    refused += 1;
                }
                code => panic!("{code:?}: {message}"),
            }
        }
        assert!(both.iter().any(|ran| ran.status.success()));
        assert!(alone.contains(&outputs()), "run {at}");
        assert!(hidden(path).is_empty(), "run {at}: {:?}", hidden(path));
    }
    assert!(refused > 0, "no two runs met");
}
