//! Colors of text on a terminal.

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
