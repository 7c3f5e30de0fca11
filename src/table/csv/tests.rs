use crate::table::escape::csv_cell;
use crate::table::schema::Column;

use super::*;

#[test]
fn a_fraction_has_six_decimals() {
    let mut csv = CsvTable::without_header(Vec::new(), 1);
    for (part, whole) in
        [(0, 0), (0, 5), (5, 5), (2, 3), (1, 3), (1, 2_000_000), (u64::MAX, u64::MAX)]
    {
        csv.row(|row| _ = row.fraction(part, whole)).unwrap();
    }
    let text = String::from_utf8(csv.finish().unwrap()).unwrap();
    let cells: Vec<&str> = text.lines().collect();
    let expected = ["\"\"", "0.000000", "1.000000", "0.666667", "0.333333", "0.000001", "1.000000"];
    assert_eq!(cells, expected);
}

#[test]
fn headers_are_quoted_and_cells_where_needed() {
    const COLUMNS: &[Column] = &[Column { name: "x", unit: "", meaning: "" }];
    let schema = TableSchema { file: "x.csv", row: "", columns: COLUMNS };
    let mut csv = CsvTable::with_header(Vec::new(), &schema).unwrap();
    for text in ["a,\"b\"", "", "@a"] {
        csv.row(|row| _ = row.text(text)).unwrap();
    }
    assert_eq!(csv.finish().unwrap(), b"\"x\"\n\"a,\"\"b\"\"\"\n\"\"\n'@a\n");
}

/// Rows of one or two cells with any byte.
#[test]
fn any_cell_is_read_as_it_was_written() {
    let texts: Vec<Vec<u8>> = (0..=u8::MAX)
        .flat_map(|byte| [vec![byte], vec![b'a', byte], vec![b'"', byte, b',']])
        .chain([vec![], b"x".repeat(100_000), "=\u{202e}ß".as_bytes().to_vec()])
        .collect();
    for columns in [1, 2] {
        let rows: Vec<&[Vec<u8>]> = texts.chunks_exact(columns).collect();
        let mut csv = CsvTable::without_header(Vec::new(), columns);
        csv.rows(&rows, |row, cells| cells.iter().for_each(|cell| _ = row.bytes(cell))).unwrap();
        let written = csv.finish().unwrap();
        assert_eq!(written.iter().filter(|&&byte| byte == b'\n').count(), rows.len());
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&*written);
        for (row, read) in rows.iter().zip(reader.records()) {
            let expected: Vec<String> = row.iter().map(|bytes| csv_cell(bytes)).collect();
            assert_eq!(read.unwrap(), expected);
        }
    }
}
