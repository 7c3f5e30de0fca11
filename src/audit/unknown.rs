//! Unknown user agents that look automated, with their declared names and the number of robots.txt
//! files with these names.

use std::collections::{BTreeMap, HashMap};

use serde_bytes::ByteBuf;

use crate::crawlers::declared_name::declared_name;
use crate::judge::robots::RobotsId;

use super::{quotes::UsedRobots, tally::counts::UserAgentTally};

/// One unknown crawler.
#[derive(Clone, Debug)]
pub struct UnknownCrawler {
    /// The header, cut to a sensible length.
    pub user_agent: Vec<u8>,
    /// Its requests.
    pub tally: UserAgentTally,
    /// Its declared name; empty if none was found.
    pub token: Vec<u8>,
    /// The robots.txt files that name this token.
    pub robots_naming: u64,
}

/// Unknown crawlers by user agent; `robots` are the used files, by name.
pub(crate) fn unknown_crawlers(
    tallies: Vec<(ByteBuf, UserAgentTally)>,
    robots: &[(String, UsedRobots)],
) -> Vec<UnknownCrawler> {
    let mut crawlers: Vec<UnknownCrawler> = tallies
        .into_iter()
        .map(|(user_agent, tally)| {
            let user_agent = user_agent.into_vec();
            let token = declared_name(&user_agent).unwrap_or_default().to_vec();
            UnknownCrawler { user_agent, tally, token, robots_naming: 0 }
        })
        .collect();
    crawlers.sort_unstable_by(|left, right| left.user_agent.cmp(&right.user_agent));
    let naming = files_naming(&crawlers, robots);
    for crawler in &mut crawlers {
        let files = naming.get(&crawler.token.to_ascii_lowercase());
        crawler.robots_naming = files.copied().unwrap_or_default();
    }
    crawlers
}

/// The number of files with each token, by the token in lower case. Only tokens in use are kept.
fn files_naming(
    crawlers: &[UnknownCrawler],
    robots: &[(String, UsedRobots)],
) -> HashMap<Vec<u8>, u64> {
    let tokens = crawlers.iter().filter(|crawler| !crawler.token.is_empty());
    let mut naming: HashMap<Vec<u8>, (u64, Option<RobotsId>)> =
        tokens.map(|crawler| (crawler.token.to_ascii_lowercase(), (0, None))).collect();
    if naming.is_empty() {
        return HashMap::new();
    }
    let mut versions: BTreeMap<RobotsId, (&UsedRobots, u64)> = BTreeMap::new();
    for (_, robots) in robots {
        versions.entry(robots.id).or_insert((robots, 0)).1 += 1;
    }
    for (robots, files) in versions.into_values() {
        for token in robots.product_tokens().filter(|token| !token.is_star()) {
            for name in token.interpretations() {
                if let Some((sum, last)) = naming.get_mut(&name.to_ascii_lowercase())
                    && *last != Some(robots.id)
                {
                    *sum += files;
                    *last = Some(robots.id);
                }
            }
        }
    }
    naming.into_iter().map(|(token, (sum, _))| (token, sum)).collect()
}
