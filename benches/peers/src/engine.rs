//! botaudit and its peers, each asked in its documented way for many URLs of one file.

use std::fmt;
use std::time::{Duration, Instant};

use botaudit::matcher::compiled::CompiledPolicy;
use botaudit::matcher::limits::Limits;
use botaudit::matcher::select::select;
use botaudit::robots::model::StarGroups;
use botaudit::robots::parse::parse_body;
use botaudit::url::path::Dialect::Google;
use botaudit::url::path::prepare;

/// Who asks. No robots.txt names it, so that it follows `*`.
const ASKING: &str = "bench-of-peers";

/// One way to judge.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Engine {
    /// This library; paths are prepared, too.
    Botaudit,
    /// The crate fast-robots with its compiled matcher.
    FastRobots,
    /// The crate texting_robots.
    TextingRobots,
    /// The crate robotxt.
    Robotxt,
    /// The crate robotstxt, a port of Google's parser: it reads the file again for each URL.
    Robotstxt,
}

/// All of them; the first is ours.
pub const ENGINES: [Engine; 5] = [
    Engine::Botaudit,
    Engine::FastRobots,
    Engine::TextingRobots,
    Engine::Robotxt,
    Engine::Robotstxt,
];

/// What one engine said of some URLs, and what it took.
pub struct Run {
    /// Making it ready for the first URL.
    pub building: Duration,
    /// All URLs.
    pub asking: Duration,
    /// By URL: whether it may be requested.
    pub answers: Vec<bool>,
}

/// What an engine keeps, and what it takes for a moment.
pub struct Memory {
    /// Bytes held once all URLs were asked for.
    pub held_bytes: i64,
    /// Allocations while they were asked for, for each of them.
    pub allocations_per_url: f64,
}

impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Engine::Botaudit => "botaudit",
            Engine::FastRobots => "fast-robots",
            Engine::TextingRobots => "texting_robots",
            Engine::Robotxt => "robotxt",
            Engine::Robotstxt => "robotstxt",
        })
    }
}

impl Engine {
    /// Times it; `None` where it does not take the file.
    pub fn time(self, body: &[u8], urls: &[String]) -> Option<Run> {
        self.with(body, &mut |ready| {
            let started = Instant::now();
            let mut ask = ready();
            let building = started.elapsed();
            let started = Instant::now();
            let answers = urls.iter().map(|url| ask(url)).collect();
            Run { building, asking: started.elapsed(), answers }
        })
    }

    /// Counts what it allocates; `None` where it does not take the file.
    pub fn weigh(self, body: &[u8], urls: &[String]) -> Option<Memory> {
        self.with(body, &mut |ready| {
            let mut ask = None;
            let building = allocation_counter::measure(|| ask = Some(ready()));
            let asking = allocation_counter::measure(|| {
                let ask = ask.as_mut().expect("made above");
                urls.iter().for_each(|url| _ = ask(url));
            });
            Memory {
                held_bytes: building.bytes_current + asking.bytes_current,
                allocations_per_url: asking.count_total as f64 / urls.len() as f64,
            }
        })
    }

    /// Gives `take` what makes the engine ready.
    fn with<T>(self, body: &[u8], take: &mut dyn FnMut(Ready<'_>) -> T) -> Option<T> {
        match self {
            Engine::Botaudit => Some(take(&mut || botaudit(body))),
            Engine::FastRobots => {
                let text = std::str::from_utf8(body).ok()?;
                Some(take(&mut || {
                    // Its matcher borrows from it; a bench ends soon.
                    let robots = Box::leak(Box::new(fast_robots::RobotsTxt::parse(text)));
                    let matcher = robots.matcher();
                    Box::new(move |url| matcher.is_allowed(ASKING, url))
                }))
            }
            Engine::TextingRobots => {
                texting_robots::Robot::new(ASKING, body).ok()?;
                Some(take(&mut || {
                    let robot = texting_robots::Robot::new(ASKING, body).expect("taken above");
                    Box::new(move |url| robot.allowed(url))
                }))
            }
            Engine::Robotxt => Some(take(&mut || {
                let robots = robotxt::Robots::parse(body, ASKING);
                Box::new(move |url| robots.is_allowed(url))
            })),
            Engine::Robotstxt => {
                let text = std::str::from_utf8(body).ok()?;
                Some(take(&mut || {
                    Box::new(move |url| {
                        let mut matcher = robotstxt::DefaultMatcher::default();
                        matcher.one_agent_allowed_by_robots(text, ASKING, url)
                    })
                }))
            }
        }
    }
}

/// Makes an engine ready, which then answers for one URL after the other.
type Ready<'r> = &'r mut dyn FnMut() -> Box<dyn FnMut(&str) -> bool + 'r>;

fn botaudit<'a>(body: &[u8]) -> Box<dyn FnMut(&str) -> bool + 'a> {
    let robots = parse_body(body);
    let selection = select(&robots, &[ASKING], StarGroups::Honoured);
    let policy = CompiledPolicy::new(&selection.rules(), Google, &Limits::default());
    let mut scratch = Vec::new();
    Box::new(move |url| {
        let path = prepare(url.as_bytes(), Google, &mut scratch);
        path.is_robots_txt() || policy.decide(path.as_bytes()).allowed()
    })
}
