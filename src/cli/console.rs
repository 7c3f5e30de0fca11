//! The terminal as the console of a run.

use std::{fs::File, sync::Arc};

use crate::error::Result;
use crate::run::console::{Access, Console, MessageLevel, SharedConsole, Watched};

use super::progress::{Show, follow, follow_items};
use super::shared::{error, note, say, stdout_file, warn};
use super::{confinement::confine, signals, terminal};

/// The terminal, with the result shown as `Show` says.
#[derive(Debug)]
struct Terminal(Show);

/// The console of a run that shows its result and progress as `show` says.
pub(crate) fn console(show: Show) -> SharedConsole {
    Arc::new(Terminal(show))
}

impl Console for Terminal {
    fn tell(&self, level: MessageLevel, text: &str) {
        match level {
            MessageLevel::Error => error(text),
            MessageLevel::Warning => warn(text),
            MessageLevel::Note => note(text),
            MessageLevel::Plain if self.0 == Show::Nothing => {}
            MessageLevel::Plain => say(text),
        }
    }

    fn begin(&self, access: Access<'_>) {
        match access {
            Access::Files(files, tcp) => confine(files, tcp),
            Access::Any => signals::handle(),
        }
    }

    fn show(&self, text: &str) -> Result<()> {
        self.0.print(text)
    }

    fn is_verbose(&self) -> bool {
        terminal::is_verbose()
    }

    fn stdout(&self) -> Result<File> {
        stdout_file()
    }

    fn watch(&self, watched: &Watched<'_>, job: &mut dyn FnMut()) {
        match *watched {
            Watched::Bytes { total, done, text } => follow(self.0, total, done, text, job),
            Watched::Items { total, done } => follow_items(self.0, total, done, job),
        }
    }

    fn when_stopped(&self, step: Box<dyn FnOnce() + Send>) {
        signals::when_stopped(step);
    }
}
