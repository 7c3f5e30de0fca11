//! The first pass of an audit on several machines.

use std::path::Path;

use crate::audit::client::{ClientKey, KeyFingerprint};
use crate::audit::collected_file::{CollectedFile, CollectedHeader};
use crate::audit::prepass::{Collected, FirstPass, Wanted};
use crate::audit::repeated_content::refuse_repeated_pipes;
use crate::audit::tally::header::{InputSummary, ReportedOptions};
use crate::audit::{extent::InputEnd, log_outages::OutageHosts, memory_limit::MEMORY_DEFAULT};
use crate::error::{Error, Result};
use crate::input::{copies::Repeats, source::Source};
use crate::judge::Judge;
use crate::staged::replace_private;

use super::first_pass::{check_any_opened, first_pass, wanted};
use super::setup::{Setup, ranges};
use super::{console::RunOutcome, fetching::known_store, notes::note_repeats};

/// The result of a first pass, if it was read from a file.
#[derive(Clone, Debug)]
pub(crate) struct CollectedInput {
    name: String,
    file: CollectedFile,
}

impl CollectedInput {
    /// Reads the file at `path`, which may take `memory_bytes` of memory.
    pub(crate) fn read(path: &Path, memory_bytes: Option<usize>) -> Result<CollectedInput> {
        let memory_bytes = memory_bytes.unwrap_or(MEMORY_DEFAULT);
        let name = path.display().to_string();
        Ok(CollectedInput { name, file: CollectedFile::read(path, memory_bytes)? })
    }

    /// The collected data for an audit of `sources` by `setup`.
    ///
    /// # Errors
    /// If it was collected with other settings or is incomplete.
    pub(crate) fn take(self, setup: &Setup, sources: &[Source]) -> Result<Collected> {
        let CollectedInput { name, file: CollectedFile { header, collected } } = self;
        header.check_fits(&name, &header_of(setup, sources, None))?;
        let Wanted { addresses, outages, origins } = wanted(&setup.config);
        let wanted = [
            ("--verify-dns", addresses, collected.addresses.is_some()),
            ("--infer-outages", outages.is_some(), collected.answers.is_some()),
            ("--fetch", origins, collected.origins.is_some()),
        ];
        match wanted.into_iter().find(|(_, is_wanted, is_there)| *is_wanted && !is_there) {
            None => Ok(collected),
            Some((flag, ..)) => Err(Error::unfit(format!(
                "{name} was collected without {flag}; collect again with {flag}, or audit \
                 without it"
            ))),
        }
    }
}

/// Collects from `sources` what an audit by `setup` needs first, and writes it to `path`. `repeats`
/// are logs that repeat them. `judge` is `None` if robots.txt files still have to be fetched.
pub(crate) fn write_collected(
    path: &Path,
    setup: &Setup,
    (sources, repeats): (&[Source], &Repeats),
    judge: Option<Judge>,
    client_key: &ClientKey,
) -> Result<RunOutcome> {
    let Setup { config, options, registry, console, .. } = setup;
    let mut wanted = wanted(config);
    // The audit decides which hosts the user named.
    wanted.outages = wanted.outages.map(|_| OutageHosts::All);
    if !wanted.is_any() {
        return Err(Error::usage(
            "--collect has no effect alone; add --infer-outages, --verify-dns or --fetch",
        ));
    }
    let identities = &ranges(config, registry)?;
    let judge = match judge {
        Some(judge) => judge,
        None => setup.judge_by(known_store(setup.robots())?)?,
    };
    let first = FirstPass { judge: &judge, registry, identities, wanted, client_key };
    let (collected, ends) = first_pass(sources, options, &first, &**console)?;
    let sketches = || ends.iter().map(|end| end.sketch.as_ref());
    let mut repeats = repeats.clone();
    repeats.alike.extend(refuse_repeated_pipes(sources, sketches())?);
    let names = sources.iter().map(|source| source.name.clone());
    let sketches = names.zip(sketches()).filter_map(|(name, of)| Some((name, of?.clone())));
    let sketches = sketches.collect();
    let damages = damages(sources, ends)?;
    let fingerprint = wanted.outages.map(|_| client_key.fingerprint());
    let mut header = header_of(setup, sources, fingerprint);
    header.inputs.extend(repeats.copies.iter().map(|copy| copy.name.clone()));
    header.sketches = sketches;
    let bytes = CollectedFile { header, collected }.to_bytes();
    console.write(path, &bytes, replace_private)?;
    damages.iter().for_each(|damage| console.warn(damage));
    note_repeats(&repeats, &**console);
    Ok(if damages.is_empty() && repeats.damaged() == 0 {
        RunOutcome::Done
    } else {
        RunOutcome::Incomplete
    })
}

fn header_of(
    setup: &Setup,
    sources: &[Source],
    client_key: Option<KeyFingerprint>,
) -> CollectedHeader {
    let options = ReportedOptions::of(&setup.reported_config(setup.options.window));
    let inputs = sources.iter().map(|source| source.name.clone()).collect();
    CollectedHeader::new(options, &setup.registry, inputs, client_key)
}

/// A sentence for each of `sources` that could not be read completely.
///
/// # Errors
/// If none could be read.
fn damages(sources: &[Source], ends: Vec<InputEnd>) -> Result<Vec<String>> {
    let inputs: Vec<_> =
        sources.iter().zip(ends).map(|(source, end)| end.summary(source.name.clone())).collect();
    check_any_opened(&inputs, sources)?;
    let text = |input: &InputSummary| {
        let damage = input.damage.as_ref()?;
        Some(match input.is_unopened() {
            true => damage.clone(),
            false => format!("{}: {damage}; the lines before it were collected", input.name),
        })
    };
    Ok(inputs.iter().filter_map(text).collect())
}
