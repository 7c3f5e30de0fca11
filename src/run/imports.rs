//! Imports of what operators publish: copies of address lists or of directories of keys into an archive of them, and
//! Signature Agent Cards into a list of crawlers.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::archive::import::lists::{ImportedLists, ListImport, ListNames};
use crate::archive::import::{files::FetchedAt, list_history::import_git_lists};
use crate::crawlers::card::members::CardOptions;
use crate::crawlers::card::{CARD_BYTES_MAX, CardRow, read_card};
use crate::crawlers::key_archive::{KEY_DIRECTORIES, SignatureAgent};
use crate::crawlers::own_list::{OwnList, Put};
use crate::crawlers::range_archive::{ADDRESS_LISTS, PublishedKind, RangeArchive};
use crate::crawlers::{manifest::MANIFEST, range_files::HISTORY};
use crate::error::{Error, Result};
use crate::files::{read_up_to, take_up_to};
use crate::numbers::counted;
use crate::report::output::OutputFile;
use crate::report::outputs::{Outputs, Overwrite, check_directory_name};
use crate::staged::is_stdout;
use crate::table::escape::{has_hidden, visible};

use super::console::{Access, RunOutcome, SharedConsole};
use super::{crawlers::registry, robots::named::named_time, sandbox::access_rights::TcpUse};

/// The most problems that are listed; the others are counted.
const PROBLEMS_SHOWN_MAX: usize = 20;

/// What is imported.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ImportedKind {
    /// Address lists.
    Lists,
    /// Directories of keys.
    Keys,
}

impl ImportedKind {
    fn published(self) -> &'static PublishedKind {
        match self {
            ImportedKind::Lists => &ADDRESS_LISTS,
            ImportedKind::Keys => &KEY_DIRECTORIES,
        }
    }
}

/// An import that is ready to run.
#[derive(Debug)]
pub(crate) struct ImportRangesRun {
    /// What is imported.
    pub kind: ImportedKind,
    /// The directory of the lists; it is created if it does not exist.
    pub directory: PathBuf,
    /// Files, directories or repositories.
    pub paths: Vec<PathBuf>,
    /// A CSV file of crawlers.
    pub crawlers: Option<PathBuf>,
    /// The list that all files hold.
    pub url: Option<String>,
    /// The time of files without one, or `modified`.
    pub at: Option<String>,
    /// Whether the histories of the files are taken from git.
    pub is_git: bool,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl ImportRangesRun {
    /// Imports all paths; an error in one does not stop the others.
    ///
    /// # Errors
    /// If a setting is not valid, the directory cannot be written, or nothing could be imported.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let registry = registry(self.crawlers.as_deref())?;
        let at = match self.at.as_deref() {
            None => FetchedAt::Unsaid,
            Some("modified") => FetchedAt::Modified,
            Some(time) => FetchedAt::At(named_time(time)?),
        };
        let names = match self.kind {
            ImportedKind::Lists => ListNames::new(&registry),
            ImportedKind::Keys => {
                let urls: Vec<String> =
                    SignatureAgent::all().map(|agent| agent.directory()).collect();
                ListNames::of_urls(urls.iter().map(String::as_str))
            }
        };
        let url = self.url.as_deref().map(|url| self.named_list(url, &names)).transpose()?;
        self.check_files()?;
        let directory = &self.directory;
        fs::create_dir_all(directory).map_err(|err| Error::io("cannot create", directory, err))?;
        let mut archive = RangeArchive::open(directory, self.kind.published())?;
        let mut problems = 0;
        let mut problem = |err: Error| {
            problems += 1;
            if problems <= PROBLEMS_SHOWN_MAX {
                self.console.warn(&err.to_string());
            }
        };
        let mut import = ListImport {
            archive: &mut archive,
            names: &names,
            url,
            at,
            problems: &mut problem,
            imported: ImportedLists::default(),
        };
        let imported = self.paths.iter().try_for_each(|path| match self.is_git {
            true => import_git_lists(path, &mut import),
            false => import.import(path),
        });
        let added = import.imported;
        // What was imported before an error is kept.
        let saved = if added.added > 0 { archive.save_history() } else { Ok(()) };
        imported.and(saved)?;
        self.report(added, problems)
    }

    /// Checks that nothing that is imported is written.
    fn check_files(&self) -> Result<()> {
        check_directory_name("DIR", &self.directory)?;
        let mut outputs = Outputs::new(Overwrite::Own);
        self.crawlers.iter().for_each(|path| outputs.reads("--crawlers", path));
        for path in &self.paths {
            if !path.exists() {
                let err = std::io::ErrorKind::NotFound.into();
                return Err(Error::io("cannot read", path, err));
            }
            outputs.reads("PATH", path);
        }
        outputs.updated("DIR", &self.directory)?;
        for name in [MANIFEST.to_owned(), format!("{HISTORY}/{MANIFEST}")] {
            outputs.updated("DIR", &self.directory.join(name))?;
        }
        // git is a program of its own.
        match self.is_git {
            true => self.console.begin(Access::Any),
            false => self.console.begin_with(&outputs, TcpUse::None),
        }
        Ok(())
    }

    fn report(&self, imported: ImportedLists, problems: usize) -> Result<RunOutcome> {
        let ImportedLists { added, known, others } = imported;
        if problems > PROBLEMS_SHOWN_MAX {
            let more = counted((problems - PROBLEMS_SHOWN_MAX) as u64, "more problem");
            self.console.note(&format!("{more} not shown"));
        }
        if others > 0 {
            let others = counted(others, "file");
            self.console.say(&format!("ignored: {others} without the name of a known list"));
        }
        let (lists, example) = match self.kind {
            ImportedKind::Lists => ("lists", "gptbot-2026-03-01.json"),
            ImportedKind::Keys => ("directories of keys", "chatgpt.com-2026-03-01.json"),
        };
        self.console.show(&format!(
            "{} of {lists} added; {} skipped\n",
            counted(added, "version"),
            counted(known, "duplicate")
        ))?;
        match (added + known, problems) {
            (0, 0) => Err(Error::usage(format!(
                "no file has the name of a known list; use names such as {example}, or --url \
                 with the URL of the list",
            ))),
            (_, 0) => Ok(RunOutcome::Done),
            _ => Ok(RunOutcome::Incomplete),
        }
    }

    /// The URL of the registry for a list that the user names; any URL of a directory of keys.
    fn named_list<'a>(&self, url: &'a str, names: &'a ListNames) -> Result<&'a str> {
        names.url_now(url).ok_or_else(|| {
            Error::usage(match self.kind {
                ImportedKind::Lists => format!(
                    "--url {url} is not the list of a known crawler; see: botaudit crawlers show \
                     NAME"
                ),
                ImportedKind::Keys => format!("--url {url} must begin with https://"),
            })
        })
    }
}

/// An import that is ready to run.
#[derive(Debug)]
pub(crate) struct ImportCardRun {
    /// The cards; `-` is standard input.
    pub cards: Vec<PathBuf>,
    /// The list of crawlers; standard output if there is none.
    pub output: Option<PathBuf>,
    /// The name of the crawler, in place of that in the card.
    pub name: Option<String>,
    /// The built-in crawler that the card may replace; its name counts in place of that in the card.
    pub replace: Option<String>,
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
        let is_about_one = self.name.is_some() || self.replace.is_some() || self.url.is_some();
        if self.cards.len() > 1 && is_about_one {
            let why = "--name, --replace and --url are about one card; import one at a time";
            return Err(Error::usage(why));
        }
        if let Some(name) = self.replace.as_deref().filter(|name| !OwnList::is_builtin(name.trim()))
        {
            let name = visible(name.as_bytes());
            let why = format!("--replace: no built-in crawler has the name '{name}'; use --name");
            return Err(Error::usage(why));
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
            name: self.replace.as_deref().or(self.name.as_deref()).map(str::trim),
            operator: self.operator.as_deref().map(str::trim),
            url: self.url.as_deref(),
            has_hidden,
        };
        let card = read_card(path, &text, options)?;
        if self.replace.is_none() && OwnList::is_builtin(card.name.trim()) {
            let why = format!(
                "{0} is a built-in crawler; to replace it, use --replace '{0}'; for another name, use --name",
                card.name
            );
            return Err(vec![OwnList::refused(path, &card, why)]);
        }
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
