//! Path and query in the form rules are compared in.
