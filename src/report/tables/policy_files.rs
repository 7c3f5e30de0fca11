//! Requests for files beside robots.txt.

use crate::report::table::table;
use crate::table::columns::{BYTES, CRAWLER, ORIGIN, REQUESTS, SEEN, STATUSES};
use crate::table::schema::column;

table! {
    /// Requests for files beside robots.txt.
    pub const POLICY_FILES = "policy-files.csv", "each origin, crawler, identity and kind of file that the crawler requested: see [files](#policy-files)";
    rows of => of.audit.policy_files();
    (origin, (id, identity), file, answers) => {
    }
    cells row => {
        ORIGIN => row.text(origin),
        CRAWLER => row.crawler_and_identity(of.crawlers.registry.crawler(id), identity),
        column("file", "llms.txt, llms-full.txt, ai.txt, tdmrep.json, license, security.txt, ads.txt, app-ads.txt, humans.txt, sitemap", "kind of the file") => row.word(file.as_str()),
        REQUESTS => row.counts([answers.requests]),
        STATUSES => row.statuses(&answers.statuses),
        BYTES => row.counts([answers.bytes]),
        SEEN => row.span(answers.span),
    }
}
