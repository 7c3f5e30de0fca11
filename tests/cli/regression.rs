//! One test a bug, each with what went wrong.

use crate::program::{Sandbox, line};

/// A port that belongs to no scheme was always taken for http, so that a file
/// named `https_host_port.txt` governed nothing.
#[test]
fn a_port_takes_the_scheme_of_the_file_that_names_it() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/https_api.example_8443.txt", "User-agent: *\nDisallow: /\n");
    sandbox.write("a.log", format!("api.example:8443 {}", line(1, "/", 200, "bingbot/2.0")));
    sandbox.run("audit --robots robots -o report a.log").exits(0);
    let cells = sandbox.table("report/summary.csv").cells("origin violations");
    assert_eq!(cells, ["https://api.example:8443 | 1"]);
}
