//! Which networks violations came from.

use super::program::Sandbox;

const CELLS: &str = "crawler network violations share";

/// Violations of GPTBot from three networks and from none.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let clients = ["198.18.1.1", "198.18.1.2", "198.18.2.3", "2001:db8:1:2::3", "client.example"];
    let lines = clients.iter().enumerate().flat_map(|(second, client)| {
        ["/private", "/"].map(|target| {
            format!(
                "{client} - - [01/Mar/2026:00:00:{second:02} +0000] \"GET {target} HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"\n"
            )
        })
    });
    let lines: Vec<String> = lines.collect();
    sandbox.write("access.log", lines.concat());
    sandbox.write("first.log", lines[..3].concat());
    sandbox.write("second.log", lines[3..].concat());
    sandbox
}

const AUDIT: &str = "audit -q --robots robots.txt --origin https://a.example";

#[test]
fn violations_are_counted_by_network() {
    let sandbox = sandbox();
    let rows = |flags: &str| {
        sandbox.run(&format!("{AUDIT} {flags} -o report access.log")).exits(0);
        sandbox.table("report/violation-networks.csv").cells(CELLS)
    };
    let of_operators = [
        "GPTBot | 198.18.0.0/16 | 3 | 0.600000",
        "GPTBot | 2001:db8::/32 | 1 | 0.200000",
        "GPTBot |  | 1 | 0.200000",
    ];
    assert_eq!(rows(""), of_operators);
    assert_eq!(rows("--ip hash --ip-salt salt"), of_operators);
    let page = sandbox.text("report/report.html");
    assert!(page.contains("<td><code>198.18.0.0/16</code></td><td class=n>3</td>"), "{page}");
    for flags in ["--ip mask", "--ip full"] {
        assert_eq!(
            rows(flags),
            [
                "GPTBot | 198.18.1.0/24 | 2 | 0.400000",
                "GPTBot | 198.18.2.0/24 | 1 | 0.200000",
                "GPTBot | 2001:db8:1::/48 | 1 | 0.200000",
                "GPTBot |  | 1 | 0.200000",
            ]
        );
    }
    sandbox.write("networks.csv", "prefix,network\n198.18.2.0/24,\"Acme, Inc\"\n");
    assert_eq!(
        rows("--session-minutes 5 --networks networks.csv"),
        [
            "GPTBot | 198.18.0.0/16 | 2 | 0.400000",
            "GPTBot | 2001:db8::/32 | 1 | 0.200000",
            "GPTBot | Acme, Inc | 1 | 0.200000",
            "GPTBot |  | 1 | 0.200000",
        ]
    );
}

#[test]
fn parts_of_a_log_give_the_networks_of_the_whole() {
    let sandbox = sandbox();
    sandbox.run(&format!("{AUDIT} -o whole access.log")).exits(0);
    for part in ["first", "second"] {
        sandbox.run(&format!("{AUDIT} --partial {part}.tally {part}.log")).exits(0);
    }
    sandbox.run("merge -q -o merged.tally second.tally first.tally").exits(0);
    sandbox.run("report -o merged merged.tally").exits(0);
    let table = "violation-networks.csv";
    assert_eq!(sandbox.text(&format!("merged/{table}")), sandbox.text(&format!("whole/{table}")));
}

/// The address of a client may be in that of its tunnel.
#[test]
fn tunnels_hide_their_clients() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write(
        "access.log",
        "2002:c612:0102::1 - - [01/Mar/2026:00:00:00 +0000] \"GET /private HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"\n",
    );
    sandbox.run(&format!("{AUDIT} --ip mask -o report access.log")).exits(0);
    let rows = sandbox.table("report/violation-networks.csv").cells("network");
    assert_eq!(rows, ["2002:c612:100::/40"]);
}
