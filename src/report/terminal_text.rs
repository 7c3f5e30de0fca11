//! Text for terminals: aligned table cells, lines wrapped between words, and colors.

/// The widest cell of each column, in characters.
pub(crate) fn widths<Row: AsRef<[String]>>(rows: &[Row]) -> Vec<usize> {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |row: &Row, column: usize| row.as_ref()[column].chars().count();
    let widest = |column| rows.iter().map(|row| width(row, column)).max().unwrap_or(0);
    (0..columns).map(widest).collect()
}

/// `row` as a line of a table with columns of these widths. The first `numbers` cells are
/// right-aligned.
pub(crate) fn line(row: &[String], widths: &[usize], numbers: usize) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, &width))| {
        if column < numbers { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") }
    });
    format!("{}\n", cells.collect::<String>().trim_end())
}

/// The first `chars_max` characters of `text`; a shortened text ends with `…`.
pub(crate) fn cut(text: String, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text;
    }
    text.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect()
}

/// Wraps `text` at `columns` characters; a longer word is not broken. All lines but the first are
/// indented by `indent` spaces. Existing line breaks stay.
pub(crate) fn wrapped(text: &str, columns: usize, indent: usize) -> String {
    let mut all = String::new();
    for line in text.lines() {
        let mut width = 0;
        for (at, word) in line.split(' ').enumerate() {
            let word_width = visible_width(word);
            if at > 0 && width + 1 + word_width > columns && width > indent {
                all += &format!("\n{:indent$}{word}", "");
                width = indent + word_width;
            } else {
                let blank = if at > 0 { " " } else { "" };
                all += &format!("{blank}{word}");
                width += blank.len() + word_width;
            }
        }
        all.push('\n');
    }
    all
}

/// The number of characters of `text` without color codes.
fn visible_width(text: &str) -> usize {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    let others = parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest));
    std::iter::once(first).chain(others).map(|part| part.chars().count()).sum()
}

/// Whether text is colored.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Palette {
    /// No colors: files, pipes.
    #[default]
    Plain,
    /// ANSI codes.
    Ansi,
}

impl Palette {
    /// Errors.
    pub(crate) fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Limitations of the result.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// Success.
    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Notes.
    pub(crate) fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// `text` in the color `code`; unchanged without colors.
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Palette::Plain => text.to_owned(),
            Palette::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three\n", 7, 2), "one two\n  three\n");
        assert_eq!(wrapped("one two\nthree four", 20, 2), "one two\nthree four\n");
        assert_eq!(wrapped("  a-long-word b c", 5, 2), "  a-long-word\n  b c\n");
        assert_eq!(wrapped("\x1b[1;31mone two\x1b[0m x", 9, 0), "\x1b[1;31mone two\x1b[0m x\n");
        assert_eq!(wrapped("", 9, 0), "");
    }
}
