//! Tables out of finished results.
