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
        let is_governed = !self.judge.has_single_file() || self.is_on_the_port_of_the_file(&origin);
        let host_source = if is_governed { host_source } else { HostSource::Foreign };
        let is_named = Some(&origin) == named.as_ref()
            || self.judge.is_named(&origin)
            || aliases.is_name(&origin);
        let origin_key = OriginKey::Origin(origin);
        let origin_rank = OriginRank::new(&origin_key, !is_named);
        Site::new(Arc::new(origin_key), origin_rank, host_source)
    }

    /// Whether a single robots.txt, which is for one port, is for that of `origin`: the port of
    /// `--origin`. The default ports of http and https count as one, because a log often has both,
    /// and does not always say which.
    fn is_on_the_port_of_the_file(&self, origin: &Origin) -> bool {
        let is_web = matches!(origin.scheme(), "http" | "https");
        is_web && origin.port() == self.naming.origin.as_ref().and_then(Origin::port)
    }

    /// A host and a port do not determine the scheme. Port 443 is https and port 80 http. For other
    /// ports it is the scheme that the user names for this host and port, or http. Without a port,
    /// the host of `--origin` is that origin.
    fn origin_of_any_scheme(&self, host: &[u8], port: Option<u16>) -> Option<Origin> {
        let http = Origin::new(b"http", host, port)?;
        let https = Origin::new(b"https", host, port)?;
        let named = self.naming.origin.as_ref().filter(|named| named.host() == http.host());
        if let (None, Some(named)) = (port, named) {
            return Some(named.clone());
        }
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
mod tests;
