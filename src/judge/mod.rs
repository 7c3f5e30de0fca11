//! The one door to verdicts.
