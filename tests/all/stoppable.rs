//! Runs that signals stop, also if a script started these tests in its background.

use std::process::Command;
use std::sync::OnceLock;

/// Gives signals their usual effect in a program. Only `env` of GNU knows this option.
const USUAL_SIGNALS: &str = "--default-signal=INT,TERM,HUP";

/// `command`, without its standard streams, where signals stop it. A shell lets what it starts in the
/// background ignore SIGINT, and `nohup` SIGHUP; so do the programs that these start in turn.
pub fn stoppable(command: &Command) -> Command {
    static IS_KNOWN: OnceLock<bool> = OnceLock::new();
    let is_known = IS_KNOWN.get_or_init(|| {
        let tried = Command::new("env").args([USUAL_SIGNALS, "true"]).output();
        tried.is_ok_and(|ran| ran.status.success())
    });
    let mut stoppable = if *is_known {
        let mut env = Command::new("env");
        env.arg(USUAL_SIGNALS).arg(command.get_program());
        env
    } else {
        Command::new(command.get_program())
    };
    stoppable.args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        stoppable.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => stoppable.env(name, value),
            None => stoppable.env_remove(name),
        };
    }
    stoppable
}
