//! Maps the host of a record to its origin and its robots.txt. Each distinct host is looked up once
//! and then cached.

use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::judge::{HostSource, Judge, origin_history::OriginHistory};
use crate::logs::record::Scheme;
use crate::url::origin::Origin;

use super::origin_key::{OriginKey, OriginRank};
use super::origin_options::{Aliases, Captured, OriginOptions};

/// Hosts that a worker remembers, about; past it, it forgets all before the next chunk.
const REMEMBERED_MAX: usize = 1 << 14;

/// The longest host name that is cached, in bytes.
const REMEMBERED_BYTES_MAX: usize = 256;

/// An origin of requests.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Its name in reports.
    pub origin_key: Arc<OriginKey>,
    /// Whether it may be folded into `(others)`.
    pub origin_rank: OriginRank,
    /// The history of its robots.txt, once it was asked for.
    known: OnceLock<Option<Arc<OriginHistory>>>,
    /// The source of the origin.
    pub host_source: HostSource,
}

impl Site {
    /// A site whose robots.txt is not loaded.
    pub(crate) fn new(
        origin_key: Arc<OriginKey>,
        origin_rank: OriginRank,
        host_source: HostSource,
    ) -> Site {
        Site { origin_key, origin_rank, known: OnceLock::new(), host_source }
    }

    /// Its name in reports, with its rank.
    pub(crate) fn ranked(&self) -> (&OriginKey, OriginRank) {
        (&self.origin_key, self.origin_rank)
    }

    /// The history of its robots.txt; `None` if nothing is known. It is loaded with the first
    /// request that it is needed for.
    #[inline]
    pub(crate) fn known(&self, judge: &Judge) -> Option<&OriginHistory> {
        let load = || match &*self.origin_key {
            OriginKey::Origin(origin) => judge.known(origin, self.host_source),
            OriginKey::Unnamed => judge.unnamed_known(),
            OriginKey::Invalid | OriginKey::Others => None,
        };
        self.known.get_or_init(load).as_deref()
    }
}

/// The id of a site in one worker's cache, valid until [`Sites::generation`] changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SiteId(u32);

impl SiteId {
    /// The origin of records without a host.
    const DEFAULT: SiteId = SiteId(0);

    /// The index in the list of sites.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The most cached hosts, a power of two.
const RECENT: usize = 1024;

/// The host of one record.
#[derive(Clone, Debug)]
struct RecentHost {
    /// Empty without a host.
    host: Vec<u8>,
    port: Option<u16>,
    scheme: Option<Scheme>,
    site: SiteId,
}

impl RecentHost {
    const NONE: RecentHost =
        RecentHost { host: Vec::new(), port: None, scheme: None, site: SiteId::DEFAULT };
}

/// One worker's cache of hosts.
#[derive(Debug)]
pub(crate) struct Sites<'a> {
    judge: &'a Judge,
    /// The settings of the user.
    naming: &'a OriginOptions,
    /// The origin in the name of the current file.
    from_path: Option<Captured>,
    /// By [`SiteId`].
    sites: Vec<Site>,
    own: HashMap<Box<[u8]>, SiteId, RandomState>,
    foreign: HashMap<Box<[u8]>, SiteId, RandomState>,
    key: Vec<u8>,
    /// A hash table of hosts, with port and scheme.
    recent: Vec<RecentHost>,
    /// How often all was forgotten.
    pub generation: u64,
}

impl<'a> Sites<'a> {
    /// The sites of a judge's origins, with the user's aliases.
    pub(crate) fn new(judge: &'a Judge, naming: &'a OriginOptions) -> Sites<'a> {
        let mut sites = Sites {
            judge,
            naming,
            from_path: None,
            sites: Vec::new(),
            own: HashMap::default(),
            foreign: HashMap::default(),
            key: Vec::new(),
            recent: vec![RecentHost::NONE; RECENT],
            generation: 0,
        };
        let default_site = match &naming.origin {
            Some(origin) => sites.site(Some(origin.clone()), HostSource::Own),
            None => Site::new(Arc::new(OriginKey::Unnamed), OriginRank::Named, HostSource::Own),
        };
        sites.sites.push(default_site);
        sites
    }

    /// The site of an id of this generation.
    pub(crate) fn get(&self, id: SiteId) -> &Site {
        &self.sites[id.index()]
    }

    /// The user's aliases.
    pub(crate) fn aliases(&self) -> &'a Aliases {
        &self.naming.aliases
    }

    /// Switches to a file with this origin in its name. `--origin` takes precedence.
    pub(crate) fn turn_to(&mut self, from_path: Option<&Captured>) {
        if self.from_path.as_ref() != from_path {
            self.from_path = from_path.cloned();
        }
        // The cache can be cleared here, because no ids are in use between two chunks.
        if self.sites.len() > REMEMBERED_MAX {
            self.sites.truncate(1);
            self.own.clear();
            self.foreign.clear();
            self.recent.fill(RecentHost::NONE);
            self.generation += 1;
        }
    }

    /// The site of a record by its own fields, or by the settings of the user if these have no
    /// host.
    pub(crate) fn own(
        &mut self,
        host: Option<&[u8]>,
        port: Option<u16>,
        scheme: Option<Scheme>,
    ) -> SiteId {
        match (host, &self.from_path) {
            (Some(host), _) => {
                let at = self.own.hasher().hash_one(host) as usize % RECENT;
                let recent = &self.recent[at];
                let is_it = recent.host == host && (recent.port, recent.scheme) == (port, scheme);
                if is_it && !host.is_empty() {
                    return recent.site;
                }
                let site = self.named(host, port, scheme.map(Scheme::as_str));
                let host = if host.len() <= REMEMBERED_BYTES_MAX { host.to_vec() } else { vec![] };
                self.recent[at] = RecentHost { host, port, scheme, site };
                site
            }
            (None, Some(captured)) if self.naming.origin.is_none() => {
                let Captured { host, port, scheme: named } = captured.clone();
                let scheme = named.as_deref().or(scheme.map(Scheme::as_str));
                self.named(host.as_bytes(), port, scheme)
            }
            (None, _) => SiteId::DEFAULT,
        }
    }

    fn named(&mut self, host: &[u8], port: Option<u16>, scheme: Option<&str>) -> SiteId {
        let scheme = scheme.unwrap_or_default();
        self.set_key(&[host, &port.unwrap_or(0).to_le_bytes(), scheme.as_bytes()]);
        if let Some(known) = self.own.get(self.key.as_slice()) {
            return *known;
        }
        let origin = match scheme {
            "" => self.origin_of_any_scheme(host, port),
            scheme => {
                // The default port of the other scheme belongs to a server behind a TLS proxy.
                let port = port.filter(|&port| port != if scheme == "https" { 80 } else { 443 });
                Origin::new(scheme.as_bytes(), host, port)
            }
        };
        let site = self.add(origin, HostSource::Own);
        remember(&mut self.own, &self.key, site);
        site
    }

    /// The site of a record whose target has its own origin; `own` is the site by its fields.
    pub(crate) fn absolute(&mut self, scheme: &[u8], authority: &[u8], own: SiteId) -> SiteId {
        let own_origin_key = Arc::clone(&self.get(own).origin_key);
        let own_host = own_origin_key.host();
        self.set_key(&[scheme, b"://", authority, b"\0", own_host.unwrap_or("").as_bytes()]);
        if let Some(known) = self.foreign.get(self.key.as_slice()) {
            return *known;
        }
        let origin = Origin::from_authority(scheme, authority);
        let is_ours = origin.as_ref().is_some_and(|origin| {
            let name = self.naming.aliases.resolve(origin);
            let is_named = name.is_some() || Some(origin) == self.naming.origin.as_ref();
            is_named || Some(origin.host()) == own_host
        });
        let site = self.add(origin, if is_ours { HostSource::Own } else { HostSource::Foreign });
        remember(&mut self.foreign, &self.key, site);
        site
    }

    fn add(&mut self, origin: Option<Origin>, host_source: HostSource) -> SiteId {
        let id = u32::try_from(self.sites.len()).expect("a chunk names fewer hosts");
        self.sites.push(self.site(origin, host_source));
        SiteId(id)
    }

    /// The site of an own host.
    pub(crate) fn of_origin_key(&self, origin_key: &OriginKey) -> Site {
        match origin_key {
            OriginKey::Unnamed => {
                let default_site = &self.sites[0];
                default_site.known(self.judge);
                Site { origin_key: Arc::new(OriginKey::Unnamed), ..default_site.clone() }
            }
            OriginKey::Origin(origin) => self.site(Some(origin.clone()), HostSource::Own),
            OriginKey::Invalid | OriginKey::Others => self.site(None, HostSource::Own),
        }
    }

    fn site(&self, origin: Option<Origin>, host_source: HostSource) -> Site {
        let Some(origin) = origin else {
            return Site::new(Arc::new(OriginKey::Invalid), OriginRank::Named, host_source);
        };
        let OriginOptions { origin: named, aliases, .. } = self.naming;
        let origin = aliases.resolve(&origin).unwrap_or(origin);
        let is_named = Some(&origin) == named.as_ref()
            || self.judge.is_named(&origin)
            || aliases.is_name(&origin);
        let origin_key = OriginKey::Origin(origin);
        let origin_rank = OriginRank::new(&origin_key, !is_named);
        Site::new(Arc::new(origin_key), origin_rank, host_source)
    }

    /// A host and a port do not determine the scheme. Port 443 is https and port 80 http. For other
    /// ports it is the scheme that the user names for this host and port, or http.
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

fn remember(known: &mut HashMap<Box<[u8]>, SiteId, RandomState>, key: &[u8], site: SiteId) {
    if key.len() <= REMEMBERED_BYTES_MAX {
        known.insert(key.into(), site);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Store;
    use crate::crawlers::registry::Registry;
    use crate::url::path::Dialect;

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

    fn naming(origin: &str) -> OriginOptions {
        OriginOptions { origin: Origin::parse(origin.as_bytes()), ..OriginOptions::default() }
    }

    #[track_caller]
    fn check(sites: &mut Sites<'_>, host_port: &str, expected: &str) {
        let (host, port) = host_port
            .split_once(':')
            .map_or((host_port, None), |(host, port)| (host, port.parse().ok()));
        let site = sites.own(Some(host.as_bytes()), port, None);
        assert_eq!(sites.get(site).origin_key.to_string(), expected, "{host_port}");
    }

    #[test]
    fn the_scheme_follows_from_the_port_or_the_named_origin() {
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
    fn a_single_file_governs_our_hosts_but_no_host_that_only_a_target_names() {
        let judge = judge(&["robots.txt"]);
        let mut naming = naming("https://example.com");
        naming.aliases.add("old.example.com=www.example.com").unwrap();
        let sites = &mut Sites::new(&judge, &naming);
        let own = sites.own(Some(b"www.example.com"), Some(443), None);
        assert!(sites.get(own).known(&judge).is_some());
        let is_known = |sites: &mut Sites<'_>, scheme: &str, authority: &str, own| {
            let site = sites.absolute(scheme.as_bytes(), authority.as_bytes(), own);
            sites.get(site).known(&judge).is_some()
        };
        assert!(is_known(sites, "http", "www.example.com:80", own));
        assert!(is_known(sites, "https", "example.com", own));
        assert!(!is_known(sites, "http", "proxy.test", own));
        let site = sites.absolute(b"http", b"old.example.com", own);
        let site = sites.get(site);
        assert!(
            site.known(&judge).is_some() && site.origin_key.to_string() == "http://www.example.com"
        );
        let unnamed = sites.own(None, None, None);
        assert_eq!(sites.get(unnamed).origin_key.to_string(), "https://example.com");
        assert!(!is_known(sites, "http", "proxy.test", unnamed));
    }

    #[test]
    fn what_the_log_says_wins_over_origin_and_that_over_the_name_of_the_file() {
        let judge = judge(&["robots.txt"]);
        let captured = Captured { host: "file.example".into(), scheme: None, port: Some(8443) };
        let nothing = OriginOptions::default();
        let mut sites = Sites::new(&judge, &nothing);
        let origin_key = |sites: &mut Sites<'_>, host: Option<&str>, port, scheme| {
            let site = sites.own(host.map(str::as_bytes), port, scheme);
            sites.get(site).origin_key.to_string()
        };
        assert_eq!(origin_key(&mut sites, None, None, None), "-");
        sites.turn_to(Some(&captured));
        assert_eq!(origin_key(&mut sites, None, None, None), "http://file.example:8443");
        let https = Some(Scheme::Https);
        assert_eq!(origin_key(&mut sites, None, Some(443), https), "https://file.example:8443");
        assert_eq!(origin_key(&mut sites, Some("log.example"), None, https), "https://log.example");
        assert_eq!(
            origin_key(&mut sites, Some("log.example"), Some(80), https),
            "https://log.example"
        );
        let (port, http) = (Some(8443), Some(Scheme::Http));
        assert_eq!(
            origin_key(&mut sites, Some("log.example"), port, http),
            "http://log.example:8443"
        );
        sites.turn_to(None);
        assert_eq!(origin_key(&mut sites, None, None, None), "-");
        let named = naming("https://example.com");
        let mut sites = Sites::new(&judge, &named);
        sites.turn_to(Some(&captured));
        assert_eq!(origin_key(&mut sites, None, None, None), "https://example.com");
        assert_eq!(origin_key(&mut sites, Some("log.example"), None, None), "http://log.example");
    }

    #[test]
    fn between_two_chunks_all_hosts_are_forgotten_if_they_are_too_many() {
        let judge = judge(&["robots.txt"]);
        let naming = naming("https://example.com");
        let mut sites = Sites::new(&judge, &naming);
        let default = sites.own(None, None, None);
        let foreign = |sites: &mut Sites<'_>| sites.absolute(b"http", b"proxy.test", default);
        foreign(&mut sites);
        for host in 0..REMEMBERED_MAX - 2 {
            sites.own(Some(format!("{host}.test").as_bytes()), None, None);
        }
        let check = |sites: &mut Sites<'_>, expected: (usize, u64)| {
            sites.turn_to(None);
            assert_eq!((sites.sites.len(), sites.generation), expected);
        };
        check(&mut sites, (REMEMBERED_MAX, 0));
        sites.own(Some(b"last.example"), None, None);
        check(&mut sites, (1, 1));
        for host in ["0.test", "last.example"] {
            let site = sites.own(Some(host.as_bytes()), None, None);
            assert_eq!(sites.get(site).origin_key.host(), Some(host));
        }
        let site = foreign(&mut sites);
        assert_eq!(sites.get(site).origin_key.to_string(), "http://proxy.test");
        let default = sites.own(None, None, None);
        assert_eq!(sites.get(default).origin_key.to_string(), "https://example.com");
    }

    #[test]
    fn a_host_is_looked_up_once_unless_it_is_too_long() {
        let judge = judge(&["robots.txt"]);
        let naming = OriginOptions::default();
        let mut sites = Sites::new(&judge, &naming);
        let (own, target) = (b"a.example".as_slice(), b"b.example".as_slice());
        for host in [own, target] {
            let site = sites.named(host, None, None);
            assert_eq!(sites.named(host, None, None), site);
            let foreign = sites.absolute(b"http", host, site);
            assert_eq!(sites.absolute(b"http", host, site), foreign);
        }
        // With two bytes for the port.
        for (length, is_known) in
            [(REMEMBERED_BYTES_MAX - 2, true), (REMEMBERED_BYTES_MAX - 1, false)]
        {
            let long = "a".repeat(length);
            let site = sites.named(long.as_bytes(), None, None);
            assert_eq!(sites.named(long.as_bytes(), None, None) == site, is_known, "{length}");
        }
        for (length, is_kept) in [(REMEMBERED_BYTES_MAX, true), (REMEMBERED_BYTES_MAX + 1, false)] {
            let long = "b".repeat(length);
            sites.own(Some(long.as_bytes()), None, None);
            let kept = sites.recent.iter().any(|recent| recent.host == long.as_bytes());
            assert_eq!(kept, is_kept, "{length}");
        }
        check(&mut sites, "", "(invalid)");
    }

    #[test]
    fn a_named_origin_wins_over_the_file_of_the_other_scheme() {
        let judge = judge(&["https_example.com_8443.txt"]);
        let (none, named) = (OriginOptions::default(), naming("http://example.com:8443"));
        check(&mut Sites::new(&judge, &none), "example.com:8443", "https://example.com:8443");
        check(&mut Sites::new(&judge, &named), "example.com:8443", "http://example.com:8443");
    }

    /// What machines collected of a log without hosts is of the origin that the user names.
    #[test]
    fn a_log_without_hosts_is_of_the_named_origin() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("example.com"), "User-agent: *\nDisallow: /\n").unwrap();
        let store = Store::open(dir.path()).unwrap();
        let judge = Judge::new(store, &Registry::builtin(), Dialect::Google).unwrap();
        for (host, expected) in [("https://example.com", true), ("https://b.example", false)] {
            let naming = naming(host);
            let site = Sites::new(&judge, &naming).of_origin_key(&OriginKey::Unnamed);
            assert_eq!(*site.origin_key, OriginKey::Unnamed);
            assert_eq!(site.known(&judge).is_some(), expected, "{host}");
        }
    }
}
