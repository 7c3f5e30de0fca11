//! The longest common subsequence of the lines of two texts.
//!
//! The greedy algorithm of Eugene W. Myers, "An O(ND) Difference Algorithm and Its Variations",
//! 1986. The comparison stops after [`EDITS_MAX`] differences.

/// The most deleted and inserted lines between a common beginning and a common end. Beyond this
/// limit, no line in between counts as common. Memory grows with its square: 32 MiB at most.
const EDITS_MAX: usize = 2048;

/// Consecutive lines that occur in both texts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct CommonRun {
    /// The first line in the old text, from 0.
    pub old: usize,
    /// The first line in the new text, from 0.
    pub new: usize,
    /// The number of lines.
    pub lines: usize,
}

/// The runs of common lines of `old` and `new`, in order; runs may touch.
pub(crate) fn common_runs(old: &[&[u8]], new: &[&[u8]]) -> Vec<CommonRun> {
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
    fn check(old: &str, new: &str) {
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
                check(&text(old), &text(new));
            }
        }
        check("abcabba", "cbabac");
        check(&"abc".repeat(50), &"cab".repeat(60));
        check(&"ab".repeat(300), &"cd".repeat(300));
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
