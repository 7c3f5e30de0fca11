//! Lines that describe the lines after them.

/// What a line that begins with `#` says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HeaderLine {
    /// Nothing that the layout understands.
    Comment,
    /// How the lines after it are laid out.
    Understood,
}
