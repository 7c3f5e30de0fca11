//! What takes long, in a thread of its own: audits of logs, and fetches of robots.txt files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use botaudit::config::{audit_config::OPTIONS, option::InPython};
use botaudit::run::robots::fetch::FetchRequest;
use botaudit::{Audit, AuditConfig, AuditProgress};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::exception;

/// How often Python handles signals and the progress is told.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long a stopped audit may take to end; then it ends in the background.
const END_MAX: Duration = Duration::from_secs(10);

/// A finished audit. See `pybotaudit/_audit.py`, which is the interface.
#[pyclass(frozen, module = "pybotaudit._botaudit")]
pub struct AuditReport(botaudit::AuditReport);

#[pymethods]
impl AuditReport {
    /// The names of the tables.
    fn tables(&self) -> Vec<&'static str> {
        self.0.tables().map(|table| table.name()).collect()
    }

    /// A table as CSV, with the names and units of its columns; `None` if there is none of that name.
    #[allow(clippy::type_complexity)]
    fn table<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> Option<(Bound<'py, PyBytes>, Vec<(&'static str, &'static str)>)> {
        let table = self.0.table(name)?;
        let csv = py.detach(|| table.csv());
        let columns = table.columns().iter().map(|column| (column.name, column.unit));
        Some((PyBytes::new(py, &csv), columns.collect()))
    }

    /// The text of `run.json`.
    fn run_json(&self) -> String {
        self.0.run_json()
    }

    /// The summary that the command prints.
    fn summary(&self) -> String {
        self.0.summary()
    }

    /// What to know before anybody acts on the report.
    fn warnings(&self) -> Vec<String> {
        self.0.warnings().collect()
    }

    /// Whether a crawler broke a rule.
    fn has_violations(&self) -> bool {
        self.0.has_violations()
    }

    /// The conditions of `fail_on` that rows of the summary meet.
    fn failed_conditions(&self) -> Vec<String> {
        self.0.failed_conditions()
    }

    /// Whether all logs and robots.txt files could be read to their ends.
    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    /// Why no request was judged, or too few were.
    fn unjudged(&self) -> Option<String> {
        self.0.unjudged().map(str::to_owned)
    }

    /// Writes the report directory.
    fn save(&self, py: Python<'_>, directory: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.write(directory)).map_err(exception)
    }
}

/// Audits `logs` with `settings`, which are TOML, in a thread of its own. Meanwhile Python handles
/// signals, and `progress` gets the bytes that were read and of all of them.
#[pyfunction]
pub fn audit(
    py: Python<'_>,
    logs: Vec<OsString>,
    settings: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<AuditReport> {
    let audit = Audit::new(AuditConfig::from_toml(settings).map_err(exception)?);
    in_thread(py, progress, move |followed| audit.run_followed(logs, followed)).map(AuditReport)
}

/// What to fetch, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wanted {
    origins: Vec<String>,
    archive: PathBuf,
    from_log: Vec<OsString>,
    jobs: usize,
    delay: f64,
    timeout: f64,
    user_agent: Option<String>,
    ca_file: Option<PathBuf>,
    allow_private_addresses: bool,
    fetch_any_port: bool,
    fetch_budget: f64,
}

/// Fetches robots.txt files into an archive. Returns the number of origins with each outcome, and
/// warnings.
#[pyfunction]
pub fn fetch(py: Python<'_>, wanted: Wanted) -> PyResult<(BTreeMap<String, u64>, Vec<String>)> {
    let request = FetchRequest {
        origins: wanted.origins,
        archive: wanted.archive,
        from_log: wanted.from_log,
        jobs: wanted.jobs,
        delay: wanted.delay,
        timeout: wanted.timeout,
        user_agent: wanted.user_agent,
        ca_file: wanted.ca_file,
        allow_private_addresses: wanted.allow_private_addresses,
        fetch_any_port: wanted.fetch_any_port,
        fetch_budget: wanted.fetch_budget,
    };
    in_thread(py, None, move |followed| request.run(followed))
}

/// Runs `job` in a thread of its own, and stops it if Python handles a signal by an exception.
fn in_thread<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&AuditProgress) -> botaudit::Result<T> + Send + 'static,
) -> PyResult<T> {
    let followed = AuditProgress::default();
    let (send, receive) = channel();
    let finished = Mutex::new(receive);
    let next = |most| lock(&finished).recv_timeout(most);
    let (inside, builder) = (followed.clone(), thread::Builder::new().name("botaudit".into()));
    let thread = builder.spawn(move || drop(send.send(job(&inside))));
    let thread = thread.map_err(|err| PyOSError::new_err(err.to_string()))?;
    loop {
        match py.detach(|| next(INTERVAL)) {
            Ok(result) => {
                tell(&followed, progress)?;
                return result.map_err(exception);
            }
            Err(RecvTimeoutError::Timeout) => {
                let told = py.check_signals().and_then(|()| tell(&followed, progress));
                if let Err(err) = told {
                    followed.stop();
                    drop(py.detach(|| next(END_MAX)));
                    return Err(err);
                }
            }
            // The thread panicked. pyo3 makes an exception of it.
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => return Err(PyOSError::new_err("the thread ended early")),
            },
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tell(followed: &AuditProgress, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    progress.call1(followed.bytes()).map(drop)
}

/// The keys of settings that are arguments, and whether several values of one are joined by commas.
#[pyfunction]
pub fn audit_settings() -> Vec<(&'static str, bool)> {
    let allowed = OPTIONS.iter().filter(|option| option.python != InPython::Refused);
    allowed.map(|option| (option.key, matches!(option.python, InPython::Joined(_)))).collect()
}
