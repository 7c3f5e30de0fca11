//! Rules and a path to a verdict; pure.
