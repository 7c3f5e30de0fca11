//! Imports Signature Agent Cards into a list of crawlers.

use std::io;
use std::path::{Path, PathBuf};

use crate::crawlers::card::{CARD_BYTES_MAX, CardOptions, CardRow, read_card};
use crate::crawlers::own_list::{OwnList, Put};
use crate::error::{Error, Result};
use crate::files::{read_up_to, take_up_to};
use crate::numbers::counted;
use crate::report::output::OutputFile;
use crate::report::outputs::{Outputs, Overwrite};
use crate::staged::is_stdout;
use crate::table::escape::{has_hidden, visible};

use super::console::{RunOutcome, SharedConsole};
use super::sandbox::access_rights::TcpUse;

/// An import that is ready to run.
#[derive(Debug)]
pub(crate) struct ImportCardRun {
    /// The cards; `-` is standard input.
    pub cards: Vec<PathBuf>,
    /// The list of crawlers; standard output if there is none.
    pub output: Option<PathBuf>,
    /// The name of the crawler, in place of that in the card.
    pub name: Option<String>,
    /// The operator.
    pub operator: Option<String>,
    /// The page at which the card was published.
    pub url: Option<String>,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl ImportCardRun {
    /// Imports all cards; a mistake in one does not stop the others.
    ///
    /// # Errors
    /// If a setting is not valid, the list cannot be read or written, or no card could be imported.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.check_settings()?;
        let output = self.output.as_deref().filter(|path| !is_stdout(path));
        let mut files = Outputs::new(Overwrite::Own);
        self.cards
            .iter()
            .filter(|path| !is_stdout(path))
            .for_each(|card| files.reads("FILE", card));
        output.map_or(Ok(()), |path| files.updated("-o", path))?;
        self.console.begin_with(&files, TcpUse::None);
        let mut list = match output {
            Some(path) => OwnList::read(path)?,
            None => OwnList::new(Path::new("crawlers.csv")),
        };
        let (mut added, mut replaced, mut refused) = (0, 0, 0);
        for path in &self.cards {
            match self.import(path, &mut list) {
                Ok(Put::Added) => added += 1,
                Ok(Put::Replaced) => replaced += 1,
                Err(mistakes) => {
                    refused += 1;
                    mistakes.iter().for_each(|mistake| self.console.error(&mistake.to_string()));
                }
            }
        }
        if added + replaced == 0 {
            return Err(Error::usage("no card was imported"));
        }
        match output {
            None => self.console.print(&list.text())?,
            Some(path) => {
                let mut file = OutputFile::create(path)?;
                file.put(list.text().as_bytes())?;
                file.commit()?;
                self.console.show(&format!(
                    "{}: {} added, {replaced} replaced\n",
                    visible(path.display().to_string().as_bytes()),
                    counted(added, "crawler"),
                ))?;
            }
        }
        Ok(if refused == 0 { RunOutcome::Done } else { RunOutcome::Incomplete })
    }

    fn check_settings(&self) -> Result<()> {
        if self.cards.len() > 1 && (self.name.is_some() || self.url.is_some()) {
            return Err(Error::usage("--name and --url are about one card; import one at a time"));
        }
        if self.url.as_ref().is_some_and(|url| !is_page(url)) {
            return Err(Error::usage("--url must begin with https://"));
        }
        let texts = [&self.name, &self.operator];
        if texts.into_iter().flatten().any(|text| has_hidden(text) || text.trim().is_empty()) {
            return Err(Error::usage("--name and --operator must be visible text"));
        }
        Ok(())
    }

    fn import(&self, path: &Path, list: &mut OwnList) -> std::result::Result<Put, Vec<Error>> {
        let text = read(path).map_err(|err| vec![err])?;
        let options = CardOptions {
            name: self.name.as_deref().map(str::trim),
            operator: self.operator.as_deref().map(str::trim),
            url: self.url.as_deref(),
            has_hidden,
        };
        let card = read_card(path, &text, options)?;
        let put = list.put(&card).map_err(|why| vec![OwnList::refused(path, &card, why)])?;
        self.tell(path, &card);
        Ok(put)
    }

    /// What a reader should know of an imported card.
    fn tell(&self, path: &Path, card: &CardRow) {
        let path = path.display();
        for note in &card.notes {
            self.console.note(&format!("{path}: {note}"));
        }
        if OwnList::is_builtin(&card.name) {
            self.console.warn(&format!("{path}: replaces the built-in crawler {}", card.name));
        }
    }
}

fn is_page(url: &str) -> bool {
    url.starts_with("https://") && url.bytes().all(|byte| byte.is_ascii_graphic())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let read = match is_stdout(path) {
        true => take_up_to(io::stdin().lock(), CARD_BYTES_MAX),
        false => read_up_to(path, CARD_BYTES_MAX),
    };
    let text = read.map_err(|err| Error::io("cannot read", path, err))?;
    let why = || format!("larger than {} KiB, so it is not a card", CARD_BYTES_MAX >> 10);
    text.ok_or_else(|| Error::invalid_file(path, why()))
}
