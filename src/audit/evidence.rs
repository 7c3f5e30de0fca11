//! One violating request, whole: the evidence behind an accusation.

use std::sync::Arc;

use crate::error::Result;
use crate::input::source::FileId;
use crate::judge::robots::Robots;
use crate::logs::record::Record;
use crate::signatures::check::CheckedSignature;
use crate::time::UtcTime;

use super::origin_key::OriginKey;
use crate::crawlers::identity::Actor;

/// A request that a rule in force disallowed.
#[derive(Clone, Debug)]
pub struct ViolatingRequest {
    /// Its line, 1-based.
    pub line: u64,
    /// The requested origin.
    pub origin_key: Arc<OriginKey>,
    /// The crawler.
    pub actor: Actor,
    /// The version of robots.txt that decided.
    pub robots: Arc<Robots>,
    /// The line of the deciding rule, 1-based.
    pub rule_line: u32,
    /// The fetch time of the deciding snapshot; `None` if robots.txt is a single file.
    pub snapshot: Option<UtcTime>,
    /// When it was made.
    pub time: UtcTime,
    /// HTTP method.
    pub method: Box<[u8]>,
    /// The target as logged.
    pub target: Box<[u8]>,
    /// How it was answered.
    pub status: u16,
    /// The bytes of the answers.
    pub bytes: u64,
    /// The header.
    pub user_agent: Box<[u8]>,
    /// The address or name of the client.
    pub client: Box<[u8]>,
    /// The offset of its record in the archive of a crawl.
    pub record_offset: Option<u64>,
    /// Its signature, if it is valid.
    pub(crate) signature: Option<Box<CheckedSignature>>,
}

impl ViolatingRequest {
    /// Copies the parts that outlive the chunk.
    pub(crate) fn new(
        origin_key: Arc<OriginKey>,
        actor: Actor,
        (robots, rule_line, snapshot): (Arc<Robots>, u32, Option<UtcTime>),
        record: &Record<'_>,
        client: &[u8],
        line: u64,
    ) -> ViolatingRequest {
        ViolatingRequest {
            line,
            origin_key,
            actor,
            robots,
            rule_line,
            snapshot,
            time: record.time,
            method: record.method.into(),
            target: record.target.unwrap_or_default().into(),
            status: record.status,
            bytes: record.bytes,
            user_agent: record.user_agent.into(),
            client: client.into(),
            record_offset: record.record_offset,
            signature: None,
        }
    }
}

/// Messages to the writer of the evidence, from any thread.
#[derive(Debug)]
pub enum Evidence {
    /// The violating requests of one chunk, in the order of its lines; often none.
    Chunk {
        /// The input.
        input: FileId,
        /// The index of the chunk in the input, from 0.
        sequence: u64,
        /// The requests.
        requests: Vec<ViolatingRequest>,
    },
    /// The number of chunks of an input. May come before the last of them.
    End {
        /// The input.
        input: FileId,
        /// The number of chunks.
        chunks: u64,
    },
}

/// Takes the evidence; called from all threads.
pub type EvidenceSink<'a> = dyn Fn(Evidence) -> Result<()> + Sync + 'a;
