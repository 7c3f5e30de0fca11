//! `run.json` of a report that was put together from others.

use serde_json::{Map, Value, json};

use crate::time::UtcTime;

use super::Part;

/// Warnings, notes and other lists that are kept.
const LISTED_MAX: usize = 1_000;

/// The text of `run.json`. `notes` are on top of those of the reports.
pub fn run_json(
    parts: &[Part],
    warnings: Vec<String>,
    notes: Vec<String>,
    files: &[&str],
    made_at: UtcTime,
) -> Vec<u8> {
    let runs = || parts.iter().map(|part| &part.run);
    let mut run = Map::new();
    let mut set = |name: &str, value: Value| run.insert(name.to_owned(), value);
    set("program", env!("CARGO_PKG_NAME").into());
    set("version", env!("CARGO_PKG_VERSION").into());
    set("schema_version", 1.into());
    set("made_at_utc", made_at.to_string().into());
    set("complete", runs().all(|run| run["complete"] == true).into());
    set("reports", parts.iter().map(part_json).collect());
    set("options", options(parts));
    set("inputs", Value::Array(inputs(parts)));
    set("robots", Value::Array(distinct(runs().map(|run| &run["robots"]))));
    set("archive", Value::Null);
    let known = runs().filter_map(|run| run["crawlers_known"].as_u64()).max();
    set("crawlers_known", known.into());
    for name in ["lines", "requests", "requests_by_identity"] {
        set(name, sum(runs().map(|run| &run[name])));
    }
    if is_simulated(parts) {
        let mut what_if = sum(runs().map(|run| &run["what_if"]));
        what_if["draft"] = parts[0].run["what_if"]["draft"].clone();
        set("what_if", what_if);
    }
    let told = |name: &str, more: Vec<String>| {
        let mut told = distinct(runs().map(|run| &run[name]));
        told.extend(more.into_iter().map(Value::from));
        Value::Array(told)
    };
    set("warnings", told("warnings", warnings));
    set("notes", told("notes", notes));
    if runs().all(|run| run["nothing_judged"] == true) {
        set("nothing_judged", true.into());
    }
    set("files", files.iter().copied().collect());
    let mut text = serde_json::to_vec_pretty(&run).expect("strings and numbers are JSON");
    text.push(b'\n');
    text
}

/// Whether all tell what the same draft would change.
pub fn is_simulated(parts: &[Part]) -> bool {
    let draft = |part: &Part| part.run["what_if"]["draft"]["digest"].clone();
    parts.iter().all(|part| draft(part).is_string() && draft(part) == draft(&parts[0]))
}

/// The names of options that are not the same in all, but for those that say which days.
pub fn differing_options(parts: &[Part]) -> Vec<&str> {
    let Some(options) = parts.first().and_then(|part| part.run["options"].as_object()) else {
        return Vec::new();
    };
    let differs = |name: &str| parts.iter().any(|part| part.run["options"][name] != options[name]);
    let names = options.keys().map(String::as_str);
    names.filter(|name| !["since", "until"].contains(name) && differs(name)).collect()
}

fn part_json(part: &Part) -> Value {
    let (first, last) = (part.days.first(), part.days.last());
    json!({ "report": part.name, "first_day": first, "last_day": last,
        "requests": part.run["requests"]["requests"], "lines": part.run["lines"]["lines"] })
}

/// Those that are the same in all; `since` of the first and `until` of the last.
fn options(parts: &[Part]) -> Value {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Value::Null };
    let mut options = first.run["options"].clone();
    if let Value::Object(options) = &mut options {
        differing_options(parts).into_iter().for_each(|name| drop(options.remove(name)));
        options.insert("since".to_owned(), first.run["options"]["since"].clone());
        options.insert("until".to_owned(), last.run["options"]["until"].clone());
    }
    options
}

/// Those of the same name as one.
fn inputs(parts: &[Part]) -> Vec<Value> {
    let mut inputs = std::collections::BTreeMap::<&str, Value>::new();
    for input in parts.iter().filter_map(|part| part.run["inputs"].as_array()).flatten() {
        let name = input["name"].as_str().unwrap_or_default();
        match inputs.get_mut(name) {
            Some(sum) => add(sum, input),
            None => drop(inputs.insert(name, input.clone())),
        }
    }
    inputs.into_values().collect()
}

/// The items of all lists, each once.
fn distinct<'a>(lists: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for item in lists.filter_map(Value::as_array).flatten() {
        if all.len() < LISTED_MAX && !all.contains(item) {
            all.push(item.clone());
        }
    }
    all
}

fn sum<'a>(values: impl Iterator<Item = &'a Value>) -> Value {
    let mut sum = Value::Null;
    values.for_each(|value| add(&mut sum, value));
    sum
}

/// Numbers add up, within objects too; of anything else the first stays.
fn add(sum: &mut Value, value: &Value) {
    match (&mut *sum, value) {
        (Value::Object(sum), Value::Object(value)) => {
            for (name, value) in value {
                add(sum.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Null, value) => *sum = value.clone(),
        (Value::Number(left), Value::Number(right)) => {
            if let (Some(left), Some(right)) = (left.as_u64(), right.as_u64()) {
                *sum = left.saturating_add(right).into();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_add_up_wherever_they_stand() {
        let values = [
            json!({"a": 1, "b": {"c": 2}, "d": "x", "e": null}),
            json!({"a": 10, "b": {"c": 20, "f": 1}, "d": "y", "e": "z"}),
        ];
        let expected = json!({"a": 11, "b": {"c": 22, "f": 1}, "d": "x", "e": "z"});
        assert_eq!(sum(values.iter()), expected);
        assert_eq!(distinct([json!(["a", "b"]), json!(["b", "c"])].iter()), ["a", "b", "c"]);
    }
}
