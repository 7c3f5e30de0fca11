//! Colors of text on a terminal.

/// Whether text has colors.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Palette {
    /// It has none: files, pipes.
    #[default]
    Plain,
    /// By the codes that terminals understand.
    Ansi,
}

impl Palette {
    /// What is wrong.
    pub fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// What limits the result.
    pub fn yellow(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// What is as it should be.
    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// What is good to know.
    pub fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// `text` without its colors is `text` as it was.
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Palette::Plain => text.to_owned(),
            Palette::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}
