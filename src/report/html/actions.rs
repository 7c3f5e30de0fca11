//! What a site owner can do about the findings.

use maud::{Markup, html};

use super::super::page_model::{PageModel, REPORT, action::Action};
use super::markup::cut;

/// The section; `None` if there is nothing to do.
pub(crate) fn actions(model: &PageModel<'_>) -> Option<Markup> {
    let actions = model.actions();
    (!actions.is_empty()).then(|| {
        html! {
            ul class="cards" {
                @for Action { finding, advice, lines } in &actions {
                    li {
                        h3 { (cut(finding)) }
                        p { (advice) }
                        pre tabindex="0" { @for line in lines { code { (line) } "\n" } }
                    } "\n"
                }
            } "\n"
            p class="fine" {
                @if model.report == REPORT { "REPORT is the directory of this page. Other paths" } @else { "Paths" }
                " are relative to the directory in which the audit ran."
            } "\n"
        }
    })
}
