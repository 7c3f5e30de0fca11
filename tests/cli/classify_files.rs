//! `botaudit classify`: input and output files, with any content, also if the run fails.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use super::program::{Ran, Sandbox, Table};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots/h.example.txt", "User-agent: *\nDisallow: /a\n");
    sandbox
}

fn classify(sandbox: &Sandbox, arguments: &str, input: &[u8]) -> Ran {
    sandbox.run_with_input(&format!("classify --robots robots --token bot -q {arguments}"), input)
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).unwrap()
}

#[test]
fn lists_are_read_in_the_order_in_which_they_are_named() {
    let sandbox = sandbox();
    sandbox.write("c.txt", "https://h.example/1\n");
    sandbox.write_gz("b.csv.gz", "n,url\n7,https://h.example/2\n");
    sandbox.write("a.txt.zst", zstd(b"https://h.example/3\nhttps://h.example/a"));
    sandbox.write("empty.txt", "");
    let ran = classify(&sandbox, "c.txt b.csv.gz empty.txt - a.txt.zst", b"https://h.example/4");
    let table = Table::parse(&ran.exits(0).stdout);
    let urls = ["1", "2", "4", "3", "a"].map(|name| format!("https://h.example/{name}"));
    assert_eq!(table.cells("url"), urls);
    assert_eq!(table.cells("rule_line"), ["", "", "", "", "2"]);
}

#[test]
fn output_is_compressed_as_its_name_says() {
    let sandbox = sandbox();
    let list: String = (0..50_000).map(|n| format!("https://h.example/{n}\n")).collect();
    let plain = classify(&sandbox, "-", list.as_bytes()).exits(0).stdout.into_bytes();
    for name in ["v.csv", "v.csv.gz", "v.csv.zst"] {
        classify(&sandbox, &format!("- -o {name}"), list.as_bytes()).exits(0);
        let bytes = std::fs::read(sandbox.path(name)).unwrap();
        let mut text = vec![0; plain.len() + 1];
        let length = match name.rsplit_once('.').unwrap().1 {
            "gz" => flate2::read::GzDecoder::new(&bytes[..]).read_to_end({
                text.clear();
                &mut text
            }),
            "zst" => zstd::bulk::decompress_to_buffer(&bytes, &mut text[..]),
            _ => {
                text = bytes;
                Ok(text.len())
            }
        };
        text.truncate(length.unwrap());
        assert!(text == plain, "{name}");
    }
}

#[test]
fn tables_with_tabs_go_in_and_out() {
    let sandbox = sandbox();
    sandbox.write("u.tsv", "n\turl\r\n1\thttps://h.example/a\r\n2, 3\thttps://h.example/b\r\n");
    classify(&sandbox, "u.tsv --columns n,verdict -o v.tsv", b"").exits(0);
    assert_eq!(sandbox.text("v.tsv"), "\"n\"\t\"verdict\"\n1\tdisallowed\n2, 3\tallowed\n");
}

#[test]
fn no_line_is_fatal() {
    let sandbox = sandbox();
    let mut list = b"https://h.example/a\n".to_vec();
    list.extend([&b"x".repeat(3 << 20)[..], b"\n"].concat());
    list.extend([&b"https://h.example/"[..], &b"y".repeat(1 << 20), b"\n"].concat());
    list.extend(
        b"https://h.example/\0\nhttps://h.ex\0mple/\n\xff\xfe\nhttps://h.example/\xff\n\r\r\n",
    );
    list.extend(b"https://h.example/a\n");
    for options in ["-", "--memory 1MiB -", "--memory 64KiB --format jsonl -"] {
        let ran = classify(&sandbox, options, &list).exits(0);
        assert_eq!(ran.stdout.lines().count() - usize::from(!options.contains("jsonl")), 8);
    }
    let table = Table::parse(&classify(&sandbox, "-", &list).exits(0).stdout);
    let expected = [
        "disallowed | rule",
        "invalid-url | too-long",
        "invalid-url | too-long",
        "allowed | no-rule-matches",
        "invalid-url | bad-host",
        "invalid-url | no-scheme",
        "allowed | no-rule-matches",
        "disallowed | rule",
    ];
    assert_eq!(table.cells("verdict reason"), expected);
}

#[test]
fn memory_is_given_with_its_unit() {
    let sandbox = sandbox();
    classify(&sandbox, "--memory 12MB -", b"").exits(2).complains("64MiB");
    for memory in ["0", "1MiB", "2G", "99999999999999999999"] {
        classify(&sandbox, &format!("--memory {memory} -"), b"https://h.example/a").exits(0);
    }
}

/// A run that receives its input line by line.
fn fed(sandbox: &Sandbox, arguments: &str) -> Child {
    let arguments = format!("classify --robots robots --token bot -q --memory 1MiB {arguments}");
    sandbox.command(&arguments).stdin(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let sandbox = sandbox();
    let mut child = fed(&sandbox, "-");
    let mut stdin = child.stdin.take().unwrap();
    let feeding = std::thread::spawn(move || {
        // Until the reader has closed the pipe.
        while stdin.write_all(&b"https://h.example/a\n".repeat(1000)).is_ok() {}
    });
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut header = String::new();
    stdout.read_line(&mut header).unwrap();
    assert!(header.starts_with("\"url\",\"origin\","));
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

/// Standard output and a device, in every format; more than a buffer, and less.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let sandbox = sandbox();
    for count in [1, 2000] {
        sandbox.write("list", "https://h.example/a\n".repeat(count));
        for format in ["--format csv", "--format tsv", "--format jsonl", "--wide", "--summary"] {
            for threads in [1, 2, 8] {
                let arguments = format!(
                    "classify --robots robots --token bot {format} --threads {threads} list"
                );
                sandbox
                    .run(&format!("{arguments} -o /dev/full"))
                    .exits(2)
                    .complains("No space left on device");
                let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
                let ran = sandbox.command(&arguments).stdout(full).output().unwrap();
                let message = String::from_utf8(ran.stderr).unwrap();
                assert_eq!(ran.status.code(), Some(2), "{arguments}: {message}");
                assert!(message.contains("No space left on device"), "{arguments}: {message}");
                assert!(!message.contains(" URL"), "a result is printed: {message}");
            }
        }
    }
}

#[test]
fn a_killed_run_leaves_what_stood_there() {
    let sandbox = sandbox();
    let old = "url,origin,crawler,verdict,reason,rule_line,directive,pattern,group,snapshot\n";
    for (name, before) in [("old.csv", Some(old)), ("new.csv", None)] {
        if let Some(text) = before {
            sandbox.write(name, text);
        }
        let mut child = fed(&sandbox, &format!("- -o {name}"));
        let mut stdin = child.stdin.take().unwrap();
        // More than fits in the buffers, so that some of it was written.
        stdin.write_all(&b"https://h.example/a\n".repeat(100_000)).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let after = std::fs::read_to_string(sandbox.path(name)).ok();
        assert_eq!(after.as_deref(), before, "{name}");
    }
}

#[test]
fn quiet_is_quiet() {
    let sandbox = sandbox();
    let ran = classify(&sandbox, "-", b"https://h.example/a").exits(0);
    assert_eq!(ran.stderr, "");
    let arguments = "classify --robots robots --token bot -";
    let ran = sandbox.run_with_input(arguments, b"https://h.example/a\nx").exits(0);
    assert_eq!(ran.stderr.trim_end(), "2 URLs; 1 disallowed, 1 invalid-url");
}

/// A quote that is not closed takes the rest of a list with it.
#[test]
fn quotes_that_are_not_closed_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /a\n");
    let classify = |rows: usize, last: &str| {
        let urls = "https://a.example/a,\"two\nlines\"\n".repeat(rows);
        sandbox.write("list.csv", format!("url,note\n{urls}{last}"));
        sandbox.run("classify --robots robots.txt --token bot --memory 0 list.csv -o out.csv")
    };
    classify(3, "https://a.example/b,\"c\"").exits(0);
    let message = "is not closed, so lines after it were read as a part of this row";
    for rows in [0, 3, 3000] {
        let ran = classify(rows, "https://a.example/b,\"c\nhttps://a.example/d,\n").exits(3);
        ran.complains(&format!("warning: list.csv:{}: a quote {message}", 2 * rows + 2));
        assert_eq!(sandbox.table("out.csv").cells("url").len(), rows + 1);
    }
    // A row has an end all the same.
    let long = format!("x,\"y\n{}", "https://a.example/d,\n".repeat(100_000));
    let ran = classify(3, &long).exits(3);
    ran.complains(&format!("warning: list.csv:8: a quote {message}"));
}

#[test]
fn lists_in_utf_16_are_read() {
    let sandbox = sandbox();
    let text = "n,url\n1,https://h.example/a\n2,https://h.example/b\n";
    let units = || "\u{feff}".encode_utf16().chain(text.encode_utf16());
    sandbox.write("little.csv", units().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    sandbox.write("big.csv.gz", super::program::gzip(&big));
    for list in ["little.csv", "big.csv.gz"] {
        let ran = classify(&sandbox, list, b"").exits(0);
        assert_eq!(Table::parse(&ran.stdout).cells("n verdict"), ["1 | disallowed", "2 | allowed"]);
    }
}

#[test]
fn lines_that_are_not_json_objects_are_damage() {
    let sandbox = sandbox();
    let good = r#"{"url":"https://h.example/b"}"#;
    for (list, lines) in [
        (format!("{good}\n{{bad\n{good}\n[]\n{good} x\n"), "3 lines"),
        (format!("{good}\n{{\"url\":\"https"), "1 line"),
    ] {
        let ran = classify(&sandbox, "--input-format jsonl -", list.as_bytes()).exits(3);
        ran.complains(&format!("not a JSON object: {lines}, counted as invalid-url"));
    }
    // An object without a URL is not damaged, and neither is one with a number.
    let odd = format!("{good}\n{{}}\n{{\"url\":5}}\n\n");
    let ran = classify(&sandbox, "--input-format jsonl -", odd.as_bytes()).exits(0);
    assert!(!ran.stderr.contains("JSON"), "{}", ran.stderr);
}

#[test]
fn nothing_judged_is_no_success() {
    let sandbox = sandbox();
    for (list, counts) in [
        ("nothing\n", "1 URL; 1 invalid-url"),
        ("https://other.example/\nx\n", "2 URLs; 1 unknown, 1 invalid-url"),
    ] {
        let ran = classify(&sandbox, "-", list.as_bytes()).exits(3);
        ran.complains(&format!("no URL could be judged: {counts}; the column reason says why"));
    }
    classify(&sandbox, "-", b"https://other.example/\nhttps://h.example/b\n").exits(0);
    classify(&sandbox, "-", b"").exits(0);
    // Files of the user, one of many or the only one.
    let rules = "User-agent: *\nDisallow: /a\n";
    let utf16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(rules.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for file in
        [b"<!DOCTYPE html>\n<html>\n".to_vec(), super::program::gzip(rules.as_bytes()), utf16]
    {
        sandbox.write("robots/k.example.txt", &file);
        let list = b"https://h.example/b\nhttps://k.example/a\n";
        classify(&sandbox, "-", list).exits(3).complains("k.example.txt is ");
        sandbox.write("alone.txt", &file);
        let run = "classify --robots alone.txt --token bot -";
        sandbox.run_with_input(run, list).exits(3).complains("alone.txt is ");
    }
}
