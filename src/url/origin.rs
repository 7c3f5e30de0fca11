//! Origins in canonical form.
