//! The entry point: parse, run, exit code.
fn main() -> std::process::ExitCode {
    botaudit::cli::main()
}
