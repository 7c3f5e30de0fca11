//! Any bytes are a list of URLs in each of its forms: where batches are cut never shows.

#![no_main]

use botaudit::classify::input_format::{CrawlerColumn, InputFormat, ListSyntax, WantedColumns, whole_records};
use botaudit::classify::rows::InputRows;
use botaudit::classify::url_parts::UrlParts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [cut, data @ ..] = data else { return };
    let data = [data, b"\n"].concat();
    let crawler = Some(CrawlerColumn::UserAgent("ua".to_owned()));
    let wanted = WantedColumns { url: "url".to_owned(), crawler, time: Some("time".to_owned()) };
    for syntax in [ListSyntax::Lines, ListSyntax::Csv, ListSyntax::Tsv, ListSyntax::JsonLines] {
        let Ok(form) = InputFormat::new(syntax, &wanted, "x", &data) else { continue };
        let whole = match &form {
            InputFormat::Delimited { delimiter, .. } => whole_records(*delimiter, &data),
            _ => data.len(),
        };
        let at = data[..whole.min(usize::from(*cut))].to_vec();
        let at = match &form {
            InputFormat::Delimited { delimiter, .. } => whole_records(*delimiter, &at),
            _ => memchr::memrchr(b'\n', &at).map_or(0, |lf| lf + 1),
        };
        let [head, tail, all] =
            [&data[..at], &data[at..whole], &data[..whole]].map(|part| rows(&form, part));
        assert_eq!([head, tail].concat(), all, "{syntax:?}");
    }
});

/// The cells of each row.
fn rows(form: &InputFormat, part: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let rows = InputRows::read(form, part.to_vec());
    let wanted = form.cells();
    let cells = [Some(wanted.url), wanted.crawler.map(|crawler| *crawler.column()), wanted.time];
    let cells = |row: botaudit::classify::rows::InputRow<'_>| {
        let url = row.trimmed(form.url_cell()).0;
        let _ = UrlParts::of(url, Some("https"));
        cells.iter().flatten().map(|cell| row.cell(*cell).to_vec()).collect()
    };
    rows.iter().map(cells).collect()
}
