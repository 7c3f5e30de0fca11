//! Landlock, a part of Linux since 5.13, with which a process gives up access to files and TCP.
//!
//! Source: the kernel's documentation, userspace-api/landlock.

#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;

#[cfg(target_os = "linux")]
use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

/// Whether a run opens TCP connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TcpUse {
    None,
    Needed,
}

/// What the kernel refuses from now on.
#[derive(Clone, Debug, Eq, PartialEq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "other systems refuse nothing"))]
pub(crate) enum Confinement {
    /// All that was asked for.
    Whole,
    /// A part of it: the kernel is older.
    Partial,
    /// Nothing, for this reason.
    Absent(String),
}

impl TcpUse {
    /// [`TcpUse::Needed`] if `is_needed`.
    pub(crate) fn needed_if(is_needed: bool) -> TcpUse {
        if is_needed { TcpUse::Needed } else { TcpUse::None }
    }
}

/// The rights that are given up; an older kernel knows fewer of them. Those of version 6 are signals
/// to other processes, and sockets with a name but without a file.
#[cfg(target_os = "linux")]
const RIGHTS: ABI = ABI::V6;

/// What any run may read: the local time, time zones, itself, and the number of cores.
#[cfg(target_os = "linux")]
const SYSTEM: [&str; 9] = [
    "/dev/random",
    "/dev/urandom",
    "/etc/localtime",
    "/etc/timezone",
    "/proc/self",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/usr/share/zoneinfo",
];

/// What resolves the names of hosts: settings, and the libraries that the C library loads.
#[cfg(target_os = "linux")]
const NAMES: [&str; 12] = [
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/etc/services",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
];

/// What any run may read and write.
#[cfg(target_os = "linux")]
const DEVICES: [&str; 1] = ["/dev/null"];

/// From now on, the kernel refuses this thread and those that it starts to read outside of `read`,
/// to write outside of `written`, to run programs, to reach other processes by signals or sockets
/// without a file, and to open TCP connections unless they are needed.
#[cfg(target_os = "linux")]
pub(crate) fn restrict(read: &[PathBuf], written: &[PathBuf], tcp: TcpUse) -> Confinement {
    match restricted(read, written, tcp) {
        Ok(RulesetStatus::FullyEnforced) => Confinement::Whole,
        Ok(RulesetStatus::PartiallyEnforced) => Confinement::Partial,
        Ok(RulesetStatus::NotEnforced) => Confinement::Absent("this kernel has no Landlock".into()),
        Err(err) => Confinement::Absent(err.to_string()),
    }
}

/// Does nothing: only Linux has Landlock.
#[cfg(not(target_os = "linux"))]
pub(crate) fn restrict(_read: &[PathBuf], _written: &[PathBuf], _tcp: TcpUse) -> Confinement {
    Confinement::Absent("only Linux has Landlock".to_owned())
}

#[cfg(target_os = "linux")]
fn restricted(
    read: &[PathBuf],
    written: &[PathBuf],
    tcp: TcpUse,
) -> Result<RulesetStatus, RulesetError> {
    let (all, reading) = (AccessFs::from_all(RIGHTS), AccessFs::ReadFile | AccessFs::ReadDir);
    // No run makes devices, pipes or sockets, or is a server.
    let never = AccessFs::Execute
        | AccessFs::MakeBlock
        | AccessFs::MakeChar
        | AccessFs::MakeFifo
        | AccessFs::MakeSock;
    let network = match tcp {
        TcpUse::None => AccessNet::from_all(RIGHTS),
        TcpUse::Needed => AccessNet::BindTcp.into(),
    };
    let ruleset = Ruleset::default()
        .handle_access(all)?
        .handle_access(network)?
        .scope(Scope::from_all(RIGHTS))?;
    let names: &[&str] = if tcp == TcpUse::Needed { &NAMES } else { &[] };
    let system = SYSTEM.iter().chain(names).map(Path::new);
    let read = read.iter().map(PathBuf::as_path).chain(system);
    let devices = AccessFs::ReadFile | AccessFs::WriteFile;
    let ruleset = ruleset
        .create()?
        .add_rules(path_beneath_rules(read, reading))?
        .add_rules(path_beneath_rules(DEVICES, devices))?
        .add_rules(path_beneath_rules(written, all & !never))?;
    Ok(ruleset.restrict_self()?.ruleset)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::{Error, ErrorKind};
    use std::net::{TcpListener, TcpStream};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    use std::process::Command;
    use std::thread;

    use nix::sys::signal::kill;
    use nix::unistd::Pid;

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
        let name = format!("botaudit-test-{}", std::process::id());
        let other_process = SocketAddr::from_abstract_name(name).unwrap();
        let _listener = UnixListener::bind_addr(&other_process).unwrap();
        let address = server.local_addr().unwrap();
        let confined = |tcp| {
            thread::scope(|scope| {
                let run = || {
                    let confinement = restrict(&[path("in")], &[path("out")], tcp);
                    assert_eq!(fs::read_to_string(path("in").join("file")).unwrap(), "in");
                    fs::write(path("out").join("new"), "").unwrap();
                    fs::rename(path("out").join("new"), path("out").join("file")).unwrap();
                    for open in ["/dev/null", "/dev/urandom", "/proc/self/status"] {
                        File::open(open).unwrap();
                    }
                    fs::write("/dev/null", "x").unwrap();
                    let denied = [
                        fs::read(path("other").join("file")).map(drop),
                        fs::write(path("in").join("file"), ""),
                        fs::remove_file(path("other").join("file")),
                        Command::new("/bin/true").status().map(drop),
                        tempfile::tempfile().map(drop),
                        fs::read_dir("/etc").map(drop),
                        fs::read_dir("/usr").map(drop),
                        fs::read_dir("/dev").map(drop),
                        File::open("/etc/passwd").map(drop),
                        File::open("/dev/zero").map(drop),
                        File::open("/dev/full").map(drop),
                        File::open("/proc/1/status").map(drop),
                        File::open("/sys/kernel/notes").map(drop),
                    ];
                    let resolved = [fs::read_dir("/lib").is_ok(), fs::read("/etc/hosts").is_ok()];
                    assert_eq!(resolved, [tcp == TcpUse::Needed; 2]);
                    let others = [
                        UnixStream::connect_addr(&other_process).map(drop),
                        kill(Pid::parent(), None).map_err(Error::from),
                    ];
                    let connected = TcpStream::connect(address).map(drop);
                    (confinement, denied, connected, others)
                };
                scope.spawn(run).join().unwrap()
            })
        };
        let is_denied = |tried: &std::io::Result<()>| matches!(tried, Err(err) if err.kind() == ErrorKind::PermissionDenied);
        let (confinement, denied, connected, others) = confined(TcpUse::None);
        if let Confinement::Absent(why) = confinement {
            return eprintln!("skipped: {why}");
        }
        assert!(denied.iter().all(is_denied), "{denied:?}");
        assert!(is_denied(&connected) || confinement == Confinement::Partial, "{connected:?}");
        // Landlock 6 alone refuses these.
        let is_whole = confinement == Confinement::Whole;
        assert!(!is_whole || others.iter().all(is_denied), "{others:?}");
        let (_, denied, connected, _) = confined(TcpUse::Needed);
        assert!(denied.iter().all(is_denied), "{denied:?}");
        assert!(connected.is_ok(), "{connected:?}");
    }
}
