//! The size of the chunks that logs are cut into. No flag sets it, and it never changes a report.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::sync::Arc;

use botaudit::archive::Store;
use botaudit::audit;
use botaudit::audit::client::ClientKey;
use botaudit::audit::collected_file::{CollectedFile, CollectedHeader};
use botaudit::audit::draft::Draft;
use botaudit::audit::evidence::{Evidence, EvidenceSink};
use botaudit::audit::identities::Identities;
use botaudit::audit::log_outages::OutageHosts;
use botaudit::audit::model::ReportModel;
use botaudit::audit::origin_options::OriginOptions;
use botaudit::audit::prepass::{FirstPass, Wanted};
use botaudit::audit::progress::Progress;
use botaudit::audit::tally::header::DraftScope;
use botaudit::audit::{options::Options, tally};
use botaudit::crawlers::registry::Registry;
use botaudit::input::source::expand;
use botaudit::judge::Judge;
use botaudit::report::privacy::{Addresses, Privacy, Queries};
use botaudit::report::requests::RequestsFile;
use botaudit::report::table::Audited;
use botaudit::report::tables::tables_of;
use botaudit::url::origin::Origin;
use botaudit::url::path::Dialect;

use super::program::Sandbox;

/// Threads, and bytes per chunk.
const WAYS: &[(usize, usize)] =
    &[(1, 1 << 20), (2, 1 << 20), (7, 1 << 20), (1, 1), (2, 7), (7, 333), (3, 4096)];

/// The inputs of an audit besides the logs.
#[derive(Default)]
pub struct Setting<'a> {
    pub robots: &'a str,
    pub origin: Option<&'a str>,
    pub draft: Option<&'a str>,
    pub infer_outages: bool,
}

/// The whole report of an audit of `logs`, by the name of the table.
fn report(
    sandbox: &Sandbox,
    setting: &Setting<'_>,
    logs: &[&str],
    (threads, chunk_bytes): (usize, usize),
) -> BTreeMap<String, Vec<u8>> {
    let registry = Registry::builtin();
    let paths: Vec<OsString> = logs.iter().map(|log| sandbox.path(log).into()).collect();
    let sources = expand(&paths);
    let judge_by = |store| Judge::new(store, &registry, Dialect::Google).unwrap();
    let origin = setting.origin.map(|origin| Origin::parse(origin.as_bytes()).unwrap());
    let draft = setting.draft.map(|draft| {
        let judge = judge_by(Store::File(sandbox.path(draft)));
        Arc::new(Draft::new(judge, DraftScope::Everything).unwrap())
    });
    let naming = OriginOptions { origin, ..OriginOptions::default() };
    let options = Options { chunk_bytes, naming, draft, ..Options::new(threads) };
    let mut judge = judge_by(Store::open(&sandbox.path(setting.robots)).unwrap());
    let (progress, nobody) = (Progress::default(), Identities::default());
    let wanted = Wanted {
        addresses: true,
        outages: setting.infer_outages.then_some(OutageHosts::Ours),
        origins: true,
    };
    let client_key = ClientKey::of_text("sixteen letters!").unwrap();
    let first = FirstPass {
        judge: &judge,
        registry: &registry,
        identities: &nobody,
        wanted,
        client_key: &client_key,
    };
    let (collected, _) =
        audit::collect(&sources, &audit::whole(&sources), &options, &first, &progress).unwrap();
    let inputs = BTreeSet::from(["access.log".to_owned()]);
    let fingerprint = wanted.outages.map(|_| client_key.fingerprint());
    let record = tally::header::ReportedOptions::default();
    let header = CollectedHeader::new(record, &registry, inputs, fingerprint);
    let file = CollectedFile { header, collected: collected.clone() };
    if let Some(answers) = collected.answers {
        judge.add_outages(answers.into_silent(&judge, &options.naming).hours);
    }
    let evidence = sandbox.path("evidence.csv");
    let privacy = Privacy { addresses: Addresses::Full, queries: Queries::Keep };
    let requests = RequestsFile::open(&evidence, privacy).unwrap();
    let take = |evidence: Evidence| requests.take(evidence, &sources, &registry);
    let take: Option<&EvidenceSink<'_>> = Some(&take);
    let record = tally::header::ReportedOptions::default();
    let tally =
        audit::run(&sources, &options, &record, &judge, &registry, &nobody, &progress, take);
    let audit = ReportModel::new(tally.unwrap()).unwrap();
    requests.finish().unwrap().commit().unwrap();

    let mut said = BTreeMap::from([
        ("evidence".to_owned(), fs::read(evidence).unwrap()),
        ("collected".to_owned(), file.to_bytes()),
    ]);
    for table in tables_of(&audit) {
        let mut text = Vec::new();
        table.write(Audited { audit: &audit }, &mut text).unwrap();
        said.insert(table.schema.file.to_owned(), text);
    }
    said
}

/// Audits `logs` in all [`WAYS`]; the reports must be equal and not empty.
#[track_caller]
pub fn never_show(sandbox: &Sandbox, setting: &Setting<'_>, logs: &[&str]) {
    let expected = report(sandbox, setting, logs, WAYS[0]);
    let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
    assert!(lines(&expected["summary.csv"]) > 1 || lines(&expected["unknown-crawlers.csv"]) > 1);
    for &way in &WAYS[1..] {
        for (name, text) in report(sandbox, setting, logs, way) {
            assert!(text == expected[&name], "{name} differs with {way:?}");
        }
    }
}
