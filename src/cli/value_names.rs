//! The values of flags, with their names and help texts.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::classify::{input_format::ListSyntax, verdicts::Layout};
use crate::config::option_value::DIALECTS;
use crate::deny::form::{DenyBy, Form};
use crate::report::summary_table::SummaryBy;
use crate::run::written::ResultFormat;
use crate::run::{check::CheckForm, report::ReportForm, robots::restrictions::Every};
use crate::url::dialect::Dialect;

/// A value with its name and its meaning.
type Named<T> = (&'static str, &'static str, T);

/// The formats of the answers of `check`.
pub(crate) const CHECK_FORMS: [Named<CheckForm>; 3] = [
    ("text", "For people: each step of the answer", CheckForm::Text),
    ("json", "For programs: an array with one object per URL", CheckForm::Json),
    ("jsonl", "For programs: one object per line and URL", CheckForm::JsonLines),
];

/// The periods of `robots restrictions`.
pub(crate) const EVERY: [Named<Every>; 3] = [
    ("week", "Weeks, from Monday to Sunday", Every::Week),
    ("month", "Months", Every::Month),
    ("year", "Years", Every::Year),
];

/// The formats of lists of URLs.
pub(crate) const LIST_SYNTAXES: [Named<ListSyntax>; 4] = [
    ("lines", "One URL per line", ListSyntax::Lines),
    ("csv", "CSV with a header", ListSyntax::Csv),
    ("tsv", "CSV with tabs", ListSyntax::Tsv),
    ("jsonl", "One JSON object per line", ListSyntax::JsonLines),
];

/// The format `json` of a result.
const JSON: &str = "One object: the content of run.json, and all tables as arrays of objects";

/// The format `jsonl` of a result.
const JSONL: &str = "One object per line and row of a table, with the name of the table";

/// The formats of the result of an audit.
pub(crate) const RESULT_FORMATS: [Named<ResultFormat>; 3] = [
    ("text", "A summary for people", ResultFormat::Text),
    ("json", JSON, ResultFormat::Json),
    ("jsonl", JSONL, ResultFormat::Jsonl),
];

/// The formats of reports.
pub(crate) const REPORT_FORMS: [Named<ReportForm>; 4] = [
    ("html", "A directory of files, and a summary for people", ReportForm::Directory),
    ("text", "A summary for people", ReportForm::Printed(ResultFormat::Text)),
    ("json", JSON, ReportForm::Printed(ResultFormat::Json)),
    ("jsonl", JSONL, ReportForm::Printed(ResultFormat::Jsonl)),
];

/// The formats of verdicts.
pub(crate) const LAYOUTS: [Named<Layout>; 3] = [
    ("csv", "CSV with a header", Layout::Csv),
    ("tsv", "CSV with tabs", Layout::Tsv),
    ("jsonl", "One JSON object per line", Layout::JsonLines),
];

/// The groupings of the summary.
pub(crate) const SUMMARY_ROWS: [Named<SummaryBy>; 3] = [
    ("crawler", "Crawlers, over all origins", SummaryBy::Crawler),
    ("origin", "Origins, over all crawlers", SummaryBy::Origin),
    ("rule", "Broken rules, over all origins and crawlers", SummaryBy::Rule),
];

/// The forms of rules.
pub(crate) const DENY_FORMS: [Named<Form>; Form::ALL.len()] = {
    let mut forms = [("", "", Form::Nginx); Form::ALL.len()];
    let mut at = 0;
    while at < forms.len() {
        forms[at] = (Form::ALL[at].as_str(), "", Form::ALL[at]);
        at += 1;
    }
    forms
};

/// What rules recognise requests by.
pub(crate) const DENY_BY: [Named<DenyBy>; 2] = [
    ("user-agent", "The User-Agent header", DenyBy::UserAgent),
    ("address", "The address ranges that the operator publishes", DenyBy::Address),
];

/// Parses one of `values`.
pub(crate) fn one_of<T: Copy + Send + Sync>(
    values: &'static [Named<T>],
) -> impl TypedValueParser<Value = T> {
    let names = values.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).map(|given| {
        let value = values.iter().find(|(name, ..)| *name == given);
        value.expect("no other name is let through").2
    })
}

/// Parses a dialect.
pub(crate) fn dialect() -> impl TypedValueParser<Value = Dialect> {
    let names = DIALECTS.iter().map(|(name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names)
        .map(|given| given.parse().expect("no other name is let through"))
}
