//! Whether the requests of crawlers were judged.
//!
//! A request of a crawler is judged if its verdict is allowed, violation or grace. "0 violations" is
//! a statement about judged requests. [`Coverage`] says whether there were any; the summary, the
//! page, `run.json`, mails, metrics and exit codes all say what it says.

/// Whether the requests of crawlers were judged: without tools and spoofed requests.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Coverage {
    /// There was no request of a crawler.
    #[default]
    NoRequest,
    /// There were requests, but none that robots.txt can bind.
    NoneBound,
    /// No request was judged: why, and what to do next.
    Nothing(String),
    /// Fewer requests were judged than `--min-judged-rate` demands.
    TooLittle {
        /// The requests that were judged.
        judged: u64,
        /// Why the others were not, and what to do next.
        why: String,
    },
    /// So many requests were judged.
    Enough {
        /// The requests that were judged.
        judged: u64,
    },
}

impl Coverage {
    /// The name in `run.json`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Coverage::NoRequest => "no-request",
            Coverage::NoneBound => "none-bound",
            Coverage::Nothing(_) => "nothing-judged",
            Coverage::TooLittle { .. } => "too-little-judged",
            Coverage::Enough { .. } => "judged",
        }
    }

    /// How many requests were judged.
    pub(crate) fn judged(&self) -> u64 {
        match self {
            Coverage::TooLittle { judged, .. } | Coverage::Enough { judged } => *judged,
            Coverage::NoRequest | Coverage::NoneBound | Coverage::Nothing(_) => 0,
        }
    }

    /// Why nothing was judged, though there was something to judge.
    pub(crate) fn nothing(&self) -> Option<&str> {
        if let Coverage::Nothing(why) = self { Some(why) } else { None }
    }

    /// Why too little was judged, though something was.
    pub(crate) fn too_little(&self) -> Option<&str> {
        if let Coverage::TooLittle { why, .. } = self { Some(why) } else { None }
    }

    /// Why the audit failed: nothing was judged, or too little.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.nothing().or(self.too_little())
    }
}
