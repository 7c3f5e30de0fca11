//! Irregular lines of robots.txt, found while it is parsed.
//!
//! A finding is a fact. `lint` explains what it means.

use super::{field::FieldKind, model::Directive};

/// Something odd on one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// 1-based.
    pub line: u32,
    pub kind: FindingKind,
}

/// The kinds of oddities. One line may have several.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FindingKind {
    /// The text starts with this many bytes of a byte-order mark; 3 is a whole one.
    ByteOrderMark(usize),
    /// The line has this many bytes; those past the limit were dropped.
    LineTooLong(usize),
    /// A NUL hides the rest of the line.
    Nul,
    /// Neither blank nor a comment, but without key and value: ignored.
    NoField,
    /// A space or tab is in the place of the colon.
    MissingColon(FieldKind),
    /// This misspelled key was accepted.
    AcceptedTypo(FieldKind, Box<[u8]>),
    /// This key is in use elsewhere, but changes no verdict.
    UnusedField(Box<[u8]>),
    /// No known parser reads this key.
    UnknownField(Box<[u8]>),
    /// A rule before any User-agent line: it has no effect.
    RuleOutsideGroup(Directive),
}
