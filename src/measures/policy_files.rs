//! Requests for files beside robots.txt: `policy-files.csv`.

use crate::judge::policy_files::PolicyFile;
use crate::table::columns::{BYTES, REQUESTS, SEEN, STATUSES};
use crate::table::schema::column;

use super::request::{AllRequests, JudgedRequest, Measure};
use super::{answer_tally::AnswerTally, short_map::ShortMap, table::measure_table};

/// Requests by the kind of the file.
pub(crate) type ByPolicyFile = ShortMap<PolicyFile, AnswerTally>;

impl Measure for ByPolicyFile {
    fn count(&mut self, request: &JudgedRequest<'_>) {
        if let Some(file) = request.policy_file {
            let record = request.record;
            self.entry(file).count(record.time, record.status, record.bytes);
        }
    }

    fn holds(&self, all: &AllRequests) -> bool {
        let requests = self.values().try_fold(0u64, |sum, file| {
            sum.checked_add(file.requests).filter(|_| file.holds(all.span))
        });
        let others = all.total.requests - all.total.robots_txt_requests - all.total.no_path;
        requests.is_some_and(|requests| requests <= others)
    }
}

measure_table! {
    /// Requests for files beside robots.txt.
    pub(crate) const TABLE: ByPolicyFile = "policy-files.csv", "each origin, crawler, identity and kind of file that the crawler requested: see [files](#policy-files)";
    rows of => of.iter();
    (file, answers) => {}
    cells row => {
        column("file", "llms.txt, llms-full.txt, ai.txt, tdmrep.json, license, security.txt, ads.txt, app-ads.txt, humans.txt, sitemap", "kind of the file") => row.word(file.as_str()),
        REQUESTS => row.counts([answers.requests]),
        STATUSES => row.counts(answers.statuses.counts()),
        BYTES => row.counts([answers.bytes]),
        SEEN => row.maybe(answers.span, 2, |row, span| row.time(span.first).time(span.last)),
    }
}
