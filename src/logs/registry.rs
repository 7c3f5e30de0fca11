//! The formats that are built in: one row each.

use crate::logs::caveat::Caveat;
use crate::logs::detect::Hints;
use crate::logs::layout::Layout;

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
