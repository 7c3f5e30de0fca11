//! Checks and counts signatures of requests.

use crate::audit::client::client_identifier;
use crate::audit::identities::Identities;
use crate::audit::input_tally::InputTally;
use crate::audit::sites::{Site, SiteId};
use crate::crawlers::crawler::CrawlerId;
use crate::crawlers::identify::Identified;
use crate::crawlers::identity::{Identity, IdentityAnswer, Proof};
use crate::crawlers::key_archive::SignatureAgent;
use crate::judge::verdict::Verdict;
use crate::logs::record::{Fields, Record, Scheme, Scratch};
use crate::measures::signatures::{BROWSER, NO_USER_AGENT, SignatureKey, SignatureTally, UNNAMED};
use crate::measures::sums::Span;
use crate::signatures::base::{SignatureHeaders, SignedRequest};
use crate::signatures::check::{CheckedSignature, Directories, KeyAnswer, check};
use crate::url::origin::Origin;
use crate::url::path::Target;

use super::Worker;

/// No directory is known.
struct NoKeys;

impl Directories for NoKeys {
    fn key(&self, _: &str, _: &str, _: i64) -> KeyAnswer<'_> {
        KeyAnswer::NoDirectory
    }
}

/// The signature of a request, if it has one.
#[inline]
fn checked(
    identities: &Identities,
    site: &Site,
    target: Target<'_>,
    record: &Record<'_>,
) -> Option<Box<CheckedSignature>> {
    match (record.signature, record.edge) {
        (None, None) => None,
        (None, Some(edge)) => Some(Box::new(CheckedSignature::of_edge(edge))),
        (Some(headers), edge) => {
            let signature = checked_headers(identities, site, target, record, headers);
            Some(Box::new(signature.with_edge(edge)))
        }
    }
}

fn checked_headers(
    identities: &Identities,
    site: &Site,
    target: Target<'_>,
    record: &Record<'_>,
    headers: SignatureHeaders<'_>,
) -> CheckedSignature {
    // A proxy may have ended the encryption.
    let schemes = match record.scheme {
        Some(Scheme::Http) => ["http", "https"],
        _ => ["https", "http"],
    };
    let mut authorities: Vec<String> = Vec::new();
    let mut add = |origin: Option<Origin>| {
        if let Some(origin) = origin
            && !authorities.iter().any(|known| known == origin.host_and_port())
        {
            authorities.push(origin.host_and_port().to_owned());
        }
    };
    // The port may be that of a server behind a proxy.
    for scheme in schemes.map(str::as_bytes) {
        match (target, record.host) {
            (Target::Absolute { authority, .. }, _) => {
                add(Origin::from_authority(scheme, authority))
            }
            (_, Some(host)) => add(Origin::new(scheme, host, record.port)),
            (_, None) => {}
        }
    }
    match (target, record.host) {
        (Target::Absolute { .. }, _) => {}
        (_, Some(host)) => add(Origin::new(b"https", host, None)),
        (_, None) => authorities.extend(site.origin_key.host_and_port().map(str::to_owned)),
    }
    let authorities: Vec<&str> = authorities.iter().map(String::as_str).collect();
    let has_host = matches!(target, Target::Absolute { .. }) || record.host.is_some();
    let request = SignedRequest {
        method: record.method,
        target: record.target.unwrap_or_default(),
        authorities: &authorities,
        has_host,
        schemes: &schemes,
        user_agent: Some(record.user_agent).filter(|user_agent| *user_agent != b"-"),
        headers,
    };
    let directories: &dyn Directories = match &identities.keys {
        Some(keys) => keys,
        None => &NoKeys,
    };
    check(&request, directories, record.time.unix_seconds())
}

impl Worker<'_> {
    /// The signature of a request, if it has one, and whether its client is `crawler`. A signature by
    /// the operator of the crawler decides.
    pub(super) fn identified(
        &mut self,
        site: SiteId,
        target: Target<'_>,
        crawler: CrawlerId,
        record: &Record<'_>,
    ) -> (Option<Box<CheckedSignature>>, IdentityAnswer) {
        let identities = self.context.identities;
        let signature = checked(identities, self.sites.get(site), target, record);
        let is_own = |signature: &CheckedSignature| {
            let name = &self.context.registry.crawler(crawler).name;
            let keys = identities.keys.as_ref();
            signature.is_valid()
                && keys.is_some_and(|keys| keys.is_of_crawler(&signature.agent, name))
        };
        let answer = match signature.as_deref().is_some_and(is_own) {
            true => IdentityAnswer::new(Identity::Verified, Proof::Signature),
            false => self.known_clients.identity(
                (identities, &self.context.options.trusted_proxies),
                crawler,
                record,
            ),
        };
        (signature, answer)
    }

    /// Counts the signature of a request of `crawler`, with the verdict on it, if there is one.
    pub(super) fn count_signature(
        &mut self,
        site: SiteId,
        crawler: &str,
        signature: &CheckedSignature,
        (record, verdict): (&Record<'_>, Option<Verdict>),
    ) {
        let origin = &self.sites.get(site).origin_key;
        let key = SignatureKey {
            origin: origin.as_str(),
            crawler,
            agent: &signature.agent,
            state: signature.state,
        };
        let one = SignatureTally {
            requests: 1,
            violations: u64::from(matches!(verdict, Some(Verdict::Violation(_)))),
            span: Some(Span::at(record.time)),
        };
        let client = client_identifier(record, &self.context.options.trusted_proxies);
        let client = client.as_deref().unwrap_or_default().as_bytes();
        self.counter.signatures.count(key, one, signature.use_hash, client);
    }

    /// The same for a request of no known crawler, on which there is no verdict. Says whether its line
    /// is counted: a client with the user agent of a browser, or none, is its signer. Automated clients
    /// have rows by their user agents.
    #[cold]
    pub(super) fn count_signed_visitor(
        &mut self,
        who: Identified,
        fields: &Fields<'_>,
        scratch: &mut Scratch,
        tally: &mut InputTally,
    ) -> bool {
        let name = match who {
            Identified::Crawler(_) => return false,
            Identified::Generic => UNNAMED,
            Identified::Other => BROWSER,
            Identified::Empty => NO_USER_AGENT,
        };
        let Ok(record) = fields.record(scratch) else { return false };
        let (target, site) = self.address(&record);
        let signature = checked(self.context.identities, self.sites.get(site), target, &record);
        let Some(signature) = signature else { return false };
        self.count_signature(site, name, &signature, (&record, None));
        let is_signer = signature.is_valid() && name != UNNAMED;
        if is_signer {
            let operator = self.operator_of(&signature.agent);
            self.count_signer(operator, fields, scratch, tally);
        }
        is_signer
    }

    /// Who publishes the keys at `agent`: the operator of its crawler, or else the name or the host of
    /// the agent.
    fn operator_of(&self, agent: &str) -> String {
        let registry = self.context.registry;
        let of_archive = self.context.identities.keys.iter().flat_map(|keys| keys.crawlers(agent));
        let crawler = of_archive.into_iter().find_map(|name| registry.find(name));
        let operator = crawler.and_then(|id| registry.crawler(id).known_operator());
        let known = operator.or_else(|| Some(SignatureAgent::of_directory(agent)?.name));
        let host =
            || Origin::parse(agent.as_bytes()).map(|origin| origin.host_and_port().to_owned());
        known.map(str::to_owned).or_else(host).unwrap_or_default()
    }
}
