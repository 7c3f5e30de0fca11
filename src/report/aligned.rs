//! Cells of text under one another.

/// The widest cell of each column, in characters.
pub fn widths<const N: usize>(rows: &[[String; N]]) -> [usize; N] {
    std::array::from_fn(|column| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    })
}

/// `row` as a line of a table whose columns are so wide; the first `numbers` stand to the right.
pub fn line<const N: usize>(row: &[String; N], widths: &[usize; N], numbers: usize) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, &width))| {
        if column < numbers { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") }
    });
    format!("{}\n", cells.collect::<String>().trim_end())
}

/// The beginning of `text`, with `…` at its end where it has more than so many characters.
pub fn cut(text: String, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text;
    }
    text.chars().take(chars_max - 1).chain(['…']).collect()
}
