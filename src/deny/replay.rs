//! Tries rules on logs: which requests would have been refused?
//!
//! The rules are tried by their text, as the servers try them. Only who is refused is decided by the
//! registry.

use std::{collections::BTreeMap, net::IpAddr, path::Path, sync::Arc};

use crate::audit::client::client_address;
use crate::audit::probe::detected_format;
use crate::crawlers::cache::{UserAgentCache, identify_cached};
use crate::crawlers::networks::{Network, Networks};
use crate::crawlers::{identify::Identified, pattern::Pattern, registry::Registry};
use crate::error::{Error, Result};
use crate::input::chunks::{Chunk, Chunks};
use crate::input::source::{FileId, Source};
use crate::input::{lines::lines, open::open};
use crate::logs::LineContent;
use crate::logs::format::{Format, Hints};
use crate::logs::pieces::{NumberedText, Pieces};
use crate::logs::record::{Record, Scratch};
use crate::numbers::{counted, grouped};
use crate::table::escape::visible;
use crate::url::path::Target;

use super::rules::{AgentGroup, DeniedNetworks};
use super::selection::DeniedCrawler;

/// The bytes of a chunk.
const CHUNK_BYTES: usize = 256 << 10;

/// The most bytes of a user agent in an error.
const SHOWN_BYTES_MAX: usize = 200;

/// The bytes of a request that a form lets pass.
const ROBOTS_TXT: &[u8] = b"/robots.txt";

/// Rules as they stand, and who they are for.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    registry: &'a Registry,
    denied: &'a [DeniedCrawler],
    groups: Vec<PatternGroup>,
    networks: Networks,
    exempts_robots_txt: bool,
    counts: ReplayCounts,
}

/// What would have been refused.
#[derive(Debug, Default)]
pub(crate) struct ReplayCounts {
    /// All requests.
    pub requests: u64,
    /// Those that would have been refused, by crawler.
    pub refused: BTreeMap<String, u64>,
    /// Lines without a request that can be read.
    pub unread: u64,
    /// Requests of others that would have been refused.
    outside: u64,
    first_outside: Option<RefusedOther>,
}

#[derive(Debug)]
struct RefusedOther {
    file: String,
    line: u64,
    who: String,
}

#[derive(Debug)]
struct PatternGroup {
    excepts: Vec<Pattern>,
    denied: Vec<Pattern>,
}

impl PatternGroup {
    fn new(group: &AgentGroup) -> Result<PatternGroup> {
        let pattern = |text: &String| {
            let pattern = Pattern::new(text.clone());
            pattern.check().map(|()| pattern).map_err(Error::usage)
        };
        let excepts = group.excepts.iter().map(pattern).collect::<Result<_>>()?;
        let denied = group.denied.iter().map(|agent| pattern(&agent.pattern));
        Ok(PatternGroup { excepts, denied: denied.collect::<Result<_>>()? })
    }

    fn refuses(&self, user_agent: &[u8]) -> bool {
        let is_match = |pattern: &Pattern| pattern.is_match(user_agent);
        self.denied.iter().any(is_match) && !self.excepts.iter().any(is_match)
    }
}

impl<'a> Replay<'a> {
    /// Rules for `denied`, as they are written.
    ///
    /// # Errors
    /// If a pattern cannot be compiled.
    pub(crate) fn new(
        registry: &'a Registry,
        denied: &'a [DeniedCrawler],
        groups: &[AgentGroup],
        networks: &[DeniedNetworks],
        exempts_robots_txt: bool,
    ) -> Result<Replay<'a>> {
        let groups = groups.iter().map(PatternGroup::new).collect::<Result<_>>()?;
        let networks = networks.iter().flat_map(|denied| &denied.networks);
        let ends = networks.map(|network| Network::between(network.network(), network.broadcast()));
        let networks = Networks::new(ends.filter_map(std::result::Result::ok));
        let counts = ReplayCounts::default();
        Ok(Replay { registry, denied, groups, networks, exempts_robots_txt, counts })
    }

    /// Tries the rules on all of `sources`.
    ///
    /// # Errors
    /// If a log cannot be read to its end, or if a request outside of the selection would have been
    /// refused. The error names its line.
    pub(crate) fn run(mut self, sources: &[Source], hints: &Hints) -> Result<ReplayCounts> {
        let mut cache = UserAgentCache::default();
        for source in sources {
            let mut chunks =
                Chunks::of_log(FileId::from_index(0), open(source, &Arc::default())?, CHUNK_BYTES);
            let mut format = detected_format(&mut chunks, hints).reading_format();
            let mut pieces = format.pieces();
            while let Some(Chunk { bytes, first_line, .. }) = chunks.next_chunk(Vec::new()) {
                let mut text = NumberedText { bytes, first_line };
                pieces.iter_mut().for_each(|pieces| pieces.join(&mut text));
                self.lines(&text, &format, &source.name, &mut cache);
                format.advance(&text.bytes);
            }
            if let Some(rest) = pieces.and_then(Pieces::end) {
                self.lines(&rest, &format, &source.name, &mut cache);
            }
            if let Some(damage) = chunks.ending().damage {
                return Err(Error::invalid_file(Path::new(&source.name), damage.to_string()));
            }
        }
        match self.counts.first_outside.take() {
            None => Ok(self.counts),
            Some(RefusedOther { file, line, who }) => {
                let count = counted(self.counts.outside, "request");
                let why = format!(
                    "these rules would refuse {who}, and {count} in all by clients that the \
                     condition does not select; nothing was written"
                );
                Err(Error::invalid(Path::new(&file), line, why))
            }
        }
    }

    fn lines(
        &mut self,
        text: &NumberedText,
        format: &Format,
        file: &str,
        cache: &mut UserAgentCache,
    ) {
        let (mut reader, mut scratch) = (format.reader(), Scratch::default());
        for (line, text) in (text.first_line..).zip(lines(&text.bytes)) {
            let record = match reader.line(text) {
                LineContent::Skip(_) => continue,
                LineContent::Reject(reason) => Err(reason),
                LineContent::Fields(fields) => fields.record(&mut scratch),
            };
            let Ok(record) = record else {
                self.counts.unread += 1;
                continue;
            };
            self.counts.requests += 1;
            if self.refuses(&record) {
                let identified = identify_cached(self.registry, record.user_agent, cache);
                self.count(identified, &record, file, line);
            }
        }
    }

    fn refuses(&self, record: &Record<'_>) -> bool {
        let path = record.target.and_then(|target| Target::of(record.method, target).path());
        let path = path.and_then(|path| path.split(|byte| *byte == b'?').next());
        let is_exempt = self.exempts_robots_txt && path == Some(ROBOTS_TXT);
        let is_denied = |address: IpAddr| self.networks.contains(address);
        !is_exempt
            && (self.groups.iter().any(|group| group.refuses(record.user_agent))
                || client_address(record, &[]).is_some_and(is_denied))
    }

    fn count(&mut self, identified: Identified, record: &Record<'_>, file: &str, line: u64) {
        let who = match identified {
            Identified::Crawler(id) => {
                let name = &self.registry.crawler(id).name;
                if self.denied.iter().any(|denied| denied.id == id) {
                    *self.counts.refused.entry(name.clone()).or_default() += 1;
                    return;
                }
                name
            }
            Identified::Generic => "an unknown crawler",
            Identified::Other => "a browser",
            Identified::Empty => "a client without a user agent",
        };
        self.counts.outside += 1;
        if self.counts.first_outside.is_none() {
            let user_agent = &record.user_agent[..record.user_agent.len().min(SHOWN_BYTES_MAX)];
            let who = format!("{who} ('{}')", visible(user_agent));
            self.counts.first_outside = Some(RefusedOther { file: file.to_owned(), line, who });
        }
    }
}

impl ReplayCounts {
    /// The counts in lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let refused: u64 = self.refused.values().sum();
        let of = counted(self.requests, "request");
        let mut lines = vec![format!(
            "{} of {of} would have been refused, none of them by a browser or another crawler",
            grouped(refused)
        )];
        lines.extend(
            self.refused.iter().map(|(name, count)| format!("  {name}: {}", grouped(*count))),
        );
        if self.unread > 0 {
            lines.push(format!("{} could not be parsed", counted(self.unread, "line")));
        }
        lines
    }
}
