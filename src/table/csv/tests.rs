use crate::table::schema::{Column, TableSchema};

use super::*;

fn fraction(part: u64, whole: u64) -> String {
    let mut text = Vec::new();
    if let Some(millionths) = millionths(part, whole) {
        push_millionths(millionths, &mut text);
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn a_fraction_has_six_decimals() {
    assert_eq!(fraction(0, 0), "");
    assert_eq!(fraction(0, 5), "0.000000");
    assert_eq!(fraction(5, 5), "1.000000");
    assert_eq!(fraction(2, 3), "0.666667");
    assert_eq!(fraction(1, 3), "0.333333");
    assert_eq!(fraction(1, 2_000_000), "0.000001");
    assert_eq!(fraction(u64::MAX, u64::MAX), "1.000000");
    assert_eq!(fraction(u64::MAX, 1), "18446744073709551615.000000");
}

fn table(columns: usize) -> TableSchema {
    let column = Column { name: "x", unit: "", meaning: "" };
    let columns: &'static [Column] = Box::leak(vec![column; columns].into_boxed_slice());
    TableSchema { file: "x.csv", row: "", columns }
}

#[test]
fn headers_are_quoted_and_cells_where_needed() {
    let mut csv = CsvTable::with_header(Vec::new(), &table(1)).unwrap();
    csv.row(|row| {
        row.text("a,\"b\"");
    })
    .unwrap();
    csv.row(|row| {
        row.text("");
    })
    .unwrap();
    assert_eq!(csv.finish().unwrap(), b"\"x\"\n\"a,\"\"b\"\"\"\n\"\"\n");
}

/// Random bytes in rows of one or two cells, compared with another CSV writer.
#[test]
fn every_cell_is_as_another_writer_has_it() {
    let texts: Vec<Vec<u8>> = (0..=u8::MAX)
        .flat_map(|byte| [vec![byte], vec![b'a', byte], vec![b'"', byte, b',']])
        .chain([vec![], b"x".repeat(100_000), "=\u{202e}ß".as_bytes().to_vec()])
        .collect();
    for columns in [1, 2] {
        let mut csv = CsvTable::without_header(Vec::new(), &table(columns));
        let mut other = csv::Writer::from_writer(Vec::new());
        for pair in texts.chunks(columns).filter(|pair| pair.len() == columns) {
            let cells: Vec<String> = pair.iter().map(|bytes| csv_cell(bytes)).collect();
            csv.row(|row| {
                for bytes in pair {
                    row.bytes(bytes);
                }
                assert_eq!(row.cells(), cells);
            })
            .unwrap();
            csv.row(|row| {
                for cell in &cells {
                    row.cell(|text| push_quoted(cell, ',', text));
                }
            })
            .unwrap();
            other.write_record(&cells).unwrap();
            other.write_record(&cells).unwrap();
        }
        assert!(csv.finish().unwrap() == other.into_inner().unwrap(), "{columns} columns");
    }
}

#[test]
fn known_crawlers_have_the_cells_of_their_row() {
    let registry = Registry::builtin();
    let crawlers = CrawlerCells::new(&registry);
    for (id, crawler) in registry.iter() {
        let (mut known, mut written) = (Row::default(), Row::default());
        known.text("a,b").known_crawler(&crawlers, (id, Identity::Spoofed)).counts([7]);
        written.text("a,b").crawler(crawler, Identity::Spoofed).counts([7]);
        assert_eq!(known.text, written.text);
        assert_eq!(known.cells(), written.cells());
    }
}
