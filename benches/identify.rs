//! How long it takes to find a user agent's crawler, and to build what finds it.
//!
//! `cargo bench --bench identify` prints `stage,unit,value`: the fastest of 25
//! rounds, since what disturbs a round only ever slows it. Cold is the registry itself, hit is the cache with every user agent
//! in it, flood is the cache with user agents that never come again.

use botaudit::crawlers::cache::{UserAgentCache, identify_cached};
use botaudit::crawlers::identify::Identified;
use botaudit::crawlers::registry::Registry;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 25;

fn main() {
    let registry = Registry::builtin();
    let browsers = numbered(include_str!("../src/crawlers/card/browsers.txt").lines());
    let crawlers = numbered(registry.iter().map(|(_, crawler)| crawler.sample_user_agent.as_str()));
    check_answers(&registry, &browsers, &crawlers);

    println!("stage,unit,value");
    print("registry_build", "us", 1, 1e6, || {
        black_box(Registry::builtin());
    });
    for (kind, user_agents) in [("browser", &browsers), ("crawler", &crawlers)] {
        print(&format!("identify_cold_{kind}"), "ns", user_agents.len(), 1e9, || {
            user_agents.iter().for_each(|user_agent| {
                black_box(registry.identify(user_agent));
            });
        });
        let mut cache = UserAgentCache::default();
        print(&format!("identify_hit_{kind}"), "ns", user_agents.len(), 1e9, || {
            user_agents.iter().for_each(|user_agent| {
                black_box(identify_cached(&registry, user_agent, &mut cache));
            });
        });
    }
    flood(&registry);
    hostile(&registry);
}

/// About 4,000 distinct user agents, as a log of a few million lines has.
fn numbered<'a>(samples: impl Iterator<Item = &'a str>) -> Vec<Vec<u8>> {
    let samples: Vec<&str> = samples.filter(|sample| !sample.is_empty()).collect();
    (0..4000).map(|number| format!("{} {number}", samples[number % samples.len()]).into()).collect()
}

fn check_answers(registry: &Registry, browsers: &[Vec<u8>], crawlers: &[Vec<u8>]) {
    let mut cache = UserAgentCache::default();
    for _ in 0..2 {
        for browser in browsers {
            assert_eq!(registry.identify(browser), Identified::Other);
            assert_eq!(identify_cached(registry, browser, &mut cache), Identified::Other);
        }
        for crawler in crawlers {
            let found = registry.identify(crawler);
            assert_ne!(found, Identified::Other, "{}", crawler.escape_ascii());
            assert_eq!(identify_cached(registry, crawler, &mut cache), found);
        }
    }
}

/// No user agent comes twice: what the cache costs where it does not help.
fn flood(registry: &Registry) {
    let mut cache = UserAgentCache::default();
    let mut number = 0_u64;
    print("identify_flood", "ns", 20_000, 1e9, || {
        for _ in 0..20_000 {
            number += 1;
            let user_agent = format!("Mozilla/5.0 (X11; Linux x86_64) Chrome/{number}");
            black_box(identify_cached(registry, user_agent.as_bytes(), &mut cache));
        }
    });
}

/// A mebibyte of one needle each: the dearest user agents that are known.
fn hostile(registry: &Registry) {
    for needle in ["bot", "ias-", "+https://", "like Googlebot "] {
        let user_agent = needle.as_bytes().repeat((1 << 20) / needle.len());
        print(&format!("identify_1mib_of_{}", needle.trim()), "us", 1, 1e6, || {
            black_box(registry.identify(&user_agent));
        });
    }
}

/// Prints the least time of one of the `count` things that `run` does.
fn print(stage: &str, unit: &str, count: usize, units_per_second: f64, mut run: impl FnMut()) {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    let seconds = rounds.fold(f64::INFINITY, f64::min);
    println!("{stage},{unit},{:.1}", seconds * units_per_second / count as f64);
}
