//! Audits access logs of one site and names the rules that crawlers broke.
//!
//! `cargo run --example audit_log ROBOTS_TXT ORIGIN LOG...`

use botaudit::{Audit, AuditConfig};

use std::env;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let usage = "usage: audit_log ROBOTS_TXT ORIGIN LOG...";
    let (robots, origin) = arguments.next().zip(arguments.next()).ok_or(usage)?;

    let mut config = AuditConfig::default();
    config.robots = Some(robots.into());
    config.origin = Some(origin.parse()?);
    let report = Audit::new(config).run(arguments)?;
    for rule in report.violations() {
        println!(
            "{} ({}): {} requests for {}, line {}",
            rule.crawler.name, rule.identity, rule.requests, rule.pattern, rule.line
        );
    }
    report.write("botaudit-report")?;
    Ok(())
}
