//! Two versions of a text as a unified diff, the format of `diff -u`.

use std::ops::Range;

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

/// The most deleted and inserted lines between a common beginning and a common end. Beyond this
/// limit, no line in between counts as common. Memory grows with its square: 32 MiB at most.
const EDITS_MAX: usize = 2048;

/// Consecutive lines that occur in both texts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct CommonRun {
    /// The first line in the old text, from 0.
    pub old: usize,
    /// The first line in the new text, from 0.
    pub new: usize,
    /// The number of lines.
    pub lines: usize,
}

/// The runs of common lines of `old` and `new`, in order; runs may touch.
///
/// They are a longest common subsequence, by the greedy algorithm of Eugene W. Myers, "An O(ND)
/// Difference Algorithm and Its Variations", 1986. The comparison stops after [`EDITS_MAX`]
/// differences.
fn common_runs(old: &[&[u8]], new: &[&[u8]]) -> Vec<CommonRun> {
    let is_same = |(old, new): &(&&[u8], &&[u8])| old == new;
    let head = old.iter().zip(new).take_while(is_same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(is_same).count();
    let middle =
        Grid { old: &old_rest[..old_rest.len() - tail], new: &new_rest[..new_rest.len() - tail] };
    let mut runs = vec![CommonRun { old: 0, new: 0, lines: head }];
    runs.extend(middle.runs().into_iter().map(|run| CommonRun {
        old: head + run.old,
        new: head + run.new,
        ..run
    }));
    runs.push(CommonRun { old: old.len() - tail, new: new.len() - tail, lines: tail });
    runs.retain(|run| run.lines > 0);
    runs
}

/// Two texts as the sides of a grid. A path runs from the first corner to the last one: a step
/// right deletes a line of the old text, a step down inserts a line of the new text, and a diagonal
/// step keeps a common line.
struct Grid<'a> {
    old: &'a [&'a [u8]],
    new: &'a [&'a [u8]],
}

/// For a number of edits: the furthest position in the old text on each diagonal; `None` if no such
/// path is within the grid.
type Furthest = Vec<Option<usize>>;

impl Grid<'_> {
    fn runs(&self) -> Vec<CommonRun> {
        let mut reached: Vec<Furthest> = Vec::new();
        for edits in 0..=EDITS_MAX {
            let before = reached.last();
            let furthest: Furthest =
                (0..=edits).map(|at| self.end(edits, at, self.begin(before, edits, at)?)).collect();
            reached.push(furthest);
            if let Some(at) = self.last_corner(edits)
                && reached[edits][at] == Some(self.old.len())
            {
                return self.walk_back(&reached, at);
            }
        }
        Vec::new()
    }

    /// The line of the new text on the diagonal `at`, `old` lines down the old text. Diagonals are
    /// two apart, from insertions only to deletions only.
    fn new_line(edits: usize, at: usize, old: usize) -> Option<usize> {
        (old + edits).checked_sub(2 * at)
    }

    /// The diagonal with the last corner, if that many edits can reach it.
    fn last_corner(&self, edits: usize) -> Option<usize> {
        let twice = (self.old.len() + edits).checked_sub(self.new.len())?;
        (twice % 2 == 0 && twice / 2 <= edits).then_some(twice / 2)
    }

    /// The position on the diagonal `at` after its last edit; `before` has one edit less.
    fn begin(&self, before: Option<&Furthest>, edits: usize, at: usize) -> Option<usize> {
        let Some(before) = before else { return Some(0) };
        let deleted = at.checked_sub(1).and_then(|at| before[at]);
        let deleted = deleted.map(|old| old + 1).filter(|old| *old <= self.old.len());
        let inserted = before.get(at).copied().flatten();
        let is_within =
            |old: &usize| Grid::new_line(edits, at, *old).is_some_and(|new| new <= self.new.len());
        deleted.max(inserted.filter(is_within))
    }

    /// The position after the common lines that follow `begin`.
    fn end(&self, edits: usize, at: usize, begin: usize) -> Option<usize> {
        let new = Grid::new_line(edits, at, begin)?;
        let pairs = self.old[begin..].iter().zip(&self.new[new..]);
        Some(begin + pairs.take_while(|(old, new)| old == new).count())
    }

    /// The common lines on the path that ends on the diagonal `at`.
    fn walk_back(&self, reached: &[Furthest], mut at: usize) -> Vec<CommonRun> {
        let mut runs = Vec::new();
        for edits in (0..reached.len()).rev() {
            let before = edits.checked_sub(1).map(|edits| &reached[edits]);
            let end = reached[edits][at].expect("the path came by here");
            let begin = self.begin(before, edits, at).expect("the path came by here");
            let new = Grid::new_line(edits, at, begin).expect("the path is within the grid");
            runs.push(CommonRun { old: begin, new, lines: end - begin });
            let is_deletion = at > 0
                && before.and_then(|before| before[at - 1]).is_some_and(|old| old + 1 == begin);
            at -= usize::from(is_deletion);
        }
        runs.reverse();
        runs
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

    /// The length of a longest common subsequence, by the textbook algorithm.
    fn common_max(old: &[&[u8]], new: &[&[u8]]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for line in old {
            let mut diagonal = 0;
            for at in 0..new.len() {
                let above = row[at + 1];
                row[at + 1] =
                    if new[at] == *line { diagonal + 1 } else { row[at].max(row[at + 1]) };
                diagonal = above;
            }
        }
        row[new.len()]
    }

    #[track_caller]
    fn check_runs(old: &str, new: &str) {
        let lines = |text: &'static str| text.as_bytes().chunks(1).collect::<Vec<_>>();
        let (old, new) = (lines(old.to_owned().leak()), lines(new.to_owned().leak()));
        let runs = common_runs(&old, &new);
        let (mut old_end, mut new_end) = (0, 0);
        for CommonRun { old: old_at, new: new_at, lines } in &runs {
            assert!(*old_at >= old_end && *new_at >= new_end, "{runs:?}");
            (old_end, new_end) = (old_at + lines, new_at + lines);
            assert_eq!(old[*old_at..old_end], new[*new_at..new_end]);
        }
        let found: usize = runs.iter().map(|run| run.lines).sum();
        assert_eq!(found, common_max(&old, &new), "{runs:?}");
    }

    /// Many pairs of texts of up to five lines out of three, and some longer ones.
    #[test]
    fn as_many_lines_as_possible_are_common() {
        let text = |mut number: usize| {
            let mut text = String::new();
            while number > 0 {
                text.push(char::from(b'a' + (number % 4) as u8));
                number /= 4;
            }
            text.replace('d', "")
        };
        for old in (0..1024).step_by(3) {
            for new in (0..1024).step_by(5) {
                check_runs(&text(old), &text(new));
            }
        }
        check_runs("abcabba", "cbabac");
        check_runs(&"abc".repeat(50), &"cab".repeat(60));
        check_runs(&"ab".repeat(300), &"cd".repeat(300));
    }

    #[test]
    fn texts_that_hardly_agree_are_not_compared_to_the_end() {
        let lines: Vec<Vec<u8>> = (0..5000).map(|line| format!("{line}").into()).collect();
        let old: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        let new: Vec<&[u8]> = old.iter().rev().copied().collect();
        assert_eq!(common_runs(&old, &new), []);
        let ends = [&old[..1], &new, &old[1..2]].concat();
        let runs = common_runs(&old[..2], &ends);
        assert_eq!(runs.iter().map(|run| run.lines).sum::<usize>(), 2);
    }
}
