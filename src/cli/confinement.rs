//! The process gives up what it does not need before it reads the first byte of a stranger.

use std::path::PathBuf;

use crate::report::outputs::Outputs;

use super::access_rights::{Confinement, TcpUse, restrict};
use super::shared::note;
use super::signals;
use super::system_calls::refuse_calls;
use super::terminal::{is_confined, is_verbose};

/// Confines the process to the files of `outputs`. Where that is not possible, and with
/// `--no-sandbox`, the run goes on as it is. Then signals are handled. Must be called before the
/// first thread is started.
pub fn confine(outputs: &Outputs, tcp: TcpUse) {
    if is_confined() {
        give_up_rights(outputs, tcp);
    }
    signals::handle();
}

fn give_up_rights(outputs: &Outputs, tcp: TcpUse) {
    let read: Vec<PathBuf> = outputs.read_directories().collect();
    let written: Vec<PathBuf> = outputs.written_directories().collect();
    let confinement = restrict(&read, &written, tcp);
    let calls = refuse_calls(tcp);
    if is_verbose() {
        note(&words(&confinement, &read, &written, tcp));
        note(&match calls {
            Ok(calls) => format!("{calls} system calls are refused"),
            Err(why) => format!("no system calls are refused: {why}"),
        });
    }
}

/// What held, for `--verbose`.
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
