//! Outputs are whole or not there, whatever fails: every call that writes, a limit, a kill, a
//! second run.
//!
//! - `shim`: a library that is preloaded before libc, in which one call fails.
//! - `scenario`: commands, the outputs before and after them, and the checks of a disturbed run.
//! - `calls`: each call that writes fails once, or kills the process.
//! - `runs`: limits of the system, kills at random moments, and two runs at once.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod calls;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod runs;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod scenario;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod shim;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
#[test]
#[ignore = "calls can be made to fail on Linux with the C library of GNU only"]
fn every_call_that_writes_fails_once() {}
