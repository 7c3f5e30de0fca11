//! Signed requests of the folder: what they signed, the keys, and how to verify them without this
//! program.
//!
//! The names of these files contain only numbers, because agents and their keys are foreign text.

use std::collections::BTreeMap;

use crate::crawlers::key_archive::{KeyArchive, PublishedKey};
use crate::error::Result;
use crate::numbers::{counted, grouped};
use crate::table::escape::visible;

use super::requests::{SignedRow, SignedRows};
use super::{Files, subject::Subject};

/// The keys that were enclosed, by where they were published and by their thumbprint.
type EnclosedKeys = BTreeMap<(String, String), usize>;

/// Writes the files about `rows`, and gives the section of the letter; empty if no request is signed.
pub(super) fn write_signed(
    files: &mut Files<'_>,
    subject: &Subject<'_>,
    rows: &SignedRows,
    keys: Option<&KeyArchive>,
) -> Result<String> {
    let signed: u64 = subject.broken().map(|broken| broken.tally.signed).sum();
    if signed == 0 {
        return Ok(String::new());
    }
    let mut text = format!(
        "\nSigned requests\n\n\
         {} of the requests against robots.txt had a valid signature (RFC 9421, Web Bot Auth) by a\n\
         key that its agent published. The owner of the key signed a request to this host. Who sees a\n\
         signature can send it again until it expires.\n",
        grouped(signed)
    );
    if rows.examples.is_empty() {
        text += match (rows.requests, rows.without_base) {
            (0, _) => "The signatures are not enclosed: there is no evidence file that has them.\n",
            _ => {
                "The signatures are not enclosed: the evidence file leaves out what they signed.\n"
            }
        };
        return Ok(text);
    }
    text += &format!(
        "Enclosed: {}, the first for each rule.\n",
        counted(rows.examples.len() as u64, "example")
    );
    let mut enclosed = EnclosedKeys::new();
    for (number, row) in (1..).zip(&rows.examples) {
        text += &example(files, (number, row), keys, &mut enclosed)?;
    }
    Ok(text)
}

/// Writes the files about one request, and gives its lines of the letter.
fn example(
    files: &mut Files<'_>,
    (number, row): (usize, &SignedRow),
    keys: Option<&KeyArchive>,
    enclosed: &mut EnclosedKeys,
) -> Result<String> {
    let (base, signature) = (format!("signed-{number}.base"), format!("signed-{number}.signature"));
    files.write(&base, &row.base)?;
    files.write(&signature, &row.signature)?;
    let mut text = format!(
        "\n{number}. {} {}, robots.txt line {}\n   signed by {}, key {}\n   \
         signed text: {base}; signature: {signature}\n",
        row.time,
        row.request,
        row.rule_line,
        visible(row.agent.as_bytes()),
        visible(row.thumbprint.as_bytes())
    );
    let published = match (keys, row.unix_seconds()) {
        (None, _) => Err("this folder was made without --signature-keys"),
        (Some(_), None) => Err("the evidence file has no valid time"),
        (Some(keys), Some(time)) => keys
            .published(&row.agent, &row.thumbprint, time)
            .ok_or("the archive of keys does not have it any more"),
    };
    let published = published.and_then(|published| {
        let verifies = published.key.verifies(&row.base, &row.signature);
        verifies.then_some(published).ok_or("the key in the archive does not verify the signature")
    });
    let published = match published {
        Ok(published) => published,
        Err(why) => return Ok(text + &format!("   The key is not enclosed: {why}.\n")),
    };
    let key_number = write_key(files, row, &published, enclosed)?;
    let pem = format!("key-{key_number}.pem");
    let other_form = published.key.other_form(&row.signature);
    let for_openssl = match other_form {
        Some(der) => {
            let name = format!("signed-{number}.der");
            files.write(&name, &der)?;
            name
        }
        None => signature,
    };
    text += &format!(
        "   key: {pem}, key-{key_number}.jwk; published in keys-{key_number}.json, as archived\n   \
         {}\n   to verify:\n   {}\n",
        match published.seen {
            Some(seen) => format!("at {seen}"),
            None => "at an unknown time".to_owned(),
        },
        published.key.openssl_command(&base, &for_openssl, &pem)
    );
    Ok(text)
}

/// Writes the key of `row`, unless that was done, and gives its number.
fn write_key(
    files: &mut Files<'_>,
    row: &SignedRow,
    published: &PublishedKey<'_>,
    enclosed: &mut EnclosedKeys,
) -> Result<usize> {
    let version = published.path.display().to_string();
    let next = enclosed.len() + 1;
    let number = *enclosed.entry((version, row.thumbprint.clone())).or_insert(next);
    if number == next {
        files.write(&format!("key-{number}.pem"), published.key.pem().as_bytes())?;
        files
            .write(&format!("key-{number}.jwk"), format!("{}\n", published.key.jwk()).as_bytes())?;
        files.write(&format!("keys-{number}.json"), &published.text)?;
    }
    Ok(number)
}
