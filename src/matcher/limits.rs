//! What a compiled policy may cost.
//!
//! Figures: `cargo bench --bench matcher` over 3,902 real files and hostile
//! ones, November 2026, two cores of Zen 4.

/// Bounds on a compiled policy. Past each there is a way that always works;
/// zeros force these ways, so that tests reach them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Patterns up to which they are simply tried in order: 24 against 29 ns
    /// for five and fewer; from six to ten the table wins, 57 against 65 ns.
    pub ordered_patterns_max: usize,
    /// Bytes that one automaton may take; suffixes that need more stay globs.
    /// Past what a first-level cache holds, walking an automaton gains nothing.
    pub automaton_bytes_max: usize,
    /// Bytes that all automata of one rule set may take, reckoned before they
    /// are built; suffixes past it stay globs. Building half a MiB takes 14 ms at
    /// most, and globs are as fast on average: this bounds time, not need.
    pub automata_bytes_max: usize,
    /// How often a suffix is searched for as a glob before it is compiled. An
    /// automaton takes 10 to 50 µs to build and saves up to 50 ns a search.
    pub searches_before_compiling: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            ordered_patterns_max: 6,
            automaton_bytes_max: 1 << 16,
            automata_bytes_max: 1 << 19,
            searches_before_compiling: 1000,
        }
    }
}
