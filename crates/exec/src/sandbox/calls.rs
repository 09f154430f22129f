//! The system calls that an interpreter needs for computing.
//!
//! Others are unknown to it, as on an older kernel: libraries then do without, so that a newer one
//! works. That includes `clone3` and `openat2`, whose arguments a filter cannot see.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Allowed with all arguments.
#[rustfmt::skip]
const ALLOWED: &[c_long] = &[
    // files that are open, and names
    libc::SYS_close, libc::SYS_close_range, libc::SYS_dup, libc::SYS_dup3, libc::SYS_fadvise64,
    libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_fstat, libc::SYS_fstatfs, libc::SYS_getcwd,
    libc::SYS_getdents64, libc::SYS_lseek, libc::SYS_newfstatat, libc::SYS_pread64,
    libc::SYS_preadv, libc::SYS_read, libc::SYS_readlinkat, libc::SYS_readv, libc::SYS_statfs,
    libc::SYS_statx, libc::SYS_write, libc::SYS_writev,
    // waiting
    libc::SYS_clock_nanosleep, libc::SYS_epoll_create1, libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait, libc::SYS_eventfd2, libc::SYS_nanosleep, libc::SYS_pipe2,
    libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_restart_syscall, libc::SYS_sched_yield,
    // memory and threads
    libc::SYS_brk, libc::SYS_futex, libc::SYS_get_robust_list, libc::SYS_madvise,
    libc::SYS_membarrier, libc::SYS_mmap, libc::SYS_mprotect, libc::SYS_mremap, libc::SYS_munmap,
    libc::SYS_rseq, libc::SYS_sched_getaffinity, libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    // signals to itself
    libc::SYS_getitimer, libc::SYS_rt_sigaction, libc::SYS_rt_sigpending,
    libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_rt_sigtimedwait,
    libc::SYS_setitimer, libc::SYS_sigaltstack,
    // facts
    libc::SYS_clock_getres, libc::SYS_clock_gettime, libc::SYS_getcpu, libc::SYS_getegid,
    libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getgroups, libc::SYS_getpid, libc::SYS_getppid,
    libc::SYS_getrandom, libc::SYS_getresgid, libc::SYS_getresuid, libc::SYS_getrlimit,
    libc::SYS_getrusage, libc::SYS_gettid, libc::SYS_gettimeofday, libc::SYS_getuid,
    libc::SYS_sysinfo, libc::SYS_times, libc::SYS_uname,
    // becoming the interpreter, its limits and its end
    libc::SYS_execve, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_setrlimit,
];

/// The same, of an architecture.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OF_ARCHITECTURE: &[c_long] = &[
    libc::SYS_access, libc::SYS_arch_prctl, libc::SYS_dup2, libc::SYS_epoll_wait,
    libc::SYS_getdents, libc::SYS_getpgrp, libc::SYS_lstat, libc::SYS_pipe, libc::SYS_poll,
    libc::SYS_readlink, libc::SYS_select, libc::SYS_stat, libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OF_ARCHITECTURE: &[c_long] = &[];

/// Flags of `open` other than for reading.
const WRITES: i32 = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND;
/// Commands of `fcntl` about the file descriptor.
#[rustfmt::skip]
const FCNTL: &[i32] = &[
    libc::F_DUPFD, libc::F_DUPFD_CLOEXEC, libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL,
];

/// `TCGETS`, `TIOCGWINSZ`, `FIONREAD`, `FIONBIO`, `FIONCLEX` and `FIOCLEX`.
const IOCTL: &[u64] = &[0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451];

/// The filter for the process with this number.
pub(super) fn filter(process: u32) -> Option<BpfProgram> {
    let all = ALLOWED.iter().chain(OF_ARCHITECTURE);
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> =
        all.map(|call| (*call, Vec::new())).collect();
    rules.extend(conditional(process.into()).ok()?);
    let architecture = std::env::consts::ARCH.try_into().ok()?;
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(rules, unknown, SeccompAction::Allow, architecture);
    filter.ok()?.try_into().ok()
}

/// The calls whose arguments count.
fn conditional(process: u64) -> Result<Vec<(c_long, Vec<SeccompRule>)>, BackendError> {
    let number = |number: i32| u64::from(number.unsigned_abs());
    let is = |argument, value| one_of(argument, &[value]);
    let opens = |argument| masked(argument, number(WRITES), number(libc::O_RDONLY));
    let thread = number(libc::CLONE_THREAD);
    let commands: Vec<u64> = FCNTL.iter().map(|command| number(*command)).collect();
    Ok(vec![
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, opens(1)?),
        (libc::SYS_openat, opens(2)?),
        (libc::SYS_clone, masked(0, thread, thread)?),
        (libc::SYS_fcntl, one_of(1, &commands)?),
        (libc::SYS_ioctl, one_of(1, IOCTL)?),
        (libc::SYS_kill, is(0, process)?),
        (libc::SYS_tgkill, is(0, process)?),
        (libc::SYS_tkill, is(0, process)?),
        (libc::SYS_prlimit64, one_of(0, &[0, process])?),
    ])
}

/// An argument has one of these values.
fn one_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |value: &u64| {
        let condition = SeccompCondition::new(argument, Dword, Eq, *value)?;
        SeccompRule::new(vec![condition])
    };
    values.iter().map(rule).collect()
}

/// The bits of an argument that are in `mask` have this value.
fn masked(argument: u8, mask: u64, value: u64) -> Result<Vec<SeccompRule>, BackendError> {
    let condition = SeccompCondition::new(argument, Dword, MaskedEq(mask), value)?;
    Ok(vec![SeccompRule::new(vec![condition])?])
}
