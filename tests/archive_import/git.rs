//! Histories of git repositories: which commits become snapshots. A repository can neither run a
//! program nor add a false snapshot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use botaudit::archive::import::git::import_git;
use botaudit::url::origin::Origin;

use super::bench::{Bench, NEW_YEAR};

/// A repository with the file `site/robots.txt`.
struct Repository {
    bench: Bench,
    path: PathBuf,
}

impl Repository {
    /// `None`, with a message, if git is not installed.
    fn new() -> Option<Repository> {
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("SKIPPED: there is no git on this machine");
            return None;
        }
        let bench = Bench::new();
        let path = bench.path("r");
        fs::create_dir(&path).unwrap();
        let repository = Repository { bench, path };
        repository.git(0, &["init", "-q"]);
        repository.git(0, &["symbolic-ref", "HEAD", "refs/heads/main"]);
        Some(repository)
    }

    #[track_caller]
    fn git(&self, seconds: i64, arguments: &[&str]) -> String {
        git(&self.path, seconds, arguments)
    }

    /// Commits `text` as the file `name`, or its removal.
    fn commit(&self, seconds: i64, name: &str, text: Option<&str>) {
        let path = self.path.join(name);
        match text {
            Some(text) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            None => fs::remove_file(path).unwrap(),
        }
        self.git(seconds, &["add", "-A"]);
        self.git(seconds, &["commit", "-qm", "x"]);
    }

    fn configure(&self, name: &str, value: &str) {
        self.git(0, &["config", name, value]);
    }

    /// A script that runs `commands` and leaves a mark.
    fn script(&self, commands: &str) -> String {
        let mark = self.mark();
        let text = format!("#!/bin/sh\ntouch '{}'\n{commands}\n", mark.display());
        let path = self.bench.write("script", text);
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn mark(&self) -> PathBuf {
        self.bench.path("mark")
    }

    /// Imports `site/robots.txt`, and checks that no script ran.
    #[track_caller]
    fn import(&mut self) -> Vec<String> {
        let _ = fs::remove_file(self.mark());
        let origins = [Origin::parse(b"https://a.example").unwrap()];
        let path = self.path.join("site/robots.txt");
        self.bench.import(|_, import| import_git(&path, &origins, import).unwrap());
        assert!(!self.mark().exists(), "the repository had a program run");
        self.bench.history("https://a.example")
    }
}

#[track_caller]
fn git(folder: &Path, seconds: i64, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(arguments);
    let date = format!("{} +0000", NEW_YEAR + seconds);
    command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {words}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn commits_of_a_file_are_snapshots() {
    let Some(mut repository) = Repository::new() else { return };
    repository.commit(1, "site/robots.txt", Some("one"));
    repository.commit(2, "other", Some("x"));
    repository.commit(3, "site/robots.txt", None);
    repository.commit(4, "site/robots.txt", Some("two\n"));
    repository.git(5, &["checkout", "-qb", "topic"]);
    repository.commit(5, "site/robots.txt", Some("on a branch"));
    repository.git(5, &["checkout", "-q", "main"]);
    repository.commit(6, "other", Some("y"));
    repository.git(7, &["merge", "-q", "--no-ff", "-m", "x", "topic"]);
    let expected = ["1 200 one", "3 404", "4 200 two", "7 200 on a branch"];
    assert_eq!(repository.import(), expected);
    assert_eq!(repository.bench.problems, [""; 0]);
}

#[test]
fn where_there_is_no_history_git_says_why() {
    let Some(mut repository) = Repository::new() else { return };
    repository.bench.write("r/site/robots.txt", "never committed");
    assert_eq!(repository.import(), [""; 0]);
    assert!(
        repository.bench.problems[0].contains("git reports: "),
        "{:?}",
        repository.bench.problems
    );
    let mut bench = Bench::new();
    let path = bench.write("no-repository/robots.txt", "");
    bench.import(|_, import| import_git(&path, &[], import).unwrap());
    assert!(bench.problems[0].contains("git reports: "), "{:?}", bench.problems);
}

#[test]
fn a_file_that_was_renamed_was_not_missing_before() {
    let Some(mut repository) = Repository::new() else { return };
    let text = "User-agent: *\nDisallow: /a\nDisallow: /b";
    repository.commit(1, "robots.txt", Some(text));
    fs::create_dir(repository.path.join("site")).unwrap();
    repository.git(2, &["mv", "robots.txt", "site/robots.txt"]);
    repository.git(2, &["commit", "-qm", "x"]);
    repository.configure("log.follow", "true");
    repository.configure("diff.renames", "copies");
    assert_eq!(repository.import(), [format!("2 200 {text}")]);
}

/// Links and damage are reported: neither the target of a link nor a lost object is known.
#[cfg(unix)]
#[test]
fn what_is_not_known_of_a_commit_is_no_snapshot() {
    let Some(mut repository) = Repository::new() else { return };
    repository.commit(1, "site/robots.txt", Some("one"));
    fs::remove_file(repository.path.join("site/robots.txt")).unwrap();
    std::os::unix::fs::symlink("../other", repository.path.join("site/robots.txt")).unwrap();
    repository.commit(2, "other", Some("x"));
    fs::remove_file(repository.path.join("site/robots.txt")).unwrap();
    repository.commit(3, "site/robots.txt", Some("lost"));
    let lost = repository.git(0, &["rev-parse", "HEAD:site/robots.txt"]);
    fs::remove_file(repository.path.join("site/robots.txt")).unwrap();
    repository.commit(4, "site/robots.txt/notes", Some("x"));
    let (folder, name) = lost.split_at(2);
    fs::remove_file(repository.path.join(".git/objects").join(folder).join(name)).unwrap();
    assert_eq!(repository.import(), ["1 200 one", "4 404"]);
    let problems = &repository.bench.problems;
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].contains(&format!("object {lost} is missing in the repository")),
        "{problems:?}"
    );
    assert!(problems[1].contains("it is a symbolic link"), "{problems:?}");
}

#[cfg(unix)]
#[test]
fn nothing_that_a_repository_configures_is_run() {
    let Some(mut repository) = Repository::new() else { return };
    let signer = "cat > /dev/null
echo '[GNUPG:] SIG_CREATED D' >&2
printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'";
    let script = repository.script(signer);
    repository.configure("gpg.program", &script);
    repository.commit(1, ".gitattributes", Some("* diff=x filter=x\n"));
    repository.commit(2, "site/robots.txt", Some("one"));
    fs::write(repository.path.join("site/robots.txt"), "two").unwrap();
    repository.git(3, &["commit", "-qa", "-S", "-m", "x"]);
    assert!(repository.mark().exists(), "the commit is signed");
    for name in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "pager.log",
        "pager.rev-list",
        "pager.cat-file",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.smudge",
        "filter.x.clean",
        "filter.x.process",
        "credential.helper",
        "gpg.ssh.program",
        "uploadpack.packObjectsHook",
    ] {
        repository.configure(name, &script);
    }
    repository.configure("alias.rev-list", &format!("!{script}"));
    repository.configure("core.hooksPath", &repository.bench.path("").display().to_string());
    for (name, value) in [
        ("log.showSignature", "true"),
        ("log.showRoot", "false"),
        ("log.mailmap", "true"),
        ("log.follow", "true"),
        ("log.date", "relative"),
        ("format.pretty", "%GG"),
        ("color.ui", "always"),
        ("diff.orderFile", "none"),
    ] {
        repository.configure(name, value);
    }
    assert_eq!(repository.import(), ["2 200 one", "3 200 two"]);
    assert_eq!(repository.bench.problems, [""; 0]);
}

#[cfg(unix)]
#[test]
fn what_a_partial_clone_lacks_is_not_fetched() {
    for lost in ["HEAD~1:site/robots.txt", "HEAD~1:site", "HEAD~1"] {
        let Some(mut repository) = Repository::new() else { return };
        repository.commit(1, "site/robots.txt", Some("one"));
        repository.commit(2, "site/robots.txt", Some("two"));
        repository.commit(3, "site/robots.txt", Some("three"));
        let script = repository.script("");
        let id = repository.git(0, &["rev-parse", lost]);
        let (folder, name) = id.split_at(2);
        fs::remove_file(repository.path.join(".git/objects").join(folder).join(name)).unwrap();
        for (name, value) in [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("protocol.allow", "always"),
            ("protocol.ext.allow", "always"),
            ("core.sshCommand", &script),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialCloneFilter", "blob:none"),
            ("remote.origin.uploadpack", &script),
        ] {
            repository.configure(name, value);
        }
        for url in [format!("ext::{script}"), "ssh://x/y".to_owned(), "file:///".to_owned()] {
            repository.configure("remote.origin.url", &url);
            let history = repository.import();
            let invented = history.iter().find(|line| line.ends_with("404"));
            assert_eq!(invented, None, "{lost} {url}");
            if lost.ends_with("robots.txt") {
                assert_eq!(history, ["1 200 one", "3 200 three"], "{url}");
            }
            assert_eq!(repository.bench.problems.len(), 1, "{:?}", repository.bench.problems);
            repository.bench.problems.clear();
        }
    }
}

#[test]
fn what_stands_in_for_commits_and_files_does_not_count() {
    let Some(mut repository) = Repository::new() else { return };
    repository.commit(1, "site/robots.txt", Some("one"));
    repository.commit(2, "site/robots.txt", Some("two"));
    repository.commit(3, "site/robots.txt", Some("three"));
    let id = |name: &str| repository.git(0, &["rev-parse", name]);
    let [old, new] = ["HEAD~1:site/robots.txt", "HEAD:site/robots.txt"].map(id);
    repository.git(0, &["replace", &old, &new]);
    let graft = format!("{}\n", id("HEAD"));
    fs::create_dir_all(repository.path.join(".git/info")).unwrap();
    fs::write(repository.path.join(".git/info/grafts"), graft).unwrap();
    assert_eq!(repository.import(), ["1 200 one", "2 200 two", "3 200 three"]);
}

#[test]
fn variables_of_another_repository_do_not_count() {
    let Some(repository) = Repository::new() else { return };
    repository.commit(1, "site/robots.txt", Some("one"));
    let mut program = Command::new(env!("CARGO_BIN_EXE_botaudit"));
    program.current_dir(&repository.path).args(["robots", "import", "-a", "../db", "--git"]);
    program.args(["--origin", "https://a.example", "site/robots.txt"]);
    // As in a hook of another repository.
    program.env("GIT_DIR", "/nowhere").env("GIT_WORK_TREE", "/nowhere");
    program.env("GIT_INDEX_FILE", "/nowhere").env("GIT_GLOB_PATHSPECS", "1");
    let output = program.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.stdout.starts_with(b"1 snapshot added ("), "{words}");
}
