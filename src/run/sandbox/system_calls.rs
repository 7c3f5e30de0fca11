//! seccomp, a part of Linux, with which a process gives up system calls that it never makes.
//!
//! Files and TCP are the part of [`super::access_rights`]. A call that is given up fails with
//! EPERM, and the run goes on.

use super::access_rights::TcpUse;

/// From now on, the kernel refuses this thread and those that it starts the calls that no run
/// needs, and calls that open sockets unless the network is used. Returns their number.
///
/// # Errors
/// Why nothing is refused.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn refuse_calls(_tcp: TcpUse) -> Result<usize, String> {
    Err("only Linux on x86-64 and ARM64 is supported".to_owned())
}

/// The same, where it is supported.
///
/// # Errors
/// Why nothing is refused.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn refuse_calls(tcp: TcpUse) -> Result<usize, String> {
    filter::install(tcp)
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod filter {
    use std::collections::BTreeMap;

    use libc::{AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, SOCK_DGRAM, SOCK_STREAM, c_long};
    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
        SeccompFilter, SeccompRule, TargetArch, apply_filter,
    };

    use super::super::access_rights::TcpUse;

    /// Calls that no confined run makes, whatever their arguments.
    const NEVER: [c_long; 79] = [
        // Other processes.
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_kcmp,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_migrate_pages,
        libc::SYS_move_pages,
        // Other programs.
        libc::SYS_execve,
        libc::SYS_execveat,
        // Other users and rights.
        libc::SYS_setuid,
        libc::SYS_setgid,
        libc::SYS_setreuid,
        libc::SYS_setregid,
        libc::SYS_setresuid,
        libc::SYS_setresgid,
        libc::SYS_setfsuid,
        libc::SYS_setfsgid,
        libc::SYS_setgroups,
        libc::SYS_capset,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        // Namespaces and mounts.
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_fsopen,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fspick,
        libc::SYS_mount_setattr,
        libc::SYS_name_to_handle_at,
        libc::SYS_open_by_handle_at,
        libc::SYS_mknodat,
        libc::SYS_fanotify_init,
        libc::SYS_fanotify_mark,
        libc::SYS_quotactl,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        // The machine.
        libc::SYS_sethostname,
        libc::SYS_setdomainname,
        libc::SYS_reboot,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_acct,
        libc::SYS_syslog,
        libc::SYS_vhangup,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_clock_adjtime,
        libc::SYS_adjtimex,
        libc::SYS_personality,
        libc::SYS_lookup_dcookie,
        // Large interfaces of the kernel, in which mistakes are found often.
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_io_setup,
        libc::SYS_io_submit,
        libc::SYS_vmsplice,
        libc::SYS_mbind,
        libc::SYS_set_mempolicy,
        // Servers.
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_mq_open,
    ];

    /// The same, on x86-64 alone.
    #[cfg(target_arch = "x86_64")]
    const NEVER_HERE: [c_long; 9] = [
        libc::SYS_kexec_file_load,
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_mknod,
        libc::SYS_iopl,
        libc::SYS_ioperm,
        libc::SYS_modify_ldt,
        libc::SYS_uselib,
        libc::SYS_ustat,
    ];

    /// kexec_file_load, which not every C library names.
    #[cfg(target_arch = "aarch64")]
    const NEVER_HERE: [c_long; 1] = [294];

    /// The bit of calls with 32-bit pointers, which some kernels for x86-64 have, too.
    #[cfg(target_arch = "x86_64")]
    const X32: c_long = 0x4000_0000;

    /// The numbers of calls of which x32 has its own: ioctl, execve, ptrace, signals, kexec_load,
    /// vmsplice, move_pages, memory of other processes, io_setup, io_submit, execveat.
    #[cfg(target_arch = "x86_64")]
    const X32_NEVER: [c_long; 13] =
        [514, 520, 521, 524, 528, 532, 533, 536, 539, 540, 543, 544, 545];

    /// Bits of `clone` for new namespaces.
    const NAMESPACES: [i32; 7] = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];

    /// Requests to a terminal that type into it.
    const TYPING: [u64; 2] = [0x5412, 0x541c];

    /// The bits of a socket's type without its flags.
    const SOCKET_TYPE: u64 = 0xf;

    type Rules = BTreeMap<i64, Vec<SeccompRule>>;

    /// See [`super::refuse_calls`].
    pub(crate) fn install(tcp: TcpUse) -> Result<usize, String> {
        let programs = programs(tcp).map_err(|err| err.to_string())?;
        for (program, _) in &programs {
            apply_filter(program).map_err(|err| err.to_string())?;
        }
        Ok(programs.iter().map(|(_, calls)| calls).sum())
    }

    /// The programs for the kernel, each with the number of calls that it refuses.
    pub(super) fn programs(tcp: TcpUse) -> Result<[(BpfProgram, usize); 2], BackendError> {
        let mut rules: Rules = NEVER.into_iter().chain(NEVER_HERE).map(always).collect();
        rules.insert(libc::SYS_clone, clone()?);
        rules.insert(libc::SYS_ioctl, ioctl()?);
        rules.insert(libc::SYS_socket, socket(tcp)?);
        for kill in [libc::SYS_kill, libc::SYS_tgkill] {
            rules.insert(kill, vec![rule(vec![not(0, std::process::id().into())?])?]);
        }
        let calls = rules.len() + 1;
        #[cfg(target_arch = "x86_64")]
        {
            let x32: Rules =
                rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
            rules.extend(x32);
            rules.extend(X32_NEVER.into_iter().map(|call| always(call | X32)));
        }
        // Its arguments are in memory, where no filter sees them. The C library then uses `clone`.
        let clone3 = [always(libc::SYS_clone3)].into();
        Ok([(program(rules, libc::EPERM)?, calls - 1), (program(clone3, libc::ENOSYS)?, 1)])
    }

    fn program(rules: Rules, error: i32) -> Result<BpfProgram, BackendError> {
        let refused = SeccompAction::Errno(error.unsigned_abs());
        let arch = TargetArch::try_from(std::env::consts::ARCH)?;
        SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()
    }

    /// `call`, whatever its arguments.
    fn always(call: c_long) -> (i64, Vec<SeccompRule>) {
        (call, Vec::new())
    }

    /// New processes, and threads in new namespaces.
    fn clone() -> Result<Vec<SeccompRule>, BackendError> {
        let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
        let process = rule(vec![condition(0, SeccompCmpOp::MaskedEq(thread), 0)?])?;
        let namespaces = NAMESPACES.into_iter().map(|bit| {
            let bit = u64::from(bit.unsigned_abs());
            rule(vec![condition(0, SeccompCmpOp::MaskedEq(bit), bit)?])
        });
        std::iter::once(Ok(process)).chain(namespaces).collect()
    }

    fn ioctl() -> Result<Vec<SeccompRule>, BackendError> {
        let rules = TYPING.map(|request| rule(vec![condition(1, SeccompCmpOp::Eq, request)?]));
        rules.into_iter().collect()
    }

    /// All sockets, or all but those of TCP, of UDP, which name servers need, and those by which
    /// the C library resolves names.
    fn socket(tcp: TcpUse) -> Result<Vec<SeccompRule>, BackendError> {
        if tcp == TcpUse::None {
            return Ok(Vec::new());
        }
        let [inet, inet6, unix, netlink] =
            [AF_INET, AF_INET6, AF_UNIX, AF_NETLINK].map(|family| u64::from(family.unsigned_abs()));
        let [tcp, udp] = [libc::IPPROTO_TCP, libc::IPPROTO_UDP].map(i32::unsigned_abs);
        let other_type = || {
            let types = [SOCK_STREAM, SOCK_DGRAM].map(i32::unsigned_abs);
            (0..=SOCKET_TYPE)
                .filter(move |kind| !types.iter().any(|known| u64::from(*known) == *kind))
        };
        let mut rules =
            vec![rule(vec![not(0, inet)?, not(0, inet6)?, not(0, unix)?, not(0, netlink)?])?];
        for family in [inet, inet6] {
            let is = condition(0, SeccompCmpOp::Eq, family)?;
            for kind in other_type() {
                let kind = condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), kind)?;
                rules.push(rule(vec![is.clone(), kind])?);
            }
            // Neither the default of the type, nor TCP or UDP.
            let protocol = [not(2, 0)?, not(2, tcp.into())?, not(2, udp.into())?];
            rules.push(rule([vec![is], protocol.to_vec()].concat())?);
        }
        // Routes, by which the C library orders addresses.
        let route = u64::from(libc::NETLINK_ROUTE.unsigned_abs());
        rules.push(rule(vec![condition(0, SeccompCmpOp::Eq, netlink)?, not(2, route)?])?);
        Ok(rules)
    }

    fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, BackendError> {
        SeccompRule::new(conditions)
    }

    /// The argument differs from `value`.
    fn not(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
        condition(argument, SeccompCmpOp::Ne, value)
    }

    /// The kernel uses the low half of these arguments.
    fn condition(
        argument: u8,
        compare: SeccompCmpOp,
        value: u64,
    ) -> Result<SeccompCondition, BackendError> {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;
