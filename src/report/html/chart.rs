//! Charts as inline SVG. They contain only shapes. Words and numbers are in the HTML around them,
//! so that they stay legible at any width.

use maud::{Markup, html};

use crate::merge::sum;
use crate::numbers::grouped;

/// Width and height of a drawing in its own units; it is scaled to its frame.
const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 200.0;

/// An entry of a legend: the CSS class of its color, and its name.
pub(crate) type LegendEntry = (&'static str, &'static str);

/// One column of a chart: its name, and a number for each series.
pub(crate) type ChartColumn = (String, Vec<u64>);

/// One bar, whose parts are `numbers` of `whole`.
pub(crate) fn bar<const N: usize>(
    legend: &[LegendEntry; N],
    numbers: [u64; N],
    whole: u64,
) -> Markup {
    let ends = numbers.iter().scan(0.0, |end, number| {
        *end += share(*number, whole) * WIDTH;
        Some(*end)
    });
    let starts = std::iter::once(0.0).chain(ends);
    let parts = legend.iter().zip(numbers).zip(starts).filter(|((_, number), _)| *number > 0);
    html! {
        svg class="rowbar" viewBox="0 0 1000 10" preserveAspectRatio="none" focusable="false" {
            @for (((class, _), number), x) in parts {
                @let width = share(number, whole) * WIDTH;
                rect class=(class) x=(format_args!("{x:.0}")) width=(format_args!("{width:.0}")) height="10" {}
            }
        }
    }
}

/// The most columns of a drawing by day.
const DAY_COLUMNS_MAX: usize = 60;

/// A small drawing of `numbers`, one for each day, in the color `class`. Many days share columns.
pub(crate) fn days(class: &str, numbers: &[u64]) -> Markup {
    let columns = numbers.chunks(numbers.len().div_ceil(DAY_COLUMNS_MAX).max(1));
    let sums: Vec<u64> = columns.map(|days| sum(days.iter().copied())).collect();
    let most = sums.iter().copied().max().unwrap_or_default();
    html! {
        svg class="days" viewBox={ "0 0 " (sums.len().max(1)) " 10" } preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            @for (at, &sum) in sums.iter().enumerate().filter(|(_, sum)| **sum > 0) {
                @let height = (share(sum, most) * 10.0).max(1.0);
                rect class=(class) x=(at) y=(format_args!("{:.1}", 10.0 - height)) width="0.85" height=(format_args!("{height:.1}")) {}
            }
        }
    }
}

/// Something that happened at a time, above the columns of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// Its color and kind.
    pub legend: LegendEntry,
    /// Where it begins, in columns from the left.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Its height, as a part of the whole, from the top.
    pub height: f64,
    /// What it is.
    pub title: String,
}

/// Columns side by side, each a stack of one or more numbers. `title` describes the chart, `names`
/// are below at equal distances. The caller adds the numbers as a table.
pub(crate) fn columns(
    id: &str,
    title: &str,
    series: &[LegendEntry],
    columns: &[ChartColumn],
    names_below: &[String],
) -> Markup {
    timeline((id, title), series, columns, &[], names_below)
}

/// The same with marks.
pub(crate) fn timeline(
    (id, title): (&str, &str),
    series: &[LegendEntry],
    columns: &[ChartColumn],
    marks: &[Mark],
    names_below: &[String],
) -> Markup {
    let most =
        columns.iter().map(|(_, numbers)| sum(numbers.iter().copied())).max().unwrap_or(0u64);
    let top = ceiling(most);
    let is_drawn =
        |at: usize| columns.iter().any(|(_, numbers)| numbers.get(at).is_some_and(|&n| n > 0));
    let mut drawn: Vec<LegendEntry> =
        (0..series.len()).filter(|&at| is_drawn(at)).map(|at| series[at]).collect();
    drawn.extend(marks.iter().map(|mark| mark.legend));
    drawn.dedup();
    let half = if top > 1 { grouped(top / 2) } else { String::new() };
    html! {
        figure class="columns" { "\n"
            figcaption id={ (id) "-title" } { (title) } "\n"
            (legend(&drawn))
            div class="plot" {
                div class="scale" aria-hidden="true" {
                    span { (grouped(top)) } span { (half) } span { "0" }
                }
                (drawing(id, series, columns, marks, top))
            } "\n"
            div class="names" aria-hidden="true" { (names(names_below)) } "\n"
        } "\n"
    }
}

/// The columns, on a scale that ends at `top`.
fn drawing(
    id: &str,
    series: &[LegendEntry],
    columns: &[ChartColumn],
    marks: &[Mark],
    top: u64,
) -> Markup {
    let step = WIDTH / columns.len().max(1) as f64;
    let width = (step * 0.72).min(90.0);
    html! {
        svg viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-labelledby={ (id) "-title" } focusable="false" {
            @for y in [0.5, 0.5 * HEIGHT, HEIGHT - 0.5] {
                line class="grid" x1="0" x2="1000" y1=(y) y2=(y) {}
            }
            @for (at, (name, numbers)) in columns.iter().enumerate() {
                @let x = step * (at as f64 + 0.5) - width / 2.0;
                @for ((class, what), number, y, height) in stacked(series, numbers, top) {
                    rect class=(class) x=(format_args!("{x:.1}")) y=(format_args!("{y:.1}")) width=(format_args!("{width:.1}")) height=(format_args!("{height:.1}")) {
                        title { (name) ", " (what) ": " (grouped(number)) }
                    }
                }
            }
            @for Mark { legend: (class, _), from, to, height, title } in marks {
                @let (x, width) = (step * from, (step * (to - from)).max(2.0));
                rect class=(class) x=(format_args!("{x:.1}")) y="0" width=(format_args!("{width:.1}")) height=(format_args!("{:.1}", height * HEIGHT)) {
                    title { (title) }
                }
            }
        }
    }
}

/// The nonempty parts of a column, from the bottom: number, upper edge and height.
fn stacked<'a>(
    series: &'a [LegendEntry],
    numbers: &'a [u64],
    top: u64,
) -> impl Iterator<Item = (&'a LegendEntry, u64, f64, f64)> {
    let mut y = HEIGHT;
    let parts = series.iter().zip(numbers).map(move |(of, &number)| {
        let height = share(number, top) * HEIGHT;
        y -= height;
        (of, number, y, height)
    });
    parts.filter(|(_, number, _, _)| *number > 0)
}

/// The legend.
pub(crate) fn legend(series: &[LegendEntry]) -> Markup {
    html! {
        ul class="legend" {
            @for (class, name) in series {
                li {
                    svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" focusable="false" {
                        rect class=(class) width="10" height="10" rx="2" {}
                    }
                    (name)
                }
            }
        } "\n"
    }
}

/// The names of all columns if there are few, otherwise some at equal distances.
fn names(columns: &[String]) -> Markup {
    const NAMES_MAX: usize = 4;
    let last = columns.len().saturating_sub(1);
    let shown: Vec<usize> = match columns.len() {
        0..=NAMES_MAX => (0..columns.len()).collect(),
        _ => vec![0, last / 2, last],
    };
    let is_all = shown.len() == columns.len();
    html! {
        div class=(if is_all { "each" } else { "some" }) {
            @for at in shown { span { (day_name(&columns[at])) } }
        }
    }
}

/// `name`; on narrow screens, the year of a day is hidden.
fn day_name(name: &str) -> Markup {
    match name.split_at_checked(5) {
        Some((year, day)) if name.len() == 10 && year.ends_with('-') => {
            html! { span class="year" { (year) } (day) }
        }
        _ => html! { (name) },
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
}

/// The least of 2, 4, 10, 20, 40, 100, ... that is at least `most`.
fn ceiling(most: u64) -> u64 {
    let mut power = 1u64;
    loop {
        for factor in [2, 4, 10] {
            let top = power.saturating_mul(factor);
            if top >= most {
                return top;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_a_round_number() {
        let cases = [(0, 2), (2, 2), (3, 4), (5, 10), (11, 20), (166, 200), (u64::MAX, u64::MAX)];
        for (most, expected) in cases {
            assert_eq!(ceiling(most), expected, "{most}");
        }
    }

    #[test]
    fn many_days_share_columns() {
        let drawn = days("violation", &[0, 5, 10]).0;
        assert!(drawn.contains("viewBox=\"0 0 3 10\"") && drawn.matches("rect").count() == 4);
        assert!(drawn.contains("x=\"1\" y=\"5.0\"") && drawn.contains("x=\"2\" y=\"0.0\""));
        assert!(days("violation", &[1; 61]).0.contains("viewBox=\"0 0 31 10\""));
    }

    #[test]
    fn empty_charts_are_drawn() {
        assert!(columns("c", "t", &[("a", "A")], &[], &[]).0.contains("<svg"));
        assert!(
            !days("violation", &[0; 3]).0.contains("rect")
                && !days("violation", &[]).0.contains("rect")
        );
        assert!(bar(&[("a", "A")], [0], 0).0.ends_with("</svg>"));
    }
}
