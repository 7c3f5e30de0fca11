use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;

use libc::c_long;
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::kill;
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::{Pid, chroot, gethostname, sethostname};
use seccompiler::sock_filter;

use super::filter::programs;
use super::*;

const ALLOW: u32 = 0x7fff_0000;
const EPERM: u32 = 0x0005_0001;
const ENOSYS: u32 = 0x0005_0026;

#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;

/// What the kernel answers to `call` by `program`: the machine of the kernel's documentation,
/// networking/filter, as far as a filter of system calls needs it.
fn answer(program: &[sock_filter], call: c_long, arguments: &[u64]) -> u32 {
    let mut data = [u32::try_from(call).unwrap().to_ne_bytes(), ARCH.to_ne_bytes()].concat();
    data.extend([0; 8]);
    (0..6).for_each(|at| data.extend(arguments.get(at).unwrap_or(&0).to_ne_bytes()));
    let (mut at, mut value) = (0, 0u32);
    loop {
        let step = &program[at];
        at += 1;
        let jump = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
        match step.code {
            0x20 => {
                let from = step.k as usize;
                value = u32::from_ne_bytes(data[from..from + 4].try_into().unwrap());
            }
            0x54 => value &= step.k,
            0x05 => at += step.k as usize,
            0x15 => at += jump(value == step.k),
            0x25 => at += jump(value > step.k),
            0x35 => at += jump(value >= step.k),
            0x06 => return step.k,
            code => panic!("instruction {code:#x}"),
        }
    }
}

/// The answer of all programs: the first that refuses.
fn answer_of_all(tcp: TcpUse, call: c_long, arguments: &[u64]) -> u32 {
    let programs = programs(tcp).unwrap();
    let answers = programs.map(|(program, _)| answer(&program, call, arguments));
    answers.into_iter().find(|answer| *answer != ALLOW).unwrap_or(ALLOW)
}

#[test]
fn calls_are_refused_by_number_and_arguments() {
    let own = u64::from(std::process::id());
    let thread = 0x3d_0f00;
    let cases: &[(c_long, &[u64], u32, u32)] = &[
        (libc::SYS_read, &[0], ALLOW, ALLOW),
        (libc::SYS_openat, &[], ALLOW, ALLOW),
        (libc::SYS_mmap, &[], ALLOW, ALLOW),
        (libc::SYS_futex, &[], ALLOW, ALLOW),
        (libc::SYS_ptrace, &[0], EPERM, EPERM),
        (libc::SYS_mount, &[], EPERM, EPERM),
        (libc::SYS_sethostname, &[], EPERM, EPERM),
        (libc::SYS_bpf, &[], EPERM, EPERM),
        (libc::SYS_keyctl, &[], EPERM, EPERM),
        (libc::SYS_io_uring_setup, &[], EPERM, EPERM),
        (libc::SYS_userfaultfd, &[], EPERM, EPERM),
        (libc::SYS_perf_event_open, &[], EPERM, EPERM),
        (libc::SYS_kexec_load, &[], EPERM, EPERM),
        (libc::SYS_finit_module, &[], EPERM, EPERM),
        (libc::SYS_execve, &[], EPERM, EPERM),
        (libc::SYS_clone3, &[], ENOSYS, ENOSYS),
        // A thread, a process, and a thread in a new name space of the network.
        (libc::SYS_clone, &[thread], ALLOW, ALLOW),
        (libc::SYS_clone, &[17], EPERM, EPERM),
        (libc::SYS_clone, &[thread | 0x4000_0000], EPERM, EPERM),
        (libc::SYS_clone, &[thread | 0x1000_0000], EPERM, EPERM),
        (libc::SYS_tgkill, &[own, 5, 6], ALLOW, ALLOW),
        (libc::SYS_tgkill, &[1, 1, 9], EPERM, EPERM),
        (libc::SYS_kill, &[own, 6], ALLOW, ALLOW),
        (libc::SYS_kill, &[u64::MAX, 9], EPERM, EPERM),
        // The size of a terminal, and typing into it, with a high half that the kernel ignores.
        (libc::SYS_ioctl, &[0, 0x5413], ALLOW, ALLOW),
        (libc::SYS_ioctl, &[0, 0x5412], EPERM, EPERM),
        (libc::SYS_ioctl, &[0, 1 << 32 | 0x5412], EPERM, EPERM),
        (libc::SYS_ioctl, &[0, 0x541c], EPERM, EPERM),
        // TCP, UDP and what resolves names; then raw sockets, ping, packets, the firewall, and others.
        (libc::SYS_socket, &[2, 0x80801, 0], EPERM, ALLOW),
        (libc::SYS_socket, &[10, 0x80001, 6], EPERM, ALLOW),
        (libc::SYS_socket, &[2, 0x80802, 17], EPERM, ALLOW),
        (libc::SYS_socket, &[1, 0x80801, 0], EPERM, ALLOW),
        (libc::SYS_socket, &[16, 0x80003, 0], EPERM, ALLOW),
        (libc::SYS_socket, &[2, 3, 255], EPERM, EPERM),
        (libc::SYS_socket, &[10, 0x80003, 58], EPERM, EPERM),
        (libc::SYS_socket, &[2, 2, 1], EPERM, EPERM),
        (libc::SYS_socket, &[2, 1, 132], EPERM, EPERM),
        (libc::SYS_socket, &[2, 5, 0], EPERM, EPERM),
        (libc::SYS_socket, &[17, 3, 768], EPERM, EPERM),
        (libc::SYS_socket, &[16, 3, 12], EPERM, EPERM),
        (libc::SYS_socket, &[38, 5, 0], EPERM, EPERM),
        (libc::SYS_socket, &[40, 1, 0], EPERM, EPERM),
        (libc::SYS_listen, &[], EPERM, EPERM),
    ];
    for (call, arguments, none, needed) in cases {
        for (tcp, expected) in [(TcpUse::None, *none), (TcpUse::Needed, *needed)] {
            let found = answer_of_all(tcp, *call, arguments);
            assert_eq!(found, expected, "{call} {arguments:x?} {tcp:?}: {found:#x}");
        }
    }
}

/// Programs of x32 make the same calls by other numbers.
#[cfg(target_arch = "x86_64")]
#[test]
fn no_call_is_open_by_its_other_number() {
    for call in [libc::SYS_mount, libc::SYS_bpf, libc::SYS_fork, libc::SYS_socket, 520, 521, 539] {
        assert_eq!(answer_of_all(TcpUse::None, call | 0x4000_0000, &[]), EPERM, "{call}");
    }
}

/// Runs `job` on a thread that gave up calls, and on those that it starts.
fn confined<T: Send>(tcp: TcpUse, job: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let run = || match refuse_calls(tcp) {
            Ok(calls) => {
                assert!(calls > 80, "{calls}");
                thread::scope(|scope| scope.spawn(job).join().ok())
            }
            Err(why) => {
                eprintln!("skipped: {why}");
                None
            }
        };
        scope.spawn(run).join().unwrap()
    })
}

fn is_denied<T>(tried: Result<T, Error>) -> bool {
    tried.is_err_and(|err| err.kind() == ErrorKind::PermissionDenied)
}

#[test]
fn the_kernel_refuses_what_no_run_needs() {
    let host = gethostname().unwrap();
    let of_parent = RemoteIoVec { base: 4096, len: 1 };
    let done = confined(TcpUse::None, || {
        let none: Option<&str> = None;
        let tried = [
            ("mount", mount(none, "/", none, MsFlags::MS_REMOUNT | MsFlags::MS_BIND, none)),
            ("chroot", chroot("/")),
            ("sethostname", sethostname(host)),
            ("unshare", unshare(CloneFlags::CLONE_NEWUSER)),
            ("ptrace", nix::sys::ptrace::traceme()),
            ("kill", kill(Pid::parent(), None)),
        ];
        for (call, tried) in tried {
            assert_eq!(tried, Err(Errno::EPERM), "{call}");
        }
        let mut read = [0];
        let read = process_vm_readv(Pid::parent(), &mut [IoSliceMut::new(&mut read)], &[of_parent]);
        assert_eq!(read, Err(Errno::EPERM));
        assert!(is_denied(Command::new("/bin/true").status()));
        assert!(is_denied(UdpSocket::bind("127.0.0.1:0")));
        assert!(is_denied(TcpStream::connect("127.0.0.1:9")));
        // What runs need still works.
        kill(Pid::this(), None).unwrap();
        let (mut left, _right) = UnixStream::pair().unwrap();
        assert_eq!(left.write_vectored(&[IoSlice::new(b"x")]).unwrap(), 1);
        assert!(thread::available_parallelism().is_ok());
        tempfile::tempfile().unwrap();
        true
    });
    assert!(done.unwrap_or(true));
}

#[test]
fn a_run_that_needs_the_network_has_tcp_and_udp_and_no_more() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let done = confined(TcpUse::Needed, move || {
        TcpStream::connect(address).unwrap();
        UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(is_denied(TcpListener::bind("127.0.0.1:0")));
        for (family, kind) in [
            (AddressFamily::Inet, SockType::Raw),
            (AddressFamily::Packet, SockType::Raw),
            (AddressFamily::Vsock, SockType::Stream),
        ] {
            let made = socket(family, kind, SockFlag::empty(), None::<SockProtocol>);
            assert_eq!(made.map(drop), Err(Errno::EPERM), "{family:?}");
        }
        true
    });
    assert!(done.unwrap_or(true));
}
