//! Which logs name the hosts of their requests, by their first lines.

use std::collections::BTreeMap;

use crate::audit::probe::examine;
use crate::input::lasting_name::lasting_name;
use crate::input::source::Source;
use crate::logs::hints::Hints;

use super::log_identity::is_file;

/// The most files that are examined of a log and its rotated files. A short file may contain only
/// requests without a host, though the log has others.
const FILES_MAX: usize = 3;

/// Whether logs name hosts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct LogHosts {
    /// Logs without a host in any of their first lines.
    pub unnamed: Vec<String>,
    /// Whether another log names hosts.
    pub is_any_named: bool,
}

/// The examined files of a log.
#[derive(Default)]
struct Examined {
    files: usize,
    /// Whether one of them names a host.
    is_named: bool,
}

impl LogHosts {
    /// Examines the regular files of `sources`. A file that cannot be opened, or without requests,
    /// says nothing.
    pub(crate) fn of(sources: &[Source], hints: &Hints) -> LogHosts {
        let mut logs: BTreeMap<String, Examined> = BTreeMap::new();
        for source in sources.iter().filter(|source| is_file(source)) {
            let log = logs.entry(lasting_name(&source.name)).or_default();
            if log.is_named || log.files == FILES_MAX {
                continue;
            }
            if let Ok(probe) = examine(source, hints)
                && probe.records > 0
            {
                log.files += 1;
                log.is_named = probe.records_with_host > 0;
            }
        }
        let is_any_named = logs.values().any(|log| log.is_named);
        logs.retain(|_, log| log.files > 0 && !log.is_named);
        LogHosts { unnamed: logs.into_keys().collect(), is_any_named }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::source::expand;

    #[test]
    fn a_log_is_named_if_one_of_its_files_names_a_host() {
        const COMBINED: &str =
            "192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"x\"\n";
        let dir = tempfile::tempdir().unwrap();
        let vhost = format!("a.example:443 {COMBINED}");
        for (name, text) in [
            ("plain.log", COMBINED),
            ("plain.log.1", COMBINED),
            ("vhost.log", vhost.as_str()),
            ("mixed.log", COMBINED),
            ("mixed.log.1", vhost.as_str()),
            ("empty.log", ""),
            ("odd.log", "what\n"),
        ] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let hosts = |pattern: &str| {
            let found =
                LogHosts::of(&expand(&[dir.path().join(pattern).into()]), &Hints::default());
            (found.unnamed.len(), found.is_any_named)
        };
        assert_eq!(hosts("plain.log*"), (1, false));
        assert_eq!(hosts("vhost.log*"), (0, true));
        assert_eq!(hosts("mixed.log*"), (0, true));
        assert_eq!(hosts("[eo]*.log"), (0, false));
        assert_eq!(hosts("gone.log"), (0, false));
        assert_eq!(hosts("*"), (1, true));
    }
}
