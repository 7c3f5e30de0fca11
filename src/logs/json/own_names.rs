//! The keys that a user assigns to fields.

use crate::error::{Error, Result};
use crate::logs::field_kind::LogField;

/// The most paths; the ranks have no room for more.
const PATHS_MAX: usize = 64;

/// Paths with their fields, in the order of the user.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OwnNames(Vec<(LogField, String)>);

impl OwnNames {
    /// Parses `time=ts,host=req.host`: a field, and its path with dots between keys. If a field
    /// occurs twice, the first path has precedence.
    ///
    /// Fails if a field is unknown, a path is empty, or there is a query but no target.
    pub fn parse(text: &str) -> Result<OwnNames> {
        let pairs: Vec<(LogField, String)> = text.split(',').map(pair).collect::<Result<_>>()?;
        if pairs.len() > PATHS_MAX {
            return Err(Error::usage(format!(
                "more than {PATHS_MAX} JSON keys are named; name \
                 fewer"
            )));
        }
        let names = |part| pairs.iter().any(|(named, _)| *named == part);
        if names(LogField::Query) && !names(LogField::Path) {
            return Err(Error::usage("query= needs path=; for a path with its query, use target="));
        }
        Ok(OwnNames(pairs))
    }

    /// Each field with one path.
    pub(crate) fn paths(&self) -> &[(LogField, String)] {
        &self.0
    }

    /// Whether the built-in paths of a field are ignored, because the user named this field or
    /// another field of the target.
    pub(crate) fn replaces(&self, part: LogField) -> bool {
        let is_of_target = |part: &LogField| LogField::OF_TARGET.contains(part);
        self.0
            .iter()
            .any(|(named, _)| *named == part || (is_of_target(named) && is_of_target(&part)))
    }
}

fn pair(text: &str) -> Result<(LogField, String)> {
    let named = || LogField::ALL.into_iter().filter(LogField::can_be_named);
    let known = || named().map(LogField::as_str).collect::<Vec<_>>().join(", ");
    let Some((name, path)) = text.split_once('=') else {
        return Err(Error::usage(format!(
            "'{text}' does not name a JSON key; write, for example, time=ts,host=request.host \
             (fields: {})",
            known()
        )));
    };
    let name = name.trim().replace('_', "-");
    let Some(part) = named().find(|known| known.as_str() == name) else {
        return Err(Error::usage(format!("unknown field '{name}'; the fields are {}", known())));
    };
    let path = path.trim();
    if path.split('.').any(str::is_empty) {
        return Err(Error::usage(format!("'{text}' has an empty key")));
    }
    Ok((part, path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_paths() {
        let own = OwnNames::parse("time=@ts, user_agent=req.headers.ua,path=p").unwrap();
        let paths = [
            (LogField::Time, "@ts"),
            (LogField::UserAgent, "req.headers.ua"),
            (LogField::Path, "p"),
        ];
        assert_eq!(own.paths(), paths.map(|(part, path)| (part, path.to_owned())));
        assert!(own.replaces(LogField::Time) && own.replaces(LogField::Request));
        assert!(!own.replaces(LogField::Method) && !own.replaces(LogField::Host));
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        let error = OwnNames::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn what_cannot_be_meant() {
        check_error(
            "",
            "' does not name a JSON key; write, for example, \
                         time=ts,host=request.host (fields:",
        );
        check_error(
            "time",
            "' does not name a JSON key; write, for example, \
                             time=ts,host=request.host (fields:",
        );
        check_error("tiem=ts", "unknown field 'tiem'");
        check_error("time=", "empty key");
        check_error("time=a..b", "empty key");
        check_error("query=q", "query= needs path=");
        check_error(
            &"host=h,".repeat(100),
            "' does not name a JSON key; write, for example, \
             time=ts,host=request.host (fields:",
        );
        check_error(&["host=h"; 100].join(","), "more than 64");
    }
}
