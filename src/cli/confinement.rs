//! Confines the process unless the user wants it otherwise.

use crate::report::outputs::Outputs;
use crate::run::sandbox::{self, access_rights::TcpUse};

use super::terminal::{is_confined, is_verbose};
use super::{shared::note, signals};

/// Confines the process to the files of `outputs`, unless `--no-sandbox` is given. Then signals are
/// handled. Must be called before the first thread is started.
pub(crate) fn confine(outputs: &Outputs, tcp: TcpUse) {
    if is_confined() {
        let held = sandbox::confine(outputs, tcp);
        held.iter().filter(|_| is_verbose()).for_each(|what| note(what));
    }
    signals::handle();
}
