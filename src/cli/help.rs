//! The text below the options in a command's help: examples, files, exit codes.
//!
//! Each text of `help/` has sections: a heading with a colon, and indented lines. `-h` shows the
//! exit codes, `--help` shows all sections, and the manual page has each as its own section.

/// The section of exit codes.
pub(crate) const EXIT_CODES: &str = "Exit codes";

/// The section of examples.
pub(crate) const EXAMPLES: &str = "Examples";

/// The section of files that are read or written by default.
pub(crate) const FILES: &str = "Files";

/// A part of a help text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct HelpSection<'a> {
    /// The heading without the colon.
    pub heading: &'a str,
    /// Its lines with their indentation.
    pub body: &'a str,
}

/// The sections of `text`, in order.
pub(crate) fn sections(text: &str) -> Vec<HelpSection<'_>> {
    let mut rest = text;
    let mut found = Vec::new();
    while let Some((heading, after)) = rest.split_once(":\n") {
        let end = end_of_section(after);
        found.push(HelpSection { heading: heading.trim(), body: after[..end].trim_end() });
        rest = &after[end..];
    }
    found
}

/// The position of the next heading: the first line that is not indented.
fn end_of_section(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(|first: char| !first.is_whitespace()) {
            return end;
        }
        end += line.len();
    }
    end
}

/// The part of the help text of `command` that `-h` shows.
pub(crate) fn short(text: &str, command: &str) -> String {
    format!("{}More options and examples: botaudit {command} --help", only(text, &[EXIT_CODES]))
}

/// The part of its help text that `botaudit -h` shows.
pub(crate) fn short_of_program(text: &str) -> String {
    only(text, &[EXAMPLES, EXIT_CODES]) + "Help on a command: botaudit COMMAND --help"
}

/// `help` without blank lines inside of its sections: a long list of options then takes half of the
/// lines. Colors begin after the indentation.
pub(crate) fn dense(help: &str) -> String {
    let mut text = String::with_capacity(help.len());
    let mut is_after_blank = false;
    for line in help.lines() {
        if is_after_blank && !line.starts_with(' ') && !line.is_empty() {
            text.push('\n');
        }
        is_after_blank = line.trim().is_empty();
        if !is_after_blank {
            text += line;
            text.push('\n');
        }
    }
    text
}

fn only(text: &str, headings: &[&str]) -> String {
    let shown = sections(text).into_iter().filter(|section| headings.contains(&section.heading));
    shown.map(|section| format!("{}:\n{}\n\n", section.heading, section.body)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_dense_within_its_sections() {
        let help = "About\n\nUsage: x\n\n\x1b[1mOptions:\x1b[0m\n  -a\n          One.\n          \n          \
                    Two.\n\n  \x1b[1m-b\x1b[0m\n\nExit codes:\n  0  done\n\n";
        let expected = "About\n\nUsage: x\n\n\x1b[1mOptions:\x1b[0m\n  -a\n          One.\n          Two.\n  \
                        \x1b[1m-b\x1b[0m\n\nExit codes:\n  0  done\n";
        assert_eq!(dense(help), expected);
    }

    #[test]
    fn a_text_is_cut_at_its_headings() {
        let text = "Examples:\n  One: two\n    three:\n\n  four\n\nExit codes:\n  0  done\n";
        let expected = [
            HelpSection { heading: EXAMPLES, body: "  One: two\n    three:\n\n  four" },
            HelpSection { heading: EXIT_CODES, body: "  0  done" },
        ];
        assert_eq!(sections(text), expected);
        let short = short(text, "x");
        assert_eq!(short, "Exit codes:\n  0  done\n\nMore options and examples: botaudit x --help");
    }
}
