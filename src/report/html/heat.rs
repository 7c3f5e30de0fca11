//! A heat map of hours as inline SVG: one column per day, one row per hour. Darker means more.

use maud::{Markup, html};

use super::chart::figure;
use crate::numbers::grouped;

/// Shades of a color, the lightest first.
const SHADES: usize = 5;

const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 240.0;
const ROW_HEIGHT: f64 = HEIGHT / 24.0;

/// The labels of the rows.
const TIMES: [&str; 5] = ["0:00", "6:00", "12:00", "18:00", "24:00"];

/// One day: its name, and a number for each of its 24 hours.
pub type DayColumn = (String, [u64; 24]);

/// The parameters of a heat map.
#[derive(Clone, Copy, Debug)]
pub struct Heat<'a> {
    /// A unique id in the page.
    pub id: &'a str,
    /// The title.
    pub title: &'a str,
    /// The CSS class of the color.
    pub class: &'a str,
    /// The name of what is counted, such as `violations`.
    pub what: &'a str,
}

impl Heat<'_> {
    /// The drawing. The caller adds the numbers as a table.
    pub fn html(&self, days: &[DayColumn]) -> Markup {
        let Heat { id, title, class, what } = self;
        let most = days.iter().flat_map(|(_, hours)| hours).copied().max().unwrap_or_default();
        let bounds = bounds(most);
        let step = WIDTH / days.len().max(1) as f64;
        let day_names: Vec<String> = days.iter().map(|(day, _)| day.clone()).collect();
        let drawing = html! {
            svg class={ "heat " (class) } viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-labelledby={ (id) "-title" } focusable="false" {
                rect class="h0" width=(WIDTH) height=(HEIGHT) {}
                @for (at, (day, hours)) in days.iter().enumerate() {
                    @for (hour, &number) in hours.iter().enumerate().filter(|(_, number)| **number > 0) {
                        @let (x, y) = (step * at as f64, ROW_HEIGHT * hour as f64);
                        rect class={ "h" (shade(number, &bounds)) } x=(format_args!("{x:.1}")) y=(format_args!("{y:.0}")) width=(format_args!("{step:.1}")) height=(format_args!("{ROW_HEIGHT:.0}")) {
                            title { (day) (format_args!(" {hour:02}:00, {what}: ")) (grouped(number)) }
                        }
                    }
                }
            }
        };
        figure((id, title), legend(class, &bounds), &TIMES, drawing, &day_names)
    }
}

/// The upper bound of each shade: each twice the one before.
fn bounds(most: u64) -> [u64; SHADES] {
    std::array::from_fn(|at| most >> (SHADES - 1 - at))
}

/// The shade of a number, from 1 to [`SHADES`].
fn shade(number: u64, bounds: &[u64; SHADES]) -> usize {
    let below = bounds.iter().filter(|bound| **bound < number).count();
    (below + 1).min(SHADES)
}

fn legend(class: &str, bounds: &[u64; SHADES]) -> Markup {
    let least = |at: usize| if at == 0 { 1 } else { bounds[at - 1] + 1 };
    let ranges = bounds.iter().enumerate().map(|(at, &most)| (at + 1, least(at), most));
    html! {
        ul class="legend" {
            @for (shade, least, most) in ranges.filter(|(_, least, most)| least <= most) {
                li {
                    svg class={ "swatch heat " (class) } viewBox="0 0 10 10" aria-hidden="true" focusable="false" {
                        rect class={ "h" (shade) } width="10" height="10" {}
                    }
                    @if least < most { (grouped(least)) "–" }
                    (grouped(most))
                }
            }
        } "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_shade_and_the_legend_says_which() {
        for most in [0, 1, 2, 3, 7, 16, 1_000, u64::MAX] {
            let bounds = bounds(most);
            assert_eq!(shade(most, &bounds), if most == 0 { 1 } else { SHADES });
            assert!((1..=most.min(100)).all(|number| bounds[shade(number, &bounds) - 1] >= number));
        }
        let legend = legend("c", &bounds(16)).0;
        assert!(legend.contains("</svg>1</li>") && legend.contains("</svg>9–16</li>"), "{legend}");
        assert_eq!(super::legend("c", &bounds(1)).0.matches("<li>").count(), 1);
    }

    #[test]
    fn an_empty_calendar_is_drawn() {
        let heat = Heat { id: "h", title: "t", class: "c", what: "requests" };
        assert!(heat.html(&[]).0.contains("</svg>"));
    }
}
