//! The settings for origins: the origin of records without a host, origins in file names, and
//! aliases of hosts.

use regex_automata::meta::Regex;

use crate::url::origin::{Origin, canonical_host};

/// The settings for origins.
#[derive(Clone, Debug, Default)]
pub struct OriginOptions {
    /// The origin of records without a host.
    pub origin: Option<Origin>,
    /// If there is none: the pattern for origins in file names.
    pub from_path: Option<FromPath>,
    /// Aliases.
    pub aliases: Aliases,
}

/// A pattern for an origin in the name of a file.
#[derive(Clone, Debug)]
pub struct FromPath(Regex);

/// The origin in the name of a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Captured {
    /// The host as written.
    pub host: String,
    /// `http` or `https`.
    pub scheme: Option<String>,
    /// A number.
    pub port: Option<u16>,
}

impl FromPath {
    /// Reads a regular expression with a group `host`, and maybe groups `scheme` and `port`.
    ///
    /// # Errors
    /// A description of the mistake.
    pub(crate) fn parse(pattern: &str) -> Result<FromPath, String> {
        let regex = Regex::new(pattern).map_err(|err| match err.syntax_error() {
            Some(syntax) => syntax.to_string(),
            None => err.to_string(),
        })?;
        let names: Vec<&str> =
            regex.group_info().all_names().filter_map(|(_, _, name)| name).collect();
        if let Some(name) = names.iter().find(|name| !["host", "scheme", "port"].contains(name)) {
            return Err(format!("unknown group '{name}'; the groups are host, scheme and port"));
        }
        if names.contains(&"host") {
            Ok(FromPath(regex))
        } else {
            Err("it needs a group named host, such as (?<host>[^/]+)".to_owned())
        }
    }

    /// The origin in `name`; `None` if the pattern does not match, or the port is not valid.
    pub(crate) fn captured(&self, name: &str) -> Option<Captured> {
        let mut captures = self.0.create_captures();
        self.0.captures(name, &mut captures);
        let group = |group| captures.get_group_by_name(group).map(|span| &name[span.range()]);
        let port = group("port").map(|port| port.parse().ok());
        Some(Captured {
            host: group("host").filter(|host| !host.is_empty())?.to_owned(),
            scheme: group("scheme").map(str::to_ascii_lowercase),
            port: port.map_or(Some(None), |port| port.map(Some))?,
        })
    }
}

/// Aliases of hosts and origins, each with the canonical one.
#[derive(Clone, Debug, Default)]
pub struct Aliases(Vec<(Named, Named)>);

#[derive(Clone, Debug)]
enum Named {
    /// A host under any scheme and port.
    Host(String),
    Origin(Origin),
}

impl Aliases {
    /// Adds `alias=name`, each a host or an origin.
    ///
    /// # Errors
    /// A description of the mistake.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), String> {
        let (alias, name) = text.split_once('=').ok_or("'=' and the second name are missing")?;
        let name = named(name)?;
        self.0.push((named(alias)?, name));
        Ok(())
    }

    /// The canonical origin of `origin`, if it is an alias. An alias of an origin takes precedence
    /// over one of its host. Aliases of aliases are not followed.
    pub(crate) fn resolve(&self, origin: &Origin) -> Option<Origin> {
        let aliases = || self.0.iter().filter(|(alias, _)| alias.covers(origin));
        let of_origin = aliases().find(|(alias, _)| matches!(alias, Named::Origin(_)));
        match of_origin.or_else(|| aliases().next()).map(|(_, name)| name)? {
            Named::Origin(name) => Some(name.clone()),
            // Scheme and port stay as they are.
            Named::Host(host) => {
                Origin::new(origin.scheme().as_bytes(), host.as_bytes(), origin.port())
            }
        }
    }

    /// Whether `origin` is the target of an alias.
    pub(crate) fn is_name(&self, origin: &Origin) -> bool {
        self.0.iter().any(|(_, name)| name.covers(origin))
    }
}

impl Named {
    fn covers(&self, origin: &Origin) -> bool {
        match self {
            Named::Host(host) => host == origin.host(),
            Named::Origin(name) => name == origin,
        }
    }
}

fn named(text: &str) -> Result<Named, String> {
    let found = if text.contains("://") {
        Origin::parse(text.as_bytes()).map(Named::Origin)
    } else {
        canonical_host(text.as_bytes()).map(Named::Host)
    };
    found.ok_or_else(|| format!("'{text}' is not a valid host or origin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_file_may_say_whose_log_it_is() {
        let check =
            |pattern: &str, name: &str, expected: Option<(&str, Option<&str>, Option<u16>)>| {
                let found = FromPath::parse(pattern).unwrap().captured(name);
                let found =
                    found.as_ref().map(|found| (&*found.host, found.scheme.as_deref(), found.port));
                assert_eq!(found, expected, "{name}");
            };
        let nginx = r"/var/log/nginx/(?<host>[^/]+)\.access\.log";
        check(
            nginx,
            "/var/log/nginx/example.com.access.log.2.gz",
            Some(("example.com", None, None)),
        );
        check(nginx, "/var/log/nginx/access.log", None);
        let all = r"(?<scheme>https?)_(?<host>[^_/]+)(?:_(?<port>\d+))?\.log";
        check(all, "HTTPS_a.example.log", None);
        check(all, "logs/https_a.example_8443.log", Some(("a.example", Some("https"), Some(8443))));
        check(all, "http_a.example.log", Some(("a.example", Some("http"), None)));
        check(all, "http_a.example_99999.log", None);
        for (pattern, expected) in [
            ("(", "unclosed group"),
            ("access", "needs a group named host"),
            ("(?<host>x)(?<hots>y)", "unknown group 'hots'"),
        ] {
            let err = FromPath::parse(pattern).unwrap_err();
            assert!(err.contains(expected), "{err}");
        }
    }

    #[test]
    fn aliases_are_of_hosts_or_of_origins() {
        let mut aliases = Aliases::default();
        for alias in [
            "WWW.example.com.=example.com",
            "http://example.com=https://example.com",
            "old.example.com=https://example.com",
        ] {
            aliases.add(alias).unwrap();
        }
        let check = |origin: &str, expected: Option<&str>| {
            let found = aliases.resolve(&Origin::parse(origin.as_bytes()).unwrap());
            assert_eq!(found.as_ref().map(Origin::as_str), expected, "{origin}");
        };
        check("http://www.example.com:8080", Some("http://example.com:8080"));
        check("https://www.example.com", Some("https://example.com"));
        check("http://example.com", Some("https://example.com"));
        check("https://example.com", None);
        check("http://old.example.com:81", Some("https://example.com"));
        // Once, not over and over.
        check("http://www.example.com", Some("http://example.com"));
        for text in ["", "a", "a b=c", "a=", "http://=a"] {
            assert!(aliases.add(text).is_err(), "{text}");
        }
    }
}
