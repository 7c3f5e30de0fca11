//! From the host that a record names to its place in the report and the
//! robots.txt that governs it. Asked once for each distinct host, then remembered.

use std::collections::HashMap;
use std::sync::Arc;

use crate::judge::origin_history::OriginHistory;
use crate::judge::{HostSource, Judge};
use crate::logs::record::Scheme;
use crate::url::origin::Origin;

use super::naming::{Captured, Naming};
use super::place::Place;
use super::place::Standing;
use crate::bounded::StableHash;

/// Hosts that a worker remembers; past it, it forgets all and starts anew.
const REMEMBERED_MAX: usize = 1 << 14;

/// Host names longer than this are asked for anew each time.
const REMEMBERED_BYTES_MAX: usize = 256;

/// Where a request was addressed.
#[derive(Clone, Debug)]
pub struct Site {
    /// What the report calls it.
    pub place: Arc<Place>,
    /// Whether it may be folded into `(others)`.
    pub standing: Standing,
    /// What governs it, and when; `None` where nothing is known.
    pub known: Option<Arc<OriginHistory>>,
    /// Who says that the request was addressed there.
    pub host_source: HostSource,
}

/// One worker's memory of hosts.
#[derive(Debug)]
pub struct Sites<'a> {
    judge: &'a Judge,
    /// What the user says.
    naming: &'a Naming,
    /// What the name of the file says from which lines come now.
    from_path: Option<Captured>,
    default_site: Site,
    own: HashMap<Box<[u8]>, Site>,
    foreign: HashMap<Box<[u8]>, Site>,
    key: Vec<u8>,
}

impl<'a> Sites<'a> {
    /// Of a judge's origins, under the names that the user gives them.
    pub fn new(judge: &'a Judge, naming: &'a Naming) -> Sites<'a> {
        let default_site = Site {
            place: Arc::new(Place::Unnamed),
            standing: Standing::Named,
            known: judge.unnamed_known(),
            host_source: HostSource::Own,
        };
        let mut sites = Sites {
            judge,
            naming,
            from_path: None,
            default_site,
            own: HashMap::new(),
            foreign: HashMap::new(),
            key: Vec::new(),
        };
        if let Some(origin) = &naming.origin {
            sites.default_site = sites.site(Some(origin.clone()), HostSource::Own);
        }
        sites
    }

    /// Goes on to lines of a file whose name says so much. What `--origin` says wins over it.
    pub fn turn_to(&mut self, from_path: Option<&Captured>) {
        if self.from_path.as_ref() != from_path {
            self.from_path = from_path.cloned();
        }
    }

    /// Where a record was addressed, by its own fields; where these name no host, by what the
    /// user says.
    pub fn own(&mut self, host: Option<&[u8]>, port: Option<u16>, scheme: Option<Scheme>) -> Site {
        match (host, &self.from_path) {
            (Some(host), _) => self.named(host, port, scheme.map(Scheme::as_str)),
            (None, Some(captured)) if self.naming.origin.is_none() => {
                let Captured { host, port, scheme: named } = captured.clone();
                let scheme = named.as_deref().or(scheme.map(Scheme::as_str));
                self.named(host.as_bytes(), port, scheme)
            }
            (None, _) => self.default_site.clone(),
        }
    }

    fn named(&mut self, host: &[u8], port: Option<u16>, scheme: Option<&str>) -> Site {
        let scheme = scheme.unwrap_or_default();
        self.set_key(&[host, &port.unwrap_or(0).to_le_bytes(), scheme.as_bytes()]);
        if let Some(known) = self.own.get(self.key.as_slice()) {
            return known.clone();
        }
        let origin = match scheme {
            "" => self.origin_of_any_scheme(host, port),
            scheme => {
                // The other scheme's own port is that of a server behind whoever encrypts.
                let port = port.filter(|&port| port != if scheme == "https" { 80 } else { 443 });
                Origin::new(scheme.as_bytes(), host, port)
            }
        };
        let site = self.site(origin, HostSource::Own);
        remember(&mut self.own, &self.key, &site);
        site
    }

    /// Where a record was addressed whose target names its own origin; `own` is what else it says.
    pub fn absolute(&mut self, scheme: &[u8], authority: &[u8], own: &Site) -> Site {
        let own_host = own.place.host();
        self.set_key(&[scheme, b"://", authority, b"\0", own_host.unwrap_or("").as_bytes()]);
        if let Some(known) = self.foreign.get(self.key.as_slice()) {
            return known.clone();
        }
        let origin = Origin::from_authority(scheme, authority);
        let is_ours = origin.as_ref().is_some_and(|origin| {
            let name = self.naming.aliases.resolve(origin);
            let is_named = name.is_some() || Some(origin) == self.naming.origin.as_ref();
            is_named || Some(origin.host()) == own_host
        });
        let site = self.site(origin, if is_ours { HostSource::Own } else { HostSource::Foreign });
        remember(&mut self.foreign, &self.key, &site);
        site
    }

    fn site(&self, origin: Option<Origin>, host_source: HostSource) -> Site {
        let Some(origin) = origin else {
            return Site {
                place: Arc::new(Place::Invalid),
                standing: Standing::Named,
                known: None,
                host_source,
            };
        };
        let Naming { origin: named, aliases, .. } = self.naming;
        let origin = aliases.resolve(&origin).unwrap_or(origin);
        let known = self.judge.known(&origin, host_source);
        let is_named = Some(&origin) == named.as_ref()
            || self.judge.is_named(&origin)
            || aliases.is_name(&origin);
        let place = Place::Origin(origin);
        let standing =
            if is_named { Standing::Named } else { Standing::Stranger(place.stable_hash()) };
        Site { place: Arc::new(place), standing, known, host_source }
    }

    /// A host and a port do not tell the scheme. Port 443 is https and port 80 http; else
    /// it is whichever the user names for that host and port, and http where that says nothing.
    fn origin_of_any_scheme(&self, host: &[u8], port: Option<u16>) -> Option<Origin> {
        let http = Origin::new(b"http", host, port)?;
        let https = Origin::new(b"https", host, port)?;
        let is_https = match (port, &self.naming.origin) {
            (Some(80), _) => false,
            (Some(443), _) => true,
            (_, Some(origin)) if *origin == https => true,
            (_, Some(origin)) if *origin == http => false,
            _ => self.judge.is_named(&https) && !self.judge.is_named(&http),
        };
        Some(if is_https { https } else { http })
    }

    fn set_key(&mut self, parts: &[&[u8]]) {
        self.key.clear();
        parts.iter().for_each(|part| self.key.extend_from_slice(part));
    }
}

fn remember(known: &mut HashMap<Box<[u8]>, Site>, key: &[u8], site: &Site) {
    if key.len() > REMEMBERED_BYTES_MAX {
        return;
    }
    if known.len() >= REMEMBERED_MAX {
        known.clear();
    }
    known.insert(key.into(), site.clone());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Store;
    use crate::crawlers::registry::Registry;
    use crate::url::dialect::Dialect;

    fn judge(names: &[&str]) -> Judge {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(dir.path().join(name), "User-agent: *\nDisallow: /\n").unwrap();
        }
        let store = match names {
            ["robots.txt"] => Store::open(&dir.path().join("robots.txt")),
            _ => Store::open(dir.path()),
        };
        Judge::new(store.unwrap(), &Registry::builtin(), Dialect::Google).unwrap()
    }

    fn naming(origin: &str) -> Naming {
        Naming { origin: Origin::parse(origin.as_bytes()), ..Naming::default() }
    }

    #[track_caller]
    fn check(sites: &mut Sites<'_>, host_port: &str, expected: &str) {
        let (host, port) = host_port
            .split_once(':')
            .map_or((host_port, None), |(host, port)| (host, port.parse().ok()));
        let site = sites.own(Some(host.as_bytes()), port, None);
        assert_eq!(site.place.to_string(), expected, "{host_port}");
    }

    #[test]
    fn the_scheme_is_told_from_the_port_or_from_what_the_user_named() {
        let judge = judge(&["https_api.example.com_8443.txt", "example.com"]);
        let naming = naming("https://example.org");
        let sites = &mut Sites::new(&judge, &naming);
        check(sites, "example.com:443", "https://example.com");
        check(sites, "Example.COM.:80", "http://example.com");
        check(sites, "api.example.com:8443", "https://api.example.com:8443");
        check(sites, "api.example.com:8080", "http://api.example.com:8080");
        check(sites, "example.org", "https://example.org");
        check(sites, "example.net", "http://example.net");
        check(sites, "a b:80", "(invalid)");
    }

    #[test]
    fn a_file_given_by_hand_governs_our_hosts_but_no_host_that_only_a_target_names() {
        let judge = judge(&["robots.txt"]);
        let mut naming = naming("https://example.com");
        naming.aliases.add("old.example.com=www.example.com").unwrap();
        let sites = &mut Sites::new(&judge, &naming);
        let own = sites.own(Some(b"www.example.com"), Some(443), None);
        assert!(own.known.is_some());
        assert!(sites.absolute(b"http", b"www.example.com:80", &own).known.is_some());
        assert!(sites.absolute(b"https", b"example.com", &own).known.is_some());
        assert!(sites.absolute(b"http", b"proxy.test", &own).known.is_none());
        let site = sites.absolute(b"http", b"old.example.com", &own);
        assert!(site.known.is_some() && site.place.to_string() == "http://www.example.com");
        let unnamed = sites.own(None, None, None);
        assert_eq!(unnamed.place.to_string(), "https://example.com");
        assert!(sites.absolute(b"http", b"proxy.test", &unnamed).known.is_none());
    }

    #[test]
    fn what_the_log_says_wins_over_origin_and_that_over_the_name_of_the_file() {
        let judge = judge(&["robots.txt"]);
        let captured = Captured { host: "file.example".into(), scheme: None, port: Some(8443) };
        let nothing = Naming::default();
        let mut sites = Sites::new(&judge, &nothing);
        let place = |sites: &mut Sites<'_>, host: Option<&str>, port, scheme| {
            sites.own(host.map(str::as_bytes), port, scheme).place.to_string()
        };
        assert_eq!(place(&mut sites, None, None, None), "-");
        sites.turn_to(Some(&captured));
        assert_eq!(place(&mut sites, None, None, None), "http://file.example:8443");
        let https = Some(Scheme::Https);
        assert_eq!(place(&mut sites, None, Some(443), https), "https://file.example:8443");
        assert_eq!(place(&mut sites, Some("log.example"), None, https), "https://log.example");
        assert_eq!(place(&mut sites, Some("log.example"), Some(80), https), "https://log.example");
        let (port, http) = (Some(8443), Some(Scheme::Http));
        assert_eq!(place(&mut sites, Some("log.example"), port, http), "http://log.example:8443");
        sites.turn_to(None);
        assert_eq!(place(&mut sites, None, None, None), "-");
        let named = naming("https://example.com");
        let mut sites = Sites::new(&judge, &named);
        sites.turn_to(Some(&captured));
        assert_eq!(place(&mut sites, None, None, None), "https://example.com");
        assert_eq!(place(&mut sites, Some("log.example"), None, None), "http://log.example");
    }
}
