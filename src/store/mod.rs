//! robots.txt as fetched.
