//! User agents that public directories list, with the row that must find each.

use botaudit::crawlers::crawler::Obligation;
use botaudit::crawlers::identify::Identified;
use botaudit::crawlers::registry::Registry;

/// Browsers, devices, apps and televisions: the lists of people's programs.
const PEOPLE: &str = include_str!("people.tsv");
/// What the directories of bots list. Names that no row has are `Generic bot`.
const BOTS: &str = include_str!("bots.tsv");

#[test]
fn no_browser_or_app_is_a_bound_crawler() {
    let registry = Registry::builtin();
    let mut count = 0;
    for (expected, user_agent) in lines(PEOPLE) {
        count += 1;
        let found = registry.identify(user_agent.as_bytes());
        assert_eq!(name(&registry, found), expected, "{user_agent}");
        if let Identified::Crawler(id) = found {
            let obligation = registry.crawler(id).obligation();
            assert_eq!(obligation, Obligation::UserTriggered, "{user_agent}");
        }
    }
    assert_eq!(count, 2000);
}

#[test]
fn bots_of_directories_are_found_by_their_row() {
    let registry = Registry::builtin();
    let mut count = 0;
    for (expected, user_agent) in lines(BOTS) {
        count += 1;
        let found = registry.identify(user_agent.as_bytes());
        assert_eq!(name(&registry, found), expected, "{user_agent}");
    }
    assert_eq!(count, 800);
}

fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once('\t').unwrap())
}

fn name(registry: &Registry, found: Identified) -> &str {
    match found {
        Identified::Crawler(id) => &registry.crawler(id).name,
        Identified::Generic => "Generic bot",
        Identified::Other => "-",
        Identified::Empty => "(empty)",
    }
}
