//! The document around the sections: head, content security policy, navigation.
//!
//! The content security policy names the hashes of the style sheet and the script, so that nothing
//! else can run or load, whatever foreign text the page holds.

use base64::prelude::{BASE64_STANDARD, Engine};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::digest::sha256;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A section of the page: its anchor, its entry in the contents, its heading and its content.
pub(crate) type Section<'a> = (&'a str, &'a str, &'a str, Markup);

/// An element of every page's head, by which botaudit recognises its pages.
pub(crate) const GENERATOR: &str = "<meta name=\"generator\" content=\"botaudit\">";

/// The whole document.
pub(crate) fn document(title: &str, header: &Markup, sections: &[Section<'_>]) -> String {
    let document = html! {
        (DOCTYPE) "\n"
        html lang="en" { "\n"
            head { "\n"
                meta charset="utf-8"; "\n"
                meta http-equiv="Content-Security-Policy" content=(policy()); "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                meta name="color-scheme" content="light dark"; "\n"
                meta name="referrer" content="no-referrer"; "\n"
                meta name="robots" content="noindex"; "\n"
                (PreEscaped(GENERATOR)) "\n"
                title { (title) } "\n"
                style { (PreEscaped(STYLE)) } "\n"
            } "\n"
            body { "\n"
                a class="skip" href="#main" { "Skip to the report" } "\n"
                header { (header) } "\n"
                nav aria-label="Contents" {
                    ul {
                        @for (id, short, ..) in sections {
                            li { a href={ "#" (id) } { (short) } }
                        }
                    }
                    div class="filter" hidden {}
                } "\n"
                main id="main" { "\n" @for section in sections { (section_html(section)) } } "\n"
                footer {
                    p {
                        "Made by botaudit. This page loads nothing from the network."
                    }
                } "\n"
                script { (PreEscaped(SCRIPT)) } "\n"
            } "\n"
        } "\n"
    };
    document.into_string()
}

fn section_html((id, _, title, body): &Section<'_>) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } { "\n"
            h2 id={ (id) "-title" } class=[(*id == "overview").then_some("unseen")] { (title) } "\n"
            (body)
        } "\n"
    }
}

fn policy() -> String {
    format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(sha256(&[text.as_bytes()])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_stand_in_the_page_as_they_were_hashed() {
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains("</") && !text.contains('\r'));
            assert!(document("", &html! {}, &[]).contains(text));
        }
    }

    /// The colors of one scheme, by name.
    fn colours(css: &str) -> Vec<(String, [u8; 3])> {
        let declared = css.split([';', '{', '}']).filter_map(|part| {
            let (name, value) = part.trim().strip_prefix("--")?.split_once(": #")?;
            let value = match value.len() {
                3 => value.chars().flat_map(|digit| [digit, digit]).collect(),
                _ => value.to_owned(),
            };
            let part = |at: usize| u8::from_str_radix(&value[at..at + 2], 16).unwrap();
            Some((name.to_owned(), [part(0), part(2), part(4)]))
        });
        declared.collect()
    }

    /// The contrast as WCAG 2 defines it.
    fn contrast(left: [u8; 3], right: [u8; 3]) -> f64 {
        let luminance = |colour: [u8; 3]| {
            let linear = colour.map(|part| match f64::from(part) / 255.0 {
                part if part <= 0.04045 => part / 12.92,
                part => ((part + 0.055) / 1.055).powf(2.4),
            });
            0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        };
        let (left, right) = (luminance(left) + 0.05, luminance(right) + 0.05);
        (left / right).max(right / left)
    }

    #[test]
    fn words_stand_out_from_what_is_behind_them() {
        let (light, rest) = STYLE.split_once("@media (prefers-color-scheme: dark)").unwrap();
        let (dark, _) = rest.split_once("* { box-sizing").unwrap();
        let (_, print) = rest.split_once("@media print").unwrap();
        let (light, dark, mut print) = (colours(light), colours(dark), colours(print));
        print.extend(light.clone());
        for (scheme, colours) in [("light", light), ("dark", dark), ("print", print)] {
            let colour = |name: &str| colours.iter().find(|(of, _)| of == name).unwrap().1;
            let stands_out = |front: &[&str], behind: &[&str], least: f64| {
                for (front, behind) in
                    front.iter().flat_map(|of| behind.iter().map(move |on| (of, on)))
                {
                    let found = contrast(colour(front), colour(behind));
                    assert!(found >= least, "{scheme}: {front} on {behind}: {found:.2}");
                }
            };
            let behind = ["paper", "card", "faint", "mark", "bad-paper"];
            stands_out(&["ink", "soft", "link"], &behind, 4.5);
            stands_out(&["violation", "allowed", "unjudged", "edge"], &["paper", "card"], 3.0);
            stands_out(&["mark-edge"], &["mark"], 3.0);
            stands_out(&["bad"], &["bad-paper"], 3.0);
            // Bars that touch differ in lightness, for people and printers that see no colors.
            stands_out(&["violation"], &["allowed"], 1.8);
        }
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 0.01);
    }
}
