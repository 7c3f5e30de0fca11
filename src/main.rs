//! The entry point: parse, run, exit code.

/// With musl's own allocator, audits of many origins take a tenth more time.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    botaudit::cli::main()
}
