//! Expressions for custom rules of Cloudflare.

use crate::crawlers::pattern::Pattern;

use crate::deny::rules::{AgentGroup, DenyRules, comment};

const USE: &str = "\
# Each line without # is the expression of a custom rule; choose the action Block. Expressions with
# `matches` need a plan that has regular expressions.
";

const NOT_ROBOTS: &str = "http.request.uri.path ne \"/robots.txt\"";

/// The text of `rules`.
pub(crate) fn text(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + USE;
    for group in &rules.agents {
        text += "\n";
        group.denied.iter().for_each(|agent| text += &format!("# {}\n", comment(&agent.why)));
        text += &expression(group);
    }
    let networks: Vec<String> = rules.distinct_networks().iter().map(ToString::to_string).collect();
    if !networks.is_empty() {
        let networks = networks.join(" ");
        text += &format!("\n{}", rules.network_reasons("#"));
        text += &format!("({NOT_ROBOTS} and ip.src in {{{networks}}})\n");
    }
    text
}

fn expression(group: &AgentGroup) -> String {
    let any = |patterns: Vec<&String>| {
        patterns.into_iter().map(|pattern| test(pattern)).collect::<Vec<_>>().join(" or ")
    };
    let denied = any(group.denied.iter().map(|agent| &agent.pattern).collect());
    let except = match group.excepts.is_empty() {
        true => String::new(),
        false => format!(" and not ({})", any(group.excepts.iter().collect())),
    };
    format!("({NOT_ROBOTS} and ({denied}){except})\n")
}

/// The test for a pattern. `contains` is in every plan, and is enough for names.
fn test(pattern: &str) -> String {
    let names = Pattern::new(pattern).ok().filter(|pattern| !pattern.has_regex());
    let names: Option<Vec<String>> = names.and_then(|names| {
        let contains = |name: &[u8]| {
            let name = str::from_utf8(name).ok().filter(|name| is_printable(name))?;
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            Some(format!("lower(http.user_agent) contains \"{name}\""))
        };
        names.needles.iter().map(|name| contains(name)).collect()
    });
    match names {
        Some(names) => names.join(" or "),
        None => format!("http.user_agent matches r#\"(?i){pattern}\"#"),
    }
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}
