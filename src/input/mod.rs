//! Paths, globs and `-` to chunks of whole lines.
