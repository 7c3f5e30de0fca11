//! Mistakes and suspicious rows in a user's own list of crawlers.

use crate::crawlers::registry::{Registry, merged, read_file};
use crate::crawlers::{builtin, crawler::Crawler, identify::Identified, table};
use crate::error::{Error, Result};
use std::path::Path;

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// Rows that can be read.
    pub rows: usize,
    /// The crawlers that replace a built-in one.
    pub replacing: usize,
    /// The errors, in the order of lines.
    pub errors: Vec<Error>,
    /// The warnings, in the order of lines.
    pub warnings: Vec<Error>,
}

/// Checks the list at `path`.
///
/// # Errors
/// If it cannot be read.
pub fn check(path: &Path) -> Result<Checked> {
    let text = read_file(path)?;
    let (rows, errors) = table::read_all(path, &text);
    let builtin = builtin::rows();
    let is_builtin =
        |name: &str| builtin.iter().any(|row| row.crawler.name().eq_ignore_ascii_case(name));
    let replacing = rows.iter().filter(|(_, row)| is_builtin(&row.crawler.name)).count();
    let own: Vec<(u64, String)> =
        rows.iter().map(|(line, row)| (*line, row.crawler.name.clone())).collect();
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    let registry = Registry::new(merged(builtin, rows));
    let mut warnings = Vec::new();
    for (line, name) in &own {
        let id = registry.find(name).expect("its row was merged into the registry");
        let whys = oddities_of(registry.crawler(id), &registry);
        warnings.extend(whys.into_iter().map(|why| Error::invalid(path, *line, why)));
    }
    Ok(Checked { rows: own.len(), replacing, errors, warnings })
}

fn oddities_of(crawler: &Crawler, registry: &Registry) -> Vec<String> {
    let mut whys = Vec::new();
    let sample = crawler.sample_user_agent.as_str();
    let found = match registry.identify(sample.as_bytes()) {
        Identified::Crawler(id) => registry.crawler(id).name.as_str(),
        Identified::Generic => "an unknown crawler",
        Identified::Other | Identified::Empty => "no crawler",
    };
    if !sample.is_empty() && found != crawler.name {
        whys.push(format!("sample_user_agent '{sample}' is identified as {found}"));
    }
    let pages = [&crawler.documentation_url, &crawler.evidence_url, &crawler.promise_url];
    for url in crawler.ip_list_urls.iter().chain(pages.into_iter().filter(|url| !url.is_empty())) {
        if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
            whys.push(format!(
                "'{url}' is not a valid URL; write it with its scheme, such as \
                 https://example.com/"
            ));
        }
    }
    for (column, number) in [
        ("reaction_hours", crawler.reaction_hours),
        ("robots_cache_hours", crawler.robots_cache_hours),
        ("rate_per_hour", crawler.rate_per_hour),
    ] {
        if number.is_some() && crawler.promise_url.is_empty() {
            whys.push(format!("{column} has no source; name the page in promise_url"));
        }
    }
    for suffix in &crawler.rdns_suffixes {
        if !suffix.trim_matches('.').contains('.') {
            whys.push(format!(
                "rdns_suffixes has '{suffix}', where anyone can get a name; write the operator's \
                 own domain"
            ));
        }
    }
    whys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::crawler::Visibility;

    #[test]
    fn all_errors_and_warnings_are_named_with_their_lines() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("own.csv");
        let text = "name,user_agent_regex,sample_user_agent,ip_list_urls,rdns_suffixes,evidence\n\
                    mybot,mybot,mybot/1.0,https://example.com/ips,bots.example.com,\n\
                    yourbot,y(,,,,\n\
                    gptbot,GPTBot,GPTBot/1.0,,,\n\
                    short\n\
                    hisbot,hisbot,herbot/1.0,example.com/ips,com,\n\
                    mybot,mybot,,,,\n\
                    ourbot,ourbot,,,,hearsay\n";
        std::fs::write(&path, text).unwrap();
        let found = check(&path).unwrap();
        let name = path.display().to_string();
        let messages = |errors: &[Error]| {
            let lines: Vec<String> =
                errors.iter().map(|error| error.to_string().replace(&name, "")).collect();
            lines.join("\n")
        };
        assert_eq!((found.rows, found.replacing), (3, 1));
        assert_eq!(
            messages(&found.errors),
            ":3: user_agent_regex 'y(': unclosed group\n:5: 1 cells, but the first line names 6 columns\n:7: 'mybot' is already on line 2; remove one of them\n:8: evidence is 'hearsay'; write one of operator-doc, registry, unverified"
        );
        assert_eq!(
            messages(&found.warnings),
            ":6: sample_user_agent 'herbot/1.0' is identified as an unknown crawler\n:6: 'example.com/ips' is not a valid URL; write it with its scheme, such as https://example.com/\n:6: rdns_suffixes has 'com', where anyone can get a name; write the operator's own domain"
        );
    }

    #[test]
    fn the_built_in_list_has_no_warnings() {
        let registry = Registry::builtin();
        for (_, crawler) in registry.iter().filter(|(id, _)| *id != registry.generic()) {
            let whys = oddities_of(crawler, &registry);
            // Rows without a user agent of their own have samples of the crawlers that fetch for
            // them.
            let is_meant = crawler.visibility == Visibility::NoUserAgent;
            assert!(whys.is_empty() || is_meant, "{}: {whys:?}", crawler.name);
        }
    }
}
