//! What is odd about a line of robots.txt, found while it is parsed.
//!
//! Facts only: what they mean to an author is said elsewhere.

use crate::robots::{field::FieldKind, model::Directive};

/// Something odd on one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// 1-based.
    pub line: u32,
    /// What it is.
    pub kind: FindingKind,
}

/// The kinds of oddities. One line may have several.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FindingKind {
    /// The text starts with so many bytes of a byte-order mark; 3 is a whole one.
    ByteOrderMark(usize),
    /// The line has so many bytes; those past the limit were dropped.
    LineTooLong(usize),
    /// A NUL hides the rest of the line.
    Nul,
    /// Not blank, no comment, but no key and value either: ignored.
    NoField,
    /// A space or tab stands where a colon should.
    MissingColon(FieldKind),
    /// This misspelled key was taken for what it should have been.
    AcceptedTypo(FieldKind, Box<[u8]>),
    /// This key is in use elsewhere, but changes no verdict.
    UnusedField(Box<[u8]>),
    /// Nobody is known to read this key.
    UnknownField(Box<[u8]>),
    /// A rule before any User-agent line: it binds nobody.
    RuleOutsideGroup(Directive),
}
