//! Two versions of a text as a unified diff, the format of `diff -u`.

use std::ops::Range;

use super::common_lines::{CommonRun, common_runs};

/// Common lines shown before and after a change.
const CONTEXT_LINES: usize = 3;

/// The diff from `old` to `new`, with the names of both; empty if no line changed.
pub(crate) fn unified_diff(old: (&str, &[u8]), new: (&str, &[u8])) -> Vec<u8> {
    let (old_lines, new_lines) = (lines(old.1), lines(new.1));
    let mut diff = Vec::new();
    for hunk in hunks(&changes(&old_lines, &new_lines)) {
        if diff.is_empty() {
            diff.extend(format!("--- {}\n+++ {}\n", old.0, new.0).into_bytes());
        }
        write_hunk(&mut diff, &old_lines, &new_lines, hunk);
    }
    diff
}

/// Lines with their ends: LF, CR, or both.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memchr2(b'\n', b'\r', rest)
            .map_or(rest.len(), |end| end + if rest[end..].starts_with(b"\r\n") { 2 } else { 1 });
        let (line, after) = rest.split_at(end);
        lines.push(line);
        rest = after;
    }
    lines
}

/// Consecutive lines of the old text that were replaced by lines of the new text.
#[derive(Clone, Debug)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

fn changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut old_end, mut new_end) = (0, 0);
    let end = CommonRun { old: old.len(), new: new.len(), lines: 0 };
    for run in common_runs(old, new).into_iter().chain([end]) {
        if (old_end, new_end) != (run.old, run.new) {
            changes.push(Change { old: old_end..run.old, new: new_end..run.new });
        }
        (old_end, new_end) = (run.old + run.lines, run.new + run.lines);
    }
    changes
}

/// The changes of each hunk. Changes whose context would overlap or touch share a hunk.
fn hunks(changes: &[Change]) -> impl Iterator<Item = &[Change]> {
    let is_near = |one: &Change, next: &Change| next.old.start - one.old.end <= 2 * CONTEXT_LINES;
    changes.chunk_by(is_near)
}

fn write_hunk(diff: &mut Vec<u8>, old: &[&[u8]], new: &[&[u8]], changes: &[Change]) {
    let (first, last) = (&changes[0], &changes[changes.len() - 1]);
    let before = CONTEXT_LINES.min(first.old.start);
    let after = CONTEXT_LINES.min(old.len() - last.old.end);
    let old_range = first.old.start - before..last.old.end + after;
    let new_range = first.new.start - before..last.new.end + after;
    diff.extend(format!("@@ -{} +{} @@\n", place(&old_range), place(&new_range)).into_bytes());
    let mut at = old_range.start;
    for change in changes {
        write_lines(diff, b' ', &old[at..change.old.start]);
        write_lines(diff, b'-', &old[change.old.clone()]);
        write_lines(diff, b'+', &new[change.new.clone()]);
        at = change.old.end;
    }
    write_lines(diff, b' ', &old[at..old_range.end]);
    debug_assert!(new_range.end <= new.len(), "common lines are as many in both texts");
}

/// First line and number of lines. The number is omitted if it is 1; without lines, the first line
/// is the one before.
fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        some => format!("{},{some}", lines.start + 1),
    }
}

fn write_lines(diff: &mut Vec<u8>, sign: u8, lines: &[&[u8]]) {
    for line in lines {
        diff.push(sign);
        diff.extend_from_slice(line);
        if !line.ends_with(b"\n") && !line.ends_with(b"\r") {
            diff.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let diff = unified_diff(("a", old.as_bytes()), ("b", new.as_bytes()));
        let expected = match expected {
            "" => String::new(),
            hunks => format!("--- a\n+++ b\n{hunks}"),
        };
        assert_eq!(String::from_utf8_lossy(&diff), expected);
    }

    #[test]
    fn what_diff_writes() {
        check("", "", "");
        check("a\nb\n", "a\nb\n", "");
        check("", "a\n", "@@ -0,0 +1 @@\n+a\n");
        check("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n");
        check("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        check("a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
        check("a\r\nb\rc\n", "a\r\nc\n", "@@ -1,3 +1,2 @@\n a\r\n-b\r c\n");
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let text = |changed: [&str; 2]| {
            let line = |number: usize| match number {
                4 => format!("{}\n", changed[0]),
                11 => format!("{}\n", changed[1]),
                _ => format!("{number}\n"),
            };
            (1..=15).map(line).collect::<String>()
        };
        check(
            &text(["x", "y"]),
            &text(["X", "y"]),
            "@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-x\n+X\n 5\n 6\n 7\n",
        );
        check(
            &text(["x", "y"]),
            &text(["X", "Y"]),
            "@@ -1,14 +1,14 @@\n 1\n 2\n 3\n-x\n+X\n 5\n 6\n 7\n 8\n 9\n 10\n-y\n+Y\n 12\n 13\n 14\n",
        );
        let (old, new) = (text(["x", "y"]), text(["X", "Y"]));
        let (old, new) = (old.replace("8\n", "8\n8\n"), new.replace("8\n", "8\n8\n"));
        check(
            &old,
            &new,
            "@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-x\n+X\n 5\n 6\n 7\n\
             @@ -9,7 +9,7 @@\n 8\n 9\n 10\n-y\n+Y\n 12\n 13\n 14\n",
        );
    }
}
