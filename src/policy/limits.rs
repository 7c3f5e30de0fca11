//! What a compiled policy may cost.

/// Bounds on a compiled policy. Past each there is a way that always works;
/// zeros force these ways, so that tests reach them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Patterns up to which they are simply tried in order: a table is no
    /// faster for so few.
    pub ordered_patterns_max: usize,
    /// Bytes that one automaton may take; tails that need more stay globs.
    pub automaton_bytes_max: usize,
    /// Bytes that all automata of one rule set may take, reckoned before they
    /// are built; tails past it stay globs.
    pub automata_bytes_max: usize,
    /// How often a tail is searched for as a glob before it is compiled.
    pub searches_before_compiling: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            ordered_patterns_max: 8,
            automaton_bytes_max: 1 << 16,
            automata_bytes_max: 1 << 19,
            searches_before_compiling: 256,
        }
    }
}
