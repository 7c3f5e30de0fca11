//! The findings of a file, limited in number and length.

use super::catalogue::{Code, LINTS, Severity};

/// The most findings of one code that are kept; further ones are only counted. A file of 500 KiB
/// can have a quarter of a million bad lines.
pub const KEPT_MAX: usize = 1000;

/// The most bytes of a quotation from the file.
const QUOTED_BYTES_MAX: usize = 60;

/// The codes whose findings come in runs, and the most lines from one finding of a run to the next.
const RUNS: [(Code, u32); 3] =
    [(Code::GroupContinues, 4), (Code::RedundantRule, 2), (Code::CrawlDelayIgnored, 6)];

/// A finding. Message and advice quote the file: they may contain foreign bytes that are not UTF-8
/// or not printable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Diagnostic {
    /// The line number, from 1.
    pub line: u32,
    /// The kind of finding.
    pub code: Code,
    /// One sentence without a full stop.
    pub message: Box<[u8]>,
    /// The advice, as one or two sentences.
    pub advice: Box<[u8]>,
}

/// All findings of one file, sorted by line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    counts: [usize; LINTS.len()],
    /// The mildest severity of findings that count.
    mildest: Severity,
}

impl Default for Diagnostics {
    fn default() -> Diagnostics {
        Diagnostics::of(Severity::Info)
    }
}

impl Diagnostics {
    /// No findings yet; further ones count unless they are milder than that.
    pub(super) fn of(mildest: Severity) -> Diagnostics {
        Diagnostics { kept: Vec::new(), counts: [0; LINTS.len()], mildest }
    }

    /// The kept findings: at most [`KEPT_MAX`] of a code.
    pub fn kept(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// The number of findings with `code`, kept or not.
    pub fn count(&self, code: Code) -> usize {
        self.counts[code.index()]
    }

    /// The number of findings with `severity`, kept or not.
    pub(crate) fn count_of(&self, severity: Severity) -> usize {
        let of = LINTS.iter().filter(|lint| lint.severity == severity);
        of.map(|lint| self.count(lint.code)).sum()
    }

    /// Adds a finding. Message and advice, text or bytes, are only made if it is kept.
    pub(super) fn add<M: Into<Vec<u8>>, A: Into<Vec<u8>>>(
        &mut self,
        line: u32,
        code: Code,
        words: impl FnOnce() -> (M, A),
    ) {
        if code.lint().severity > self.mildest {
            return;
        }
        let count = &mut self.counts[code.index()];
        *count += 1;
        if *count <= KEPT_MAX {
            let (message, advice) = words();
            let (message, advice) = (message.into().into(), advice.into().into());
            self.kept.push(Diagnostic { line, code, message, advice });
        }
    }

    /// Removes the findings with `code`.
    pub fn remove(&mut self, code: Code) {
        self.kept.retain(|diagnostic| diagnostic.code != code);
        self.counts[code.index()] = 0;
    }

    /// Joins the findings that repeat line by line to the first one of their run, which says how
    /// many are like it. The findings are sorted.
    pub(super) fn join_runs(&mut self) {
        for (code, lines_max) in RUNS {
            self.join_runs_of(code, |last, next| {
                next.line - last.line <= lines_max && is_alike(code, last, next)
            });
        }
    }

    /// Joins the findings with `code`: `continues` is asked for each one and the next.
    fn join_runs_of(&mut self, code: Code, continues: impl Fn(&Diagnostic, &Diagnostic) -> bool) {
        let is_of_code = |diagnostic: &Diagnostic| diagnostic.code == code;
        if self.count(code) < 2 || self.count(code) > KEPT_MAX {
            return;
        }
        let (found, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.kept).into_iter().partition(is_of_code);
        self.kept = others;
        self.counts[code.index()] = 0;
        for run in found.chunk_by(continues) {
            let [first, .., last] = run else {
                self.counts[code.index()] += 1;
                self.kept.extend_from_slice(run);
                continue;
            };
            let more = run.len() - 1;
            let alike = match more {
                1 => format!("; line {} is like it", last.line),
                _ => format!("; {more} more lines up to line {} are like it", last.line),
            };
            let message = [&first.message, alike.as_bytes()].concat().into();
            self.counts[code.index()] += 1;
            self.kept.push(Diagnostic { message, ..first.clone() });
        }
        self.sort();
    }

    /// Sorts the findings by line, then by code.
    pub(super) fn sort(&mut self) {
        self.kept.sort_by_key(|diagnostic| (diagnostic.line, diagnostic.code));
    }
}

/// A sentence with foreign bytes: each `{}` of `sentence` is replaced by one of `parts`.
pub(super) fn say(sentence: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut parts = parts.iter();
    let mut said = Vec::new();
    for (at, text) in sentence.split("{}").enumerate() {
        if at > 0 {
            said.extend_from_slice(parts.next().expect("each place has its part"));
        }
        said.extend_from_slice(text.as_bytes());
    }
    said
}

/// As [`say`], with one quoted part.
pub(super) fn quoting(sentence: &str, part: &[u8]) -> Vec<u8> {
    say(sentence, &[&quote(part)])
}

/// The beginning of `value` for an advice.
pub(super) fn short(value: &[u8]) -> &[u8] {
    &value[..value.len().min(200)]
}

/// `text` in quotes, cut to a readable length; UTF-8 characters are not split.
pub(super) fn quote(text: &[u8]) -> Vec<u8> {
    if text.len() <= QUOTED_BYTES_MAX {
        return [b"'", text, b"'"].concat();
    }
    let is_inside = |at: &usize| text[*at] & 0b1100_0000 == 0b1000_0000;
    let ends = QUOTED_BYTES_MAX - 3..=QUOTED_BYTES_MAX;
    let end = ends.rev().find(|at| !is_inside(at)).unwrap_or(QUOTED_BYTES_MAX);
    [b"'", &text[..end], b"...'"].concat()
}

/// The first few of `names`, and the number of the others.
pub(super) fn few(names: &[&[u8]]) -> Vec<u8> {
    const SHOWN_MAX: usize = 5;
    let shown: Vec<Vec<u8>> = names.iter().take(SHOWN_MAX).map(|name| quote(name)).collect();
    let mut text = shown.join(&b", "[..]);
    if names.len() > SHOWN_MAX {
        text.extend(format!(" and {} more", names.len() - SHOWN_MAX).bytes());
    }
    text
}

/// Whether the findings say the same of their lines.
fn is_alike(code: Code, one: &Diagnostic, other: &Diagnostic) -> bool {
    // Rules that another one covers are alike if it is the same one.
    let cover = |finding: &Diagnostic| {
        let at = memchr::memmem::rfind(&finding.message, b" is covered by ");
        at.map(|at| finding.message[at..].to_vec())
    };
    code != Code::RedundantRule || cover(one) == cover(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_can_be_kept_is_counted() {
        let mut diagnostics = Diagnostics::default();
        for line in (1..=5000).rev() {
            diagnostics.add(line, Code::UnreadLine, || ("a", "b"));
        }
        diagnostics.sort();
        assert_eq!(diagnostics.kept().len(), KEPT_MAX);
        assert_eq!(diagnostics.kept()[0].line, 5000 - 999);
        assert_eq!(diagnostics.count(Code::UnreadLine), 5000);
        assert_eq!(diagnostics.count_of(Code::UnreadLine.lint().severity), 5000);
    }

    #[test]
    fn quotes_are_short_and_whole() {
        assert_eq!(quote(b"a"), b"'a'");
        let long = "ツ".repeat(100);
        assert_eq!(quote(long.as_bytes()), format!("'{}...'", "ツ".repeat(20)).as_bytes());
        let odd = format!("a{long}");
        assert_eq!(quote(odd.as_bytes()), format!("'a{}...'", "ツ".repeat(19)).as_bytes());
        assert_eq!(quote(&[0x80; 100]).len(), 60 + 5);
        assert_eq!(few(&[&b"a"[..]; 7]), b"'a', 'a', 'a', 'a', 'a' and 2 more");
    }
}
