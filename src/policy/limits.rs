//! What a compiled policy may cost.

/// Bounds on a compiled policy. Zeros force the ways out, so that tests reach them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Patterns up to which they are simply tried in order.
    pub ordered_patterns_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { ordered_patterns_max: 8 }
    }
}
