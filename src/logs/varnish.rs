//! `varnishncsa` as it comes: combined, with absolute targets.
//!
//! Its default is `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i"` (varnishncsa(1)), and
//! `%r` is put together anew from the Host header, so that the host in the target is our own. In
//! an nginx or Apache log such a target is a probe for an open proxy.

use crate::logs::combined::tail_and_request;
use crate::logs::request;
use crate::url::origin::split_scheme;

/// Whether most of `head` asks for whole URLs.
pub fn is_varnish(head: &[&[u8]]) -> bool {
    let count = head.iter().filter(|line| has_url(line)).count();
    head.is_empty() || count * 2 > head.len()
}

fn has_url(line: &[u8]) -> bool {
    let request = tail_and_request(line).and_then(|(_, raw)| request::parse(raw).ok());
    request.and_then(|request| split_scheme(request.target?)).is_some()
}
