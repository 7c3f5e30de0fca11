//! A request target: origin-form, absolute-form, or none that has a path.
