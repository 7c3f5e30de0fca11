//! Landlock, a part of Linux since 5.13, with which a process gives up access to files and TCP.
//!
//! Source: the kernel's documentation, userspace-api/landlock.

#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;

#[cfg(target_os = "linux")]
use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, path_beneath_rules,
};

/// Whether a run opens TCP connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TcpUse {
    None,
    Needed,
}

/// What the kernel refuses from now on.
#[derive(Clone, Debug, Eq, PartialEq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "other systems refuse nothing"))]
pub enum Confinement {
    /// All that was asked for.
    Whole,
    /// A part of it: the kernel is older.
    Partial,
    /// Nothing, for this reason.
    Absent(String),
}

impl TcpUse {
    /// [`TcpUse::Needed`] if `is_needed`.
    pub fn needed_if(is_needed: bool) -> TcpUse {
        if is_needed { TcpUse::Needed } else { TcpUse::None }
    }
}

/// The rights that are given up; an older kernel knows fewer of them.
#[cfg(target_os = "linux")]
const RIGHTS: ABI = ABI::V5;

/// What any run may read: name resolution with its libraries and the targets of its links, time
/// zones, the number of cores.
#[cfg(target_os = "linux")]
const SYSTEM: [&str; 9] = [
    "/etc",
    "/etc/hosts",
    "/etc/localtime",
    "/etc/resolv.conf",
    "/lib",
    "/lib64",
    "/proc",
    "/sys",
    "/usr",
];

/// Standard streams, pipes and `/dev/null`, which can be named as inputs and outputs.
#[cfg(target_os = "linux")]
const DEVICES: [&str; 1] = ["/dev"];

/// From now on, the kernel refuses this thread and those that it starts to read outside of `read`,
/// to write outside of `written`, to run programs, and to open TCP connections unless they are
/// needed.
#[cfg(target_os = "linux")]
pub fn restrict(read: &[PathBuf], written: &[PathBuf], tcp: TcpUse) -> Confinement {
    match restricted(read, written, tcp) {
        Ok(RulesetStatus::FullyEnforced) => Confinement::Whole,
        Ok(RulesetStatus::PartiallyEnforced) => Confinement::Partial,
        Ok(RulesetStatus::NotEnforced) => Confinement::Absent("this kernel has no Landlock".into()),
        Err(err) => Confinement::Absent(err.to_string()),
    }
}

/// Does nothing: only Linux has Landlock.
#[cfg(not(target_os = "linux"))]
pub fn restrict(_read: &[PathBuf], _written: &[PathBuf], _tcp: TcpUse) -> Confinement {
    Confinement::Absent("only Linux has Landlock".to_owned())
}

#[cfg(target_os = "linux")]
fn restricted(
    read: &[PathBuf],
    written: &[PathBuf],
    tcp: TcpUse,
) -> Result<RulesetStatus, RulesetError> {
    let (all, reading) = (AccessFs::from_all(RIGHTS), AccessFs::ReadFile | AccessFs::ReadDir);
    let mut ruleset = Ruleset::default().handle_access(all)?;
    if tcp == TcpUse::None {
        ruleset = ruleset.handle_access(AccessNet::from_all(RIGHTS))?;
    }
    let read = read.iter().map(PathBuf::as_path).chain(SYSTEM.map(Path::new));
    // SQLite and outputs that are pipes have temporary files without a name.
    let temporary = std::env::temp_dir();
    let written = written.iter().map(PathBuf::as_path).chain([&*temporary, Path::new("/var/tmp")]);
    let devices = reading | AccessFs::WriteFile | AccessFs::IoctlDev;
    let ruleset = ruleset
        .create()?
        .add_rules(path_beneath_rules(read, reading))?
        .add_rules(path_beneath_rules(DEVICES, devices))?
        .add_rules(path_beneath_rules(written, all & !AccessFs::Execute))?;
    Ok(ruleset.restrict_self()?.ruleset)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;
    use std::thread;

    use super::*;

    /// Only the thread that asks for it is confined, so each case has its own.
    #[test]
    fn only_the_files_of_the_run_can_be_reached() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["in", "out", "other"] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("file"), name).unwrap();
        }
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let confined = |tcp| {
            thread::scope(|scope| {
                let run = || {
                    let confinement = restrict(&[path("in")], &[path("out")], tcp);
                    assert_eq!(fs::read_to_string(path("in").join("file")).unwrap(), "in");
                    fs::write(path("out").join("new"), "").unwrap();
                    fs::rename(path("out").join("new"), path("out").join("file")).unwrap();
                    let denied = [
                        fs::read(path("other").join("file")).map(drop),
                        fs::write(path("in").join("file"), ""),
                        fs::remove_file(path("other").join("file")),
                        Command::new("/bin/true").status().map(drop),
                    ];
                    let connected = TcpStream::connect(address).map(drop);
                    (confinement, denied, connected)
                };
                scope.spawn(run).join().unwrap()
            })
        };
        let is_denied = |tried: &std::io::Result<()>| matches!(tried, Err(err) if err.kind() == ErrorKind::PermissionDenied);
        let (confinement, denied, connected) = confined(TcpUse::None);
        if let Confinement::Absent(why) = confinement {
            return eprintln!("skipped: {why}");
        }
        assert!(denied.iter().all(is_denied), "{denied:?}");
        assert!(is_denied(&connected) || confinement == Confinement::Partial, "{connected:?}");
        let (_, _, connected) = confined(TcpUse::Needed);
        assert!(connected.is_ok(), "{connected:?}");
    }
}
