//! Two versions of a text as a unified diff, the format of `diff -u`.

use similar::TextDiff;

/// The diff from `old` to `new`, with the names of both; empty if no line changed. The time that it takes is bounded:
/// texts that hardly agree get a longer diff than they need.
pub(crate) fn unified_diff(old: (&str, &[u8]), new: (&str, &[u8])) -> Vec<u8> {
    let mut text = Vec::new();
    let diff = TextDiff::from_lines(old.1, new.1);
    let mut diff = diff.unified_diff();
    diff.header(old.0, new.0).to_writer(&mut text).expect("a vector takes all");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

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

    /// Both texts are in the diff, whatever they have in common.
    #[test]
    fn a_diff_has_each_line_of_both_texts() {
        let mut random = Random::new();
        for _ in 0..200 {
            let mut text = || -> String {
                let lines = random.below(40);
                (0..lines).map(|_| format!("{}\n", random.below(6))).collect()
            };
            let (old, new) = (text(), text());
            let diff = unified_diff(("a", old.as_bytes()), ("b", new.as_bytes()));
            let diff = String::from_utf8(diff).unwrap();
            assert_eq!(diff.is_empty(), old == new);
            let count =
                |sign: char| diff.lines().skip(2).filter(|line| line.starts_with(sign)).count();
            let lines = |text: &str| text.lines().count();
            assert_eq!(count('+') + lines(&old), count('-') + lines(&new), "{diff}");
        }
    }
}
