//! The process gives up what it does not need before it reads the first byte of a stranger.

pub mod access_rights;
mod system_calls;

use std::path::PathBuf;

use crate::report::outputs::Outputs;

use access_rights::{Confinement, TcpUse, restrict};
use system_calls::refuse_calls;

/// Confines this thread, and those that it starts, to the files of `outputs`. Where that is not
/// possible, the run goes on as it is. Returns what held, for people.
pub(crate) fn confine(outputs: &Outputs, tcp: TcpUse) -> [String; 2] {
    let read: Vec<PathBuf> = outputs.read_directories().collect();
    let written: Vec<PathBuf> = outputs.written_directories().collect();
    let confinement = restrict(&read, &written, tcp);
    let calls = match refuse_calls(tcp) {
        Ok(calls) => format!("{calls} system calls are refused"),
        Err(why) => format!("no system calls are refused: {why}"),
    };
    [words(&confinement, &read, &written, tcp), calls]
}

/// What the kernel enforces.
fn words(confinement: &Confinement, read: &[PathBuf], written: &[PathBuf], tcp: TcpUse) -> String {
    let extent = match confinement {
        Confinement::Whole => "confined by the kernel",
        Confinement::Partial => "partly confined, because this kernel cannot do more",
        Confinement::Absent(why) => return format!("not confined: {why}"),
    };
    let listed = |directories: &[PathBuf]| match directories {
        [] => "no directory".to_owned(),
        [first] => first.display().to_string(),
        [first, more @ ..] => format!("{} and {} more", first.display(), more.len()),
    };
    let tcp = match tcp {
        TcpUse::None => "no network",
        TcpUse::Needed => "network",
    };
    format!("{extent}: reads {}, writes {}, {tcp}", listed(read), listed(written))
}
