//! robots.txt as data.
