//! Verdicts on columns of URLs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, RwLock};

use botaudit::Registry;
use botaudit::archive::{Store, memory::MemoryArchive};
use botaudit::classify::batch::{BatchContext, BatchMemory, judge};
use botaudit::classify::input_format::{CrawlerColumn, CrawlerSource, InputFormat, WantedColumns};
use botaudit::classify::url_parts::URL_BYTES_MAX;
use botaudit::classify::{known_origin::OriginCache, rows::InputRows};
use botaudit::crawlers::cache::UserAgentCache;
use botaudit::judge::messages::failure_messages;
use botaudit::judge::{Judge, profile::CrawlerProfile};
use botaudit::run::crawlers::unknown_crawler_name;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::answers::{AnswerTexts, Answers};
use crate::cells::Cells;
use crate::failure::exception;
use crate::robots_table::{self, BadRows};

/// The largest batch in bytes. With more rows, an origin occurs more often in a batch, and is looked
/// up less often.
const BATCH_BYTES_MAX: usize = 32 << 20;

/// The parts of the memory of which one is for the URLs of a batch; what is known of its rows takes
/// about as much again.
const BATCH_PARTS: usize = 8;

/// The most bytes of a name of a crawler, a user agent or a time that are read.
const CELL_BYTES_MAX: usize = 1 << 20;

/// See `pybotaudit/_classifier.py`, which is the interface.
#[pyclass(frozen, module = "pybotaudit._botaudit")]
pub struct Classifier {
    registry: Registry,
    /// The crawlers of all rows; `None` if each row names its crawler.
    names: Option<Vec<String>>,
    judge: RwLock<Judge>,
    /// The memory of threads that are not classifying now.
    memories: Mutex<Vec<BatchMemory>>,
    memory_bytes: usize,
}

/// The columns of one call.
struct Columns {
    url: Cells,
    crawler: Option<(Cells, bool)>,
    time: Option<Cells>,
}

#[pymethods]
impl Classifier {
    #[new]
    fn new(
        crawlers: Vec<String>,
        tokens: Vec<String>,
        user_agents: Vec<Vec<u8>>,
        dialect: &str,
        memory_bytes: usize,
    ) -> PyResult<Classifier> {
        let dialect = dialect
            .parse()
            .map_err(|why| PyValueError::new_err(format!("dialect '{dialect}': {why}")))?;
        let registry = Registry::builtin();
        let is_per_row = crawlers.is_empty() && tokens.is_empty() && user_agents.is_empty();
        let (names, profiles) = if is_per_row {
            (None, registry.iter().map(|(_, crawler)| CrawlerProfile::new(crawler)).collect())
        } else {
            let (names, profiles) = named(&registry, crawlers, tokens, &user_agents)?;
            (Some(names), profiles)
        };
        let nothing = Store::Memory(MemoryArchive::default());
        let judge = Judge::of_many(nothing, profiles, dialect, memory_bytes / 2);
        let judge = RwLock::new(judge.map_err(exception)?);
        Ok(Classifier { registry, names, judge, memories: Mutex::default(), memory_bytes })
    }

    /// The number of answers for a row.
    #[getter]
    fn per_row(&self) -> usize {
        self.crawlers().per_row()
    }

    /// Whether each row names its crawler.
    #[getter]
    fn is_per_row(&self) -> bool {
        self.names.is_none()
    }

    /// Judges by the robots.txt file, directory or archive at `path` from now on.
    fn set_path(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| Store::open(&path).and_then(|store| self.set_store(store))).map_err(exception)
    }

    /// Judges by the rows of a table from now on: batches of the columns `origin`, `fetched_at` in
    /// seconds, `outcome`, `max_age` and `body`. Nothing is known about the origins of rows that are
    /// not valid if it `forgets_bad_rows`; otherwise they are errors.
    fn set_table(
        &self,
        py: Python<'_>,
        batches: Vec<Vec<Bound<'_, PyAny>>>,
        forgets_bad_rows: bool,
    ) -> PyResult<()> {
        let bad_rows = if forgets_bad_rows { BadRows::Forget } else { BadRows::Fail };
        let batches: PyResult<Vec<_>> =
            batches.iter().map(|batch| robots_table::Batch::of(batch)).collect();
        let batches = batches?;
        let read = py.detach(|| {
            let memory = robots_table::read(&batches, bad_rows)?;
            self.set_store(Store::Memory(memory)).map_err(|err| err.to_string())
        });
        read.map_err(PyValueError::new_err)
    }

    /// The columns `names` of the answers to the rows of a batch.
    #[pyo3(signature = (url, crawler, is_user_agent, time, names, texts))]
    #[allow(clippy::too_many_arguments)]
    fn classify<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        crawler: Option<&Bound<'py, PyAny>>,
        is_user_agent: bool,
        time: Option<&Bound<'py, PyAny>>,
        names: Vec<String>,
        texts: &AnswerTexts,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let crawler = crawler.map(Cells::of).transpose()?.map(|cells| (cells, is_user_agent));
        let time = time.map(Cells::of).transpose()?;
        let columns = Columns { url: Cells::of(url)?, crawler, time };
        py.detach(|| self.answers(&columns, &names, texts)).into_pyarrow(py, texts)
    }

    /// Sentences about robots.txt files that could not be read, were not used, or are something else.
    fn warnings(&self) -> Vec<String> {
        let judge = self.judge.read().unwrap_or_else(PoisonError::into_inner);
        let mut all = failure_messages(&judge.failures());
        all.extend(judge.ignored_message());
        all.extend(judge.foreign_files());
        all.extend(judge.slow_message());
        all
    }
}

impl Classifier {
    fn crawlers(&self) -> CrawlerSource<'_> {
        match &self.names {
            Some(names) => CrawlerSource::Fixed(names.clone()),
            None => CrawlerSource::PerRow(&self.registry),
        }
    }

    fn set_store(&self, store: Store) -> botaudit::Result<()> {
        let mut judge = self.judge.write().unwrap_or_else(PoisonError::into_inner);
        judge.set_store(store)?;
        for memory in self.memories.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            memory.origins = self.origins();
        }
        Ok(())
    }

    fn origins(&self) -> OriginCache {
        OriginCache::new(self.memory_bytes / 8)
    }

    fn answers(&self, columns: &Columns, names: &[String], texts: &AnswerTexts) -> Answers {
        let judge = self.judge.read().unwrap_or_else(PoisonError::into_inner);
        let known = self.memories.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut memory = known.unwrap_or_else(|| BatchMemory {
            origins: self.origins(),
            user_agents: UserAgentCache::default(),
        });
        let crawlers = self.crawlers();
        let mut answers = Answers::new(names, columns.url.len() * crawlers.per_row(), texts);
        let detail = answers.detail();
        let context =
            BatchContext { judge: &judge, crawlers: &crawlers, default_scheme: None, detail };
        let batch_bytes = (self.memory_bytes / BATCH_PARTS).clamp(16 << 10, BATCH_BYTES_MAX);
        let mut start = 0;
        while start < columns.url.len() {
            let (rows, end) = columns.rows(start, batch_bytes);
            let judged = self::judge(&context, &columns.format(), rows, &mut memory);
            let is_null: Option<Vec<bool>> = columns
                .url
                .has_nulls()
                .then(|| (start..end).map(|row| columns.url.is_null(row)).collect());
            answers.append(&judged, &crawlers, is_null.as_deref());
            start = end;
        }
        self.memories.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
        answers
    }
}

impl Columns {
    fn format(&self) -> InputFormat {
        let crawler = self.crawler.as_ref().map(|(_, is_user_agent)| match is_user_agent {
            true => CrawlerColumn::UserAgent(1),
            false => CrawlerColumn::Crawler(1),
        });
        let time = self.time.as_ref().map(|_| 1 + usize::from(crawler.is_some()));
        let wanted = WantedColumns { url: 0, crawler, time };
        InputFormat::Delimited { delimiter: b',', header: Vec::new(), wanted }
    }

    /// The rows from `start` on, of about `bytes_max` bytes, and the row after the last one.
    fn rows(&self, start: usize, bytes_max: usize) -> (InputRows, usize) {
        if self.crawler.is_none()
            && self.time.is_none()
            && let Some(copied) = self.url.rows(start, bytes_max)
        {
            return copied;
        }
        let rows_left = self.url.len() - start;
        let cells = 1 + usize::from(self.crawler.is_some()) + usize::from(self.time.is_some());
        let (mut bytes, mut row) = (0, start);
        // A URL of a list has 80 bytes or so; others make it grow.
        let capacity = bytes_max.min(rows_left * 80);
        let mut rows = InputRows::with_capacity(rows_left, cells, capacity);
        while row < self.url.len() && bytes < bytes_max {
            let mut push = |cell: &[u8], bytes_max: usize| {
                let cell = &cell[..cell.len().min(bytes_max)];
                rows.push_cell(cell);
                bytes += cell.len();
            };
            // A longer URL is too long, whatever follows.
            push(self.url.text(row).unwrap_or_default().trim_ascii(), URL_BYTES_MAX + 1);
            if let Some((crawler, _)) = &self.crawler {
                push(crawler.text(row).unwrap_or_default(), CELL_BYTES_MAX);
            }
            if let Some(time) = &self.time {
                match time.number(row) {
                    Some(seconds) => push(seconds.to_string().as_bytes(), CELL_BYTES_MAX),
                    None => push(time.text(row).unwrap_or_default(), CELL_BYTES_MAX),
                }
            }
            rows.end_row();
            row += 1;
        }
        (rows, row)
    }
}

/// The names of `crawlers`, of `tokens` and of the senders of `user_agents` in answers, and their
/// profiles.
pub(crate) fn named(
    registry: &Registry,
    crawlers: Vec<String>,
    tokens: Vec<String>,
    user_agents: &[Vec<u8>],
) -> PyResult<(Vec<String>, Vec<CrawlerProfile>)> {
    let mut named = Vec::new();
    for name in crawlers {
        let crawler = registry.by_name(&name).ok_or_else(|| {
            let unknown = unknown_crawler_name(&name, registry);
            let next = match registry.product_token(&name) {
                Some(token) => format!("for any product token, use tokens=['{token}']"),
                None => "for a whole User-Agent header, use user_agent=".to_owned(),
            };
            PyValueError::new_err(format!("{unknown}; {next}"))
        })?;
        named.push((crawler.name.clone(), CrawlerProfile::new(crawler)));
    }
    for token in tokens {
        if token.is_empty() {
            return Err(PyValueError::new_err("tokens has an empty text; write tokens=['mybot']"));
        }
        let token = registry.checked_token(&token, "user_agent=").map_err(exception)?.to_owned();
        named.push((token.clone(), CrawlerProfile::of_token(token)));
    }
    let senders = user_agents.iter().map(|header| CrawlerProfile::of_sender(registry, header));
    named.extend(senders);
    let mut known = BTreeSet::new();
    if let Some((name, _)) = named.iter().find(|(name, _)| !known.insert(name.clone())) {
        return Err(PyValueError::new_err(format!("the crawler '{name}' is given twice")));
    }
    Ok(named.into_iter().unzip())
}
