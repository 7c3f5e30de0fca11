//! The format of Kubernetes' ingress-nginx: combined with nine fields behind.
//!
//! ```text
//! ... "user agent" <request length> <request time> [<upstream name>] [<alternative upstream>] ...
//! ```
//!
//! Its documentation of log formats has the raw `$request`; a configuration may have `$uri`
//! instead, which no line shows.

use crate::logs::combined::tail_and_request;

/// Whether most of `head` goes on after the user agent as ingress-nginx does.
pub fn is_ingress_nginx(head: &[&[u8]]) -> bool {
    let count = head.iter().filter(|line| has_tail(line).is_some()).count();
    head.is_empty() || count * 2 > head.len()
}

fn has_tail(line: &[u8]) -> Option<()> {
    let (tail, _) = tail_and_request(line)?;
    let mut tokens = tail.strip_prefix(b" ")?.split(|&byte| byte == b' ');
    let is_number = |token: &[u8]| {
        token.first().is_some_and(u8::is_ascii_digit)
            && token.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    let is_bracketed = |token: &[u8]| token.starts_with(b"[") && token.ends_with(b"]");
    let is_tail = is_number(tokens.next()?)
        && is_number(tokens.next()?)
        && is_bracketed(tokens.next()?)
        && is_bracketed(tokens.next()?);
    is_tail.then_some(())
}
