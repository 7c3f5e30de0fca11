//! A directory with the files that the commands of the documentation name.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

use super::program::{Ran, Sandbox, gzip, repository};

/// `curl` returns a file: no test uses the network.
const CURL: &str = "#!/bin/sh\ncat \"$SANDBOX/robots.txt\"\n";

/// `init` searches below the sandbox, and DNS questions go to a closed port.
const BOTAUDIT: &str = r#"#!/bin/sh
case " $* " in
*" init "*) set -- "$@" --root "$SANDBOX" ;;
*" --from-log "*) set -- "$@" --fetch-any-port --allow-private-addresses ;;
*" --verify-dns "*) set -- "$@" --dns-server 127.0.0.1:9 --dns-timeout 1 ;;
esac
exec "$BOTAUDIT" "$@"
"#;

pub struct DocumentSandbox {
    sandbox: Sandbox,
    server: Option<SocketAddr>,
}

impl DocumentSandbox {
    /// `configuration` is that of /etc/botaudit/botaudit.toml; if `is_online`, example.com answers.
    pub fn new(is_online: bool, configuration: Option<&str>) -> DocumentSandbox {
        let this = DocumentSandbox { sandbox: Sandbox::new(), server: is_online.then(serve) };
        this.write_rules();
        this.write_logs();
        this.write_lists();
        this.write_programs();
        let configuration = configuration.unwrap_or("[sites.shop]\nlogs = \"access.log\"\nrobots = \"robots.txt\"\norigin = \"https://shop.example.com\"\n");
        this.sandbox.write("etc/botaudit/botaudit.toml", this.moved(configuration));
        this.sandbox.write("botaudit.toml", this.moved(configuration));
        this
    }

    fn write_rules(&self) {
        let robots = fs::read(repository().join("sample-data/single/robots.txt")).unwrap();
        let places = [
            "robots.txt",
            "old/example.com/2026-01-31T12:00:00Z.txt",
            "etc/botaudit/blog-robots.txt",
            "public/robots.txt",
        ];
        for place in places {
            self.sandbox.write(place, &robots);
        }
        self.sandbox.write("draft.txt", "User-agent: *\nDisallow: /calendar/\n");
        self.sandbox.write("etc/botaudit/ranges/gptbot.json", "{\"prefixes\": []}");
        self.sandbox.write("ranges/gptbot.json", "{\"prefixes\": []}");
        for (link, target) in [
            ("robots", "sample-data/robots"),
            ("etc/botaudit/robots", "sample-data/robots"),
            ("sample-data", "sample-data"),
        ] {
            link_to(&repository().join(target), &self.sandbox.path(link));
        }
        let archive =
            "robots import -q -a robots.db --origin https://example.com --at 2026-03-01 robots.txt";
        self.sandbox.run(archive).exits(0);
    }

    /// Writes the log of the single site as three, and a log of many hosts.
    fn write_logs(&self) {
        let single = repository().join("sample-data/single/access.log.gz");
        let mut log = String::new();
        let single = flate2::read::MultiGzDecoder::new(fs::File::open(single).unwrap());
        for line in BufReader::new(single).split(b'\n') {
            log.push_str(&String::from_utf8_lossy(&line.unwrap()));
            log.push('\n');
        }
        let lines: Vec<&str> = log.split_inclusive('\n').collect();
        let thirds: Vec<String> =
            lines.chunks(lines.len().div_ceil(3)).map(<[&str]>::concat).collect();
        for folder in [
            "",
            "var/log/nginx/",
            "var/log/nginx/shop.",
            "var/log/nginx/shop.example.com.",
            "var/log/apache2/blog/",
        ] {
            self.sandbox.write(&format!("{folder}access.log"), &thirds[2]);
            self.sandbox.write_gz(&format!("{folder}access.log.1.gz"), &thirds[1]);
            self.sandbox.write_gz(&format!("{folder}access.log.2.gz"), &thirds[0]);
        }
        self.sandbox.write_gz("access.log.gz", &log);
        let vhosts = match self.server {
            None => fs::read(repository().join("sample-data/logs/access.log")).unwrap(),
            Some(server) => {
                log.lines().map(|line| format!("{server} {line}\n")).collect::<String>().into()
            }
        };
        self.sandbox.write("var/log/apache2/other_vhosts_access.log", vhosts);
        let (warc, index) = super::crawl::example();
        self.sandbox.write_gz("crawl.warc.gz", warc);
        self.sandbox.write("crawl.cdxj", index);
    }

    fn write_lists(&self) {
        let urls = "https://www.example.com/\nhttps://www.example.com/blog/drafts/1\n";
        self.sandbox.write("urls.txt", urls);
        self.sandbox.write("urls.txt.gz", gzip(urls.as_bytes()));
        self.sandbox.write("pages.csv", "title,url\nhome,https://www.example.com/\n");
        self.sandbox.write("origins.txt", self.moved("https://example.com\n"));
        self.sandbox
            .write("crawlers.csv", "name,user_agent_regex,product_tokens\nMyBot,mybot/,mybot\n");
    }

    fn write_programs(&self) {
        for (name, text) in [("bin/curl", CURL), ("bin/botaudit", BOTAUDIT)] {
            self.sandbox.write(name, text);
            make_executable(&self.sandbox.path(name));
        }
        for folder in [
            ".local/share/bash-completion/completions",
            ".local/share/man/man1",
            "var/lib/botaudit",
        ] {
            fs::create_dir_all(self.sandbox.path(folder)).unwrap();
        }
    }

    /// Replaces paths and origins in `text` by those of the sandbox.
    fn moved(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for path in ["/var/log/", "/var/lib/", "/etc/botaudit/"] {
            text = text.replace(
                path,
                &format!("{}{path}", self.sandbox.path("").display()).replace("//", "/"),
            );
        }
        if let Some(server) = self.server {
            for origin in ["https://example.com", "https://shop.example.com"] {
                text = text.replace(origin, &format!("http://{server}"));
            }
        }
        text
    }

    /// Runs shell commands up to the first failure.
    pub fn run(&self, script: &str) -> Ran {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command.args(["-e", "-c", &self.moved(script)]);
        command.current_dir(self.sandbox.path("")).stdin(Stdio::null());
        command.env("PATH", format!("{}:{path}", self.sandbox.path("bin").display()));
        command.env("SANDBOX", self.sandbox.path("")).env("HOME", self.sandbox.path(""));
        command.env("BOTAUDIT", env!("CARGO_BIN_EXE_botaudit")).env("KEY", "0123456789abcdef");
        let output = command.output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

#[cfg(unix)]
fn link_to(target: &Path, link: &Path) {
    std::os::unix::fs::symlink(target, link).unwrap();
}

#[cfg(unix)]
fn make_executable(program: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn link_to(_target: &Path, _link: &Path) {}

#[cfg(not(unix))]
fn make_executable(_program: &Path) {}

/// A server that returns the same robots.txt to every request. It ends with the test.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let body = "User-agent: *\nDisallow: /admin/\n";
            let length = body.len();
            // The client may have disconnected.
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    address
}
