//! The formats that are built in: one row each.

use crate::logs::caveat::Caveat;
use crate::logs::detect::Hints;
use crate::logs::haproxy::Captures;
use crate::logs::layout::Layout;
use crate::logs::{ingress_nginx, traefik, varnish};

/// A built-in format.
#[derive(Debug)]
pub struct Entry {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// What writes it, in a few words.
    pub about: &'static str,
    /// Lines of this format: directives, if it has any, and one record.
    pub sample: &'static str,
    /// What it cannot tell.
    pub caveats: &'static [Caveat],
    /// The layout of a file that begins with these lines, blank ones left out. `None` where it
    /// is plainly not of this format; where it is, is told by reading the lines. Without any
    /// lines, the layout by default.
    pub layout: fn(head: &[&[u8]], hints: &Hints) -> Option<Layout>,
}

/// Every format; of two that read as many lines, the one that explains more of a line first.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "haproxy",
        about: "HAProxy's HTTP log (option httplog), in syslog or without its header",
        sample: r#"192.0.2.7:53332 [25/Feb/2019:16:19:48.143] www~ app/app1 0/0/7/1457/1487 200 11394 - - ---- 2/1/0/0/0 0/0 {example.com|Mozilla/5.0 (compatible; Examplebot/1.2)} {} "GET /music/ HTTP/1.1""#,
        caveats: &[Caveat::Truncated, Caveat::NoZone],
        layout: |head, hints| {
            let captures = hints.haproxy_captures.unwrap_or_else(|| Captures::told_from(head));
            Some(Layout::Haproxy(captures))
        },
    },
    Entry {
        name: "envoy",
        about: "Envoy's default format, and Istio's",
        sample: r#"[2025-04-17T05:10:56.310Z] "GET /music/ HTTP/2" 200 - 0 10353 226 100 "192.0.2.7" "Examplebot/1.2" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "example.com" "10.0.2.1:80""#,
        caveats: &[],
        layout: |_, _| Some(Layout::Envoy),
    },
    Entry {
        name: "traefik",
        about: "Traefik's common log format",
        sample: r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0000] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2" 1 "web@docker" "http://10.0.2.1:80" 12ms"#,
        caveats: &[],
        layout: |head, _| traefik::is_traefik(head).then_some(Layout::Combined),
    },
    Entry {
        name: "ingress-nginx",
        about: "Kubernetes' ingress-nginx",
        sample: r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0000] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2" 412 0.005 [default-web-80] [] 10.0.2.1:80 10353 0.004 200 cc21d9b0cf5c432b8c7e98aeb7988cd2"#,
        caveats: &[],
        layout: |head, _| ingress_nginx::is_ingress_nginx(head).then_some(Layout::Combined),
    },
    Entry {
        name: "varnish",
        about: "varnishncsa's default: combined with absolute targets",
        sample: r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0000] "GET http://example.com/music/ HTTP/1.1" 200 10353 "-" "Examplebot/1.2""#,
        caveats: &[],
        layout: |head, _| varnish::is_varnish(head).then_some(Layout::Varnish),
    },
    Entry {
        name: "vhost_combined",
        about: "Apache's vhost_combined, and others that put the host in front of combined",
        sample: r#"example.com:443 192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2""#,
        caveats: &[],
        layout: |_, _| Some(Layout::VhostCombined),
    },
    Entry {
        name: "combined",
        about: "nginx's default and Apache's combined, with any fields behind",
        sample: r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2""#,
        caveats: &[],
        layout: |_, _| Some(Layout::Combined),
    },
    Entry {
        name: "common",
        about: "Apache's common, with any fields behind",
        sample: r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] "GET /music/ HTTP/2.0" 200 10353"#,
        caveats: &[Caveat::NoUserAgent],
        layout: |_, _| Some(Layout::Common),
    },
];
