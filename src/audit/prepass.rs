//! What must be known of the logs before anything is judged: one common first pass.

use crate::bounded::Bounded;
use crate::merge::Merge;

use super::suspects::{Requests, SUSPECTS_MAX, Suspect};
use super::witness::Witness;

/// What the first pass collects.
#[derive(Clone, Debug)]
pub struct Collected {
    /// Addresses to be looked up.
    pub suspects: Bounded<Suspect, Requests>,
    /// How requests for robots.txt were answered.
    pub witness: Witness,
}

impl Default for Collected {
    fn default() -> Collected {
        Collected { suspects: Bounded::new(SUSPECTS_MAX), witness: Witness::default() }
    }
}

impl Merge for Collected {
    fn absorb(&mut self, other: Collected) {
        self.suspects.absorb(other.suspects);
        self.witness.absorb(other.witness);
    }
}
