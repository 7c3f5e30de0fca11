//! One test per bug, with a description of the bug.

use super::program::{Sandbox, line};

/// A port that is no scheme's default always meant http, so that a file named `https_host_port.txt`
/// did not apply.
#[test]
fn a_port_takes_the_scheme_of_the_file_that_names_it() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/https_api.example_8443.txt", "User-agent: *\nDisallow: /\n");
    sandbox.write("a.log", format!("api.example:8443 {}", line(1, "/", 200, "bingbot/2.0")));
    sandbox.run("audit --robots robots -o report a.log").exits(0);
    let cells = sandbox.table("report/summary.csv").cells("origin violations");
    assert_eq!(cells, ["https://api.example:8443 | 1"]);
}

/// A pipe or a device named as an output was replaced by a file: with root permissions, `-o
/// /dev/null` destroyed /dev/null.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_to_as_it_stands() {
    use std::os::unix::fs::FileTypeExt;

    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("a.log", line(1, "/private", 200, "bingbot/2.0"));
    sandbox.write("urls.txt", "https://a.example/private\n");
    let path = sandbox.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    for (arguments, answer) in [
        ("audit --robots robots.txt -o report --evidence pipe a.log", "bingbot"),
        (
            "classify --robots robots.txt --crawler bingbot -o pipe urls.txt",
            "https://a.example/private",
        ),
    ] {
        let reader = std::thread::spawn({
            let path = path.clone();
            move || std::fs::read_to_string(path).unwrap()
        });
        sandbox.run(arguments).exits(0);
        assert!(std::fs::metadata(&path).unwrap().file_type().is_fifo(), "{arguments}");
        let text = reader.join().unwrap();
        assert!(text.contains(answer), "{arguments}: {text}");
    }
}
