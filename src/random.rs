//! Numbers for tests that look random and are the same on every machine. The tests in `tests/` read
//! this file, too.

/// A generator of them (xorshift, Marsaglia 2003), which starts with any number but 0.
pub(crate) struct Random(pub u64);

impl Random {
    /// The generator with its usual start.
    #[allow(dead_code, reason = "some tests have starts of their own")]
    pub(crate) fn new() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    /// The next number, less than `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}
