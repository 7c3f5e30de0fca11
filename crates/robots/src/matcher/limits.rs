//! The resource limits of a compiled policy.
//!
//! Figures: `cargo bench --bench matcher` with 3,902 real and hostile files, November 2026, two
//! cores of Zen 4.

/// The limits of a compiled policy. Beyond each limit, a slower way is used; zeros force it, so
/// that tests reach it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// The most patterns that are tried in order: 24 against 29 ns for five and fewer; from six to
    /// ten, the table is faster, 57 against 65 ns.
    pub ordered_patterns_max: usize,
    /// The most bytes of one automaton; longer suffixes stay globs. Beyond the size of a
    /// first-level cache, an automaton is no faster.
    pub automaton_bytes_max: usize,
    /// The most bytes of all automata of one rule set, estimated before they are built; further
    /// suffixes stay globs. Building half a MiB takes at most 14 ms, and globs are as fast on
    /// average, so this limits time.
    pub automata_bytes_max: usize,
    /// How many paths are compared with wildcard rules as globs before all automata of the rule set are compiled.
    /// Most rule sets of a large list are asked once; an automaton takes 10 to 50 µs to build.
    pub searches_before_compiling: u32,
    /// From this many suffixes on, they are indexed by a window of their literals. The index takes
    /// about 0.8 µs for a path, as long as the byte pairs of 2,000 suffixes.
    pub suffixes_to_index_min: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            ordered_patterns_max: 6,
            automaton_bytes_max: 1 << 16,
            automata_bytes_max: 1 << 19,
            searches_before_compiling: 1,
            suffixes_to_index_min: 1000,
        }
    }
}
