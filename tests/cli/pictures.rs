//! The page of the sample data, compared with stored pictures.
//!
//! Fonts differ between machines, so only the layout is compared: the mean lightness of squares,
//! stored as plain PGM images. After an intended change, `scripts/picture` writes them.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::browser::{browser, headless};
use super::program::{Sandbox, repository};

/// The side of a square in pixels.
const SQUARE: usize = 26;

/// The height of a picture in pixels.
const HEIGHT: usize = 1_040;

/// Squares whose lightness differs by more than this, of 255, are different.
const LIGHTNESS_DIFFERENCE_MAX: u8 = 40;

/// The most rows of squares by which a part may be shifted.
const SHIFT_MAX: usize = 4;

/// Widths in pixels, each with the greatest share of different squares. Another font gives up to
/// 0.010 and 0.003, and a page without the style sheet much more. Charts are compared apart.
const WIDTHS: [(usize, f64); 3] = [(1_400, 0.015), (768, 0.012), (390, 0.008)];

/// The same for charts without their words. A chart without one kind of requests gives 0.002 or more.
const CHART_DIFFERENCE_MAX: f64 = 0.001;

/// The width of a printed page, in pixels.
const PAPER_WIDTH: usize = 1_032;

/// Rows of squares.
type Squares = Vec<Vec<u8>>;

#[test]
fn the_page_looks_as_it_should() {
    let Some(browser) = browser() else { return };
    let sandbox = sample_page();
    for (width, difference_max) in WIDTHS {
        let [light, dark] = [("light", 1), ("dark", 0)].map(|(scheme, setting)| {
            let page = "report/report.html";
            let squares = shown(&browser, &sandbox, page, width, setting);
            is_near(&format!("{scheme}-{width}"), &squares, difference_max);
            squares
        });
        assert!(difference(&light, &dark) > difference_max, "light and dark look alike");
    }
}

/// The rules of the style sheet for paper, on a screen.
#[test]
fn the_printed_page_looks_as_it_should() {
    let Some(browser) = browser() else { return };
    let sandbox = sample_page();
    let page = sandbox.text("report/report.html");
    let (head, rest) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    let rest = rest.replace("@media print", "@media all").replace("@media screen", "@media print");
    sandbox.write("report/paper.html", format!("{head}{rest}"));
    let squares = shown(&browser, &sandbox, "report/paper.html", PAPER_WIDTH, 1);
    is_near("paper", &squares, WIDTHS[0].1);
}

#[test]
fn charts_look_as_they_should() {
    let Some(browser) = browser() else { return };
    let sandbox = sample_page();
    let page = sandbox.text("report/report.html");
    let part = |from, to| {
        let (_, rest) = page.split_once(from).unwrap();
        rest.split_once(to).unwrap().0.to_owned()
    };
    let style = part("<style>", "</style>");
    let charts = page.split("<figure").skip(1).map(|rest| rest.split("</figure>").next().unwrap());
    let charts: String = charts.map(|chart| format!("<figure{chart}</figure>")).collect();
    assert_eq!(charts.matches("<figure").count(), 2, "by day and by hour");
    sandbox.write(
        "report/charts.html",
        format!("<!DOCTYPE html><style>{style} figure :not(.plot, .plot > svg, svg *) {{ display: none }}</style><body>{charts}"),
    );
    for (width, _) in WIDTHS {
        for (scheme, setting) in [("light", 1), ("dark", 0)] {
            let squares = shown(&browser, &sandbox, "report/charts.html", width, setting);
            // Two charts are this high.
            let squares = squares[..480 / SQUARE].to_vec();
            is_near(&format!("charts-{scheme}-{width}"), &squares, CHART_DIFFERENCE_MAX);
        }
    }
}

/// The report of the sample data.
fn sample_page() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("audit -q --robots sample-data/robots sample-data/logs -o");
    let status = command.arg(sandbox.path("report")).current_dir(repository()).status();
    assert!(status.unwrap().success());
    sandbox
}

/// `page` in a frame of that width.
fn shown(browser: &Path, sandbox: &Sandbox, page: &str, width: usize, scheme: u8) -> Squares {
    let frame = format!(
        "<!DOCTYPE html><meta name=\"color-scheme\" content=\"light dark\"><body style=\"margin:0\">\
         <iframe src=\"{page}\" style=\"border:0;width:{width}px;height:{HEIGHT}px\"></iframe>"
    );
    sandbox.write("frame.html", frame);
    let picture = sandbox.path("picture.png");
    render(browser, &sandbox.path("frame.html"), scheme, &picture);
    squares(&fs::read(&picture).unwrap(), width)
}

fn is_near(name: &str, squares: &Squares, difference_max: f64) {
    let share = compare(&format!("{name}.pgm"), squares);
    assert!(
        share <= difference_max,
        "{share:.4} of {name} differs; if that is intended, run scripts/picture"
    );
}

fn render(browser: &Path, page: &Path, scheme: u8, picture: &Path) {
    let profile = tempfile::tempdir().unwrap();
    let output = headless(browser, profile.path())
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg("--virtual-time-budget=3000")
        .arg(format!("--window-size=1400,{HEIGHT}"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success() && picture.is_file(), "{output:?}");
}

/// The difference from the stored picture.
fn compare(name: &str, found: &Squares) -> f64 {
    let path = PathBuf::from(repository()).join("tests/cli/pictures").join(name);
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        let rows =
            found.iter().map(|row| row.iter().map(u8::to_string).collect::<Vec<_>>().join(" "));
        let rows: Vec<String> = rows.collect();
        let head = format!("P2\n{} {}\n255\n", found[0].len(), found.len());
        fs::write(&path, head + &rows.join("\n") + "\n").unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap();
    let rows = stored.lines().skip(3);
    let expected: Squares = rows
        .map(|row| row.split(' ').map(|lightness| lightness.parse().unwrap()).collect())
        .collect();
    difference(&expected, found)
}

/// The share of squares of either picture that the other one does not have, in a row that may be
/// shifted: another font wraps other lines.
fn difference(left: &Squares, right: &Squares) -> f64 {
    let differing = |row: &[u8], other: &[u8]| {
        let pairs = row.iter().zip(other);
        pairs.filter(|(a, b)| a.abs_diff(**b) > LIGHTNESS_DIFFERENCE_MAX).count()
    };
    let missing = |of: &Squares, from: &Squares| -> usize {
        let nearest = |(at, row): (usize, &Vec<u8>)| {
            let near = from.iter().skip(at.saturating_sub(SHIFT_MAX)).take(2 * SHIFT_MAX + 1);
            near.map(|other| differing(row, other)).min().unwrap_or(row.len())
        };
        of.iter().enumerate().map(nearest).sum()
    };
    (missing(left, right) + missing(right, left)) as f64 / (2 * left.len() * left[0].len()) as f64
}

/// The mean lightness of each square in the first `width` columns of a PNG image, which has 8 bits
/// for each of 3 or 4 channels.
fn squares(png: &[u8], width: usize) -> Squares {
    let (mut at, mut packed) = (8, Vec::new());
    while at < png.len() {
        let length = number(&png[at..]);
        if &png[at + 4..at + 8] == b"IDAT" {
            packed.extend_from_slice(&png[at + 8..at + 8 + length]);
        }
        at += length + 12;
    }
    let mut filtered = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut filtered).unwrap();
    let channels = if png[25] == 6 { 4 } else { 3 };
    let rows = rows(&filtered, number(&png[16..]) * channels, channels);
    let lightness = |x: usize, y: usize| {
        let pixel = &rows[y][x * channels..];
        (2 * u32::from(pixel[0]) + 5 * u32::from(pixel[1]) + u32::from(pixel[2])) / 8
    };
    let square = |column: usize, row: usize| {
        let pixels = (0..SQUARE * SQUARE).map(|at| (at % SQUARE, at / SQUARE));
        let sum: u32 = pixels.map(|(x, y)| lightness(column * SQUARE + x, row * SQUARE + y)).sum();
        (sum / (SQUARE * SQUARE) as u32) as u8
    };
    (0..HEIGHT / SQUARE)
        .map(|row| (0..width / SQUARE).map(|column| square(column, row)).collect())
        .collect()
}

fn number(bytes: &[u8]) -> usize {
    u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize
}

/// The rows of a PNG image without their filters.
fn rows(filtered: &[u8], row_bytes: usize, pixel_bytes: usize) -> Vec<Vec<u8>> {
    let mut rows: Vec<Vec<u8>> = Vec::new();
    for line in filtered.chunks(row_bytes + 1) {
        let mut row = line[1..].to_vec();
        for at in 0..row.len() {
            let left_at = at.checked_sub(pixel_bytes);
            let left = left_at.map_or(0, |at| row[at]);
            let above_row = rows.last();
            let above = above_row.map_or(0, |row| row[at]);
            let corner = above_row.zip(left_at).map_or(0, |(row, at)| row[at]);
            row[at] = row[at].wrapping_add(match line[0] {
                1 => left,
                2 => above,
                3 => u16::midpoint(left.into(), above.into()) as u8,
                4 => nearest(left, above, corner),
                _ => 0,
            });
        }
        rows.push(row);
    }
    rows
}

/// PNG's Paeth predictor.
fn nearest(left: u8, above: u8, corner: u8) -> u8 {
    let sum = i16::from(left) + i16::from(above) - i16::from(corner);
    let [of_left, of_above, of_corner] =
        [left, above, corner].map(|byte| (sum - i16::from(byte)).abs());
    match (of_left <= of_above && of_left <= of_corner, of_above <= of_corner) {
        (true, _) => left,
        (_, true) => above,
        _ => corner,
    }
}
