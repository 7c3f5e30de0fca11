//! What is counted of a crawler's requests: a measure is one file.

pub mod answer_tally;
pub mod crawler_tally;
pub mod delay_kept;
pub mod example;
pub mod reactions;
pub mod robots_fetches;
pub mod short_map;
pub mod statuses;
pub mod sums;
pub mod time_buckets;
pub mod what_if;
