use serde_json::{Map, Value as Json};

use super::*;
use crate::random::Random;

const PATHS: [&str; 6] = ["a", "b", "c.a", "c.b", "c.c.a", "é.b"];

/// The value at each of the paths.
fn found(line: &[u8]) -> Option<[Vec<u8>; 6]> {
    let value_slots = PATHS.iter().enumerate();
    let value_slots =
        value_slots.map(|(slot, path)| (*path, ValueSlot { slot: slot as u8, rank: 0 }));
    let wanted = KeyTree::new(value_slots);
    let mut predictor = KeyPredictor::default();
    let mut found = || {
        let mut values = [JsonValue::default(); 6];
        scan(line, &wanted, &mut predictor, &mut values).ok()?;
        Some(values.map(|value| value.field.value(&mut Vec::new()).to_vec()))
    };
    let first = found();
    assert_eq!(found(), first, "as after lines like it: {}", line.escape_ascii());
    first
}

#[track_caller]
fn check(line: &str, expected: Option<[&str; 6]>) {
    let expected = expected.map(|values| values.map(|value| value.as_bytes().to_vec()));
    assert_eq!(found(line.as_bytes()), expected, "{line}");
}

#[test]
fn values_of_every_kind() {
    check(r#"{"a":"x","b":-1.5e+3}"#, Some(["x", "-1.5e+3", "", "", "", ""]));
    check(r#" { "a" : true , "b" : false } "#, Some(["true", "false", "", "", "", ""]));
    check(r#"{"a":null,"b":"","c":{"a":"-","b":{"b":1}}}"#, Some([""; 6]));
    check(r#"{"c":{"a":1,"b":2,"c":{"a":3,"b":4}},"c.b":5}"#, Some(["", "", "1", "5", "3", ""]));
    check(r#"{"a":["x","y"],"c":[{"a":1},{"b":2}],"b":[]}"#, Some(["x", "", "1", "", "", ""]));
    check(r#"{"a":"\"\\\/\u00e9\x41"}"#, Some(["\"\\/éA", "", "", "", "", ""]));
    check(r#"{"é":{"b":"ü"}}"#, Some(["", "", "", "", "", "ü"]));
    check("{}", Some([""; 6]));
}

#[test]
fn an_object_in_a_string() {
    let expected = Some(["", "", "/a\"b\\", "2", "é", ""]);
    check(r#"{"c":"{\"a\":\"/a\\\"b\\\\\",\"b\":2,\"c\":{\"a\":\"\\u00e9\"}}"}"#, expected);
    check(
        r#"{"c":"{\r\n  \"a\": \"x\",\n\t\"b\": null }\n","a":1}"#,
        Some(["1", "", "x", "", "", ""]),
    );
    // Strings in it are strings; those without an object, or with a damaged one, too.
    for string in [
        r#"{\"c\":\"{\\\"a\\\":1}\"}"#,
        r#"{}"#,
        r#"{a}"#,
        r#"{\"x\":\"y}"#,
        r#"{\"x\":1}}"#,
        r#"{\"x\\\\\"}"#,
    ] {
        check(&format!(r#"{{"c":"{string}","b":3}}"#), Some(["", "3", "", "", "", ""]));
    }
    check(r#"{"a":"{\"a\":1}"}"#, Some(["{\"a\":1}", "", "", "", "", ""]));
    check(r#"{"c":"{\"a\":1"#, None);
    check(r#"{"a":\"x\"}"#, None);
}

#[test]
fn of_two_the_last_that_says_something() {
    check(r#"{"a":1,"a":2}"#, Some(["2", "", "", "", "", ""]));
    check(r#"{"a":1,"a":null}"#, Some(["1", "", "", "", "", ""]));
    let wanted = KeyTree::new([
        ("x", ValueSlot { slot: 0, rank: 1 }),
        ("y", ValueSlot { slot: 0, rank: 2 }),
    ]);
    for line in [r#"{"x":1,"y":2}"#, r#"{"y":2,"x":1}"#] {
        let mut values = [JsonValue::default()];
        scan(line.as_bytes(), &wanted, &mut KeyPredictor::default(), &mut values).unwrap();
        assert_eq!(values[0].field.raw, b"1", "{line}");
    }
}

#[test]
fn unset_variables_without_quotes() {
    check(r#"{"a":,"b":-,"c":{"a":}}"#, Some([""; 6]));
    check(r#"{"a":-,"b":1}"#, Some(["", "1", "", "", "", ""]));
}

#[test]
fn what_is_no_object() {
    for line in [
        "",
        " ",
        "{",
        "}",
        "[]",
        "1",
        "null",
        "{}}",
        "{} {}",
        "{,}",
        r#"{"a"}"#,
        r#"{"a":1,}"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a":[1,]}"#,
        r#"{"a":[,1]}"#,
        r#"{"a":[1}"#,
        r#"{"a":tru}"#,
        r#"{"a":nul}"#,
        r#"{"a":+1}"#,
        r#"{"a":1.}"#,
        r#"{"a":.5}"#,
        r#"{"a":1e}"#,
        r#"{"a":0.001, 0.002}"#,
        r#"{"a":"x}"#,
        r#"{"a":"x\"}"#,
        r#"{a:1}"#,
        "{\"a\":1}\0",
    ] {
        check(line, None);
    }
    let nested = |depth: usize| "{\"x\":".repeat(depth) + "1" + &"}".repeat(depth);
    assert!(found(nested(DEPTH_MAX + 1).as_bytes()).is_some());
    assert!(found(nested(DEPTH_MAX + 2).as_bytes()).is_none());
    assert!(found("[".repeat(1 << 20).as_bytes()).is_none());
    assert!(found(("{\"a\":".to_owned() + &"[".repeat(1 << 20)).as_bytes()).is_none());
}

#[test]
fn bytes_that_are_no_text_pass() {
    let [a, ..] = found(b"{\"a\":\"\xff\0\x1f\\xe9\"}").unwrap();
    assert_eq!(a, b"\xff\0\x1f\xe9");
}

/// The values that serde_json finds, if it can read the line.
fn found_by_serde(line: &[u8]) -> Option<[Vec<u8>; 6]> {
    let object: Map<String, Json> = serde_json::from_slice(line).ok()?;
    let whole = Json::Object(object);
    Some(PATHS.map(|path| {
        let value = path.split('.').try_fold(&whole, |value, key| first(value.get(key)?));
        match value {
            Some(Json::String(text)) if text != "-" => text.clone().into_bytes(),
            Some(Json::Number(number)) => number.to_string().into_bytes(),
            Some(Json::Bool(value)) => value.to_string().into_bytes(),
            _ => Vec::new(),
        }
    }))
}

fn first(value: &Json) -> Option<&Json> {
    match value {
        Json::Array(values) => first(values.first()?),
        _ => Some(value),
    }
}

impl Random {
    fn value(&mut self, depth: usize) -> Json {
        const TEXTS: [&str; 6] = ["", "x", "-", "a\"b\\c/\n", "\u{e9}\u{1f600}\0", "\u{7f}{[,]}:"];
        match self.below(if depth > 3 { 5 } else { 8 }) {
            0 => Json::Null,
            1 => Json::Bool(self.below(2) == 0),
            2 => Json::from(self.below(2000)),
            3..5 => Json::from(TEXTS[self.below(TEXTS.len())]),
            5 => (0..self.below(4)).map(|_| self.value(depth + 1)).collect(),
            _ => Json::Object(self.object(depth + 1)),
        }
    }

    fn object(&mut self, depth: usize) -> Map<String, Json> {
        const KEYS: [&str; 6] = ["a", "b", "c", "é", "", "other"];
        let count = self.below(7);
        (0..count).map(|_| (KEYS[self.below(6)].to_owned(), self.value(depth))).collect()
    }
}

#[test]
fn serde_json_finds_the_same() {
    let mut random = Random::new();
    for round in 0..3000 {
        let object = random.object(0);
        let mut line = match round % 2 {
            0 => serde_json::to_vec(&object).unwrap(),
            _ => serde_json::to_string_pretty(&object).unwrap().into_bytes(),
        };
        assert_eq!(found(&line), found_by_serde(&line), "{}", line.escape_ascii());
        // A damaged quote puts line ends into strings, which our reader allows.
        for _ in 0..if round % 2 == 0 { 5 } else { 0 } {
            let at = random.below(line.len());
            match random.below(3) {
                0 => line[at] = b"{}[]\",: 1etx\\"[random.below(13)],
                1 => drop(line.drain(at..)),
                _ => line.insert(at, b"{}[]\",: 1etx\\"[random.below(13)]),
            }
            check_damaged(&line);
            if line.is_empty() {
                break;
            }
        }
    }
}

/// Whether all values are equal. Our reader keeps the spelling of a number, serde_json does
/// not.
fn are_same(ours: &[Vec<u8>; 6], theirs: &[Vec<u8>; 6]) -> bool {
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
    ours.iter().zip(theirs).all(|(ours, theirs)| {
        ours == theirs || number(ours).is_some_and(|ours| Some(ours) == number(theirs))
    })
}

/// Checks that our reader gives the same as serde_json, and that it reads more only in the
/// intended exceptions.
#[track_caller]
fn check_damaged(line: &[u8]) {
    if std::str::from_utf8(line).is_err() {
        return;
    }
    match (found(line), found_by_serde(line)) {
        // Keys with escapes, or repeated keys with objects, are intentionally read differently.
        (Some(ours), Some(theirs)) if !are_same(&ours, &theirs) => {
            let keys = line.split(|&byte| byte == b'"').filter(|key| !key.is_empty());
            let mut keys: Vec<&[u8]> = keys.collect();
            keys.sort_unstable();
            let is_twice = keys.windows(2).any(|pair| pair[0] == pair[1]);
            assert!(is_twice || line.contains(&b'\\'), "{}", line.escape_ascii());
        }
        (None, Some(_)) => panic!("serde_json reads {}", line.escape_ascii()),
        (Some(_), None) => {
            let text = String::from_utf8_lossy(line).replace(' ', "");
            let is_lenient = [":,", ":}", ":-", "\\", ":0"].iter().any(|mark| text.contains(mark));
            assert!(is_lenient, "serde_json does not read {}", line.escape_ascii());
        }
        _ => {}
    }
}
