//! robots.txt as data, from the package `botaudit-robots`, and the bytes that a tally keeps.

pub use botaudit_robots::robots::{
    crawl_delay, foreign, lines, model, parse, product_token, usage,
};

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_bytes::ByteBuf;

use model::ParsedRobotsTxt;
use parse::parse_body;

/// Bytes that are parsed once, on first use. Cheap to clone; serialized as bytes.
#[derive(Clone, Debug)]
pub struct RobotsBody {
    bytes: Bytes,
    text: Arc<OnceLock<Arc<ParsedRobotsTxt>>>,
}

impl RobotsBody {
    /// The bytes of `text`.
    pub(crate) fn new(text: Arc<ParsedRobotsTxt>) -> RobotsBody {
        RobotsBody { bytes: text.body.clone(), text: Arc::new(OnceLock::from(text)) }
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The parsed form.
    pub(crate) fn text(&self) -> &Arc<ParsedRobotsTxt> {
        self.text.get_or_init(|| Arc::new(parse_body(&self.bytes)))
    }
}

/// Equal bytes have equal parsed forms.
impl PartialEq for RobotsBody {
    fn eq(&self, other: &RobotsBody) -> bool {
        self.bytes == other.bytes
    }
}

impl Serialize for RobotsBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.bytes)
    }
}

impl<'de> Deserialize<'de> for RobotsBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RobotsBody, D::Error> {
        let bytes = ByteBuf::deserialize(deserializer)?.into_vec();
        Ok(RobotsBody { bytes: bytes.into(), text: Arc::default() })
    }
}
