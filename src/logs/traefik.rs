//! Traefik's common log format: combined with four fields behind.
//!
//! ```text
//! ... "user agent" <request count> "<router>" "<server URL>" <duration>ms
//! ```
//!
//! Traefik drops all headers unless `fields.headers` says otherwise (its documentation of access
//! logs); the user agent is then `"-"`, on every line.

use crate::logs::combined::tail_and_request;
use crate::logs::field::RawField;

/// Whether most of `head` ends as Traefik's lines do.
pub fn is_traefik(head: &[&[u8]]) -> bool {
    let count = head.iter().filter(|line| has_tail(line).is_some()).count();
    head.is_empty() || count * 2 > head.len()
}

fn has_tail(line: &[u8]) -> Option<()> {
    let (tail, _) = tail_and_request(line)?;
    let tail = tail.strip_prefix(b" ")?;
    let digits = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (_router, rest) = RawField::take_quoted(tail[digits..].strip_prefix(b" ")?)?;
    let (_server, rest) = RawField::take_quoted(rest.strip_prefix(b" ")?)?;
    let duration = rest.strip_prefix(b" ")?.strip_suffix(b"ms")?;
    (digits > 0 && !duration.is_empty() && duration.iter().all(u8::is_ascii_digit)).then_some(())
}
