//! What is counted of the requests of one crawler at one origin.
//!
//! A measure is one file: its counter, how a request counts and how counts merge, its table if that
//! needs nothing else, and its tests. [`crawler_tally`] is the list of measures.

pub mod answer_tally;
pub mod answers;
pub mod clients;
pub mod crawler_tally;
pub mod days;
pub mod delay_kept;
pub mod draft_effect;
pub mod earlier_fetches;
pub mod example;
pub(crate) mod fetch_answer;
pub mod methods;
pub mod policy_files;
pub mod reactions;
pub mod renumbering;
pub mod request;
pub(crate) mod request_kind;
pub mod restrictions;
pub mod robots_fetches;
pub mod short_map;
pub(crate) mod signatures;
pub mod statuses;
pub mod sums;
pub mod table;
pub mod time_buckets;
pub mod usage;
pub mod verification;
pub mod violation_networks;
pub mod violations;
pub mod what_if;
