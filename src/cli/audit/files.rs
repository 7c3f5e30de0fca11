//! The files that an audit reads and writes, checked before the first is read.

use crate::error::Result;
use crate::input::source::Source;
use crate::report::outputs::{OutputContent, Outputs};

use super::AuditArgs;

impl AuditArgs {
    /// That no output is an input, and that nothing is replaced but what botaudit wrote.
    pub(super) fn check_outputs(&self, sources: &[Source]) -> Result<()> {
        let mut outputs = Outputs::new(self.force.overwrite());
        self.check_files(sources, &mut outputs)?;
        outputs.directory("-o", &self.output)?;
        let evidence = self.requests.as_deref();
        evidence.map_or(Ok(()), |path| outputs.file("--requests", path, OutputContent::Evidence))
    }

    /// Names to `outputs` what is read, and checks what is read and written to.
    pub fn check_files(&self, sources: &[Source], outputs: &mut Outputs) -> Result<()> {
        self.name_inputs(sources, outputs);
        self.identity.check(outputs)?;
        match self.robots_path().filter(|_| self.fetch.is_wanted()) {
            Some(archive) => outputs.updated("--robots", &archive),
            None => Ok(()),
        }
    }

    /// Names to `outputs` what is read.
    pub fn name_inputs(&self, sources: &[Source], outputs: &mut Outputs) {
        outputs.reads_sources("a log", sources);
        if let Some(robots) = self.robots.as_ref().filter(|_| !self.fetch.is_wanted()) {
            outputs.reads_robots("--robots", robots);
        }
        let named =
            [("--crawlers", self.crawlers.as_deref()), ("--simulate", self.simulate.path())];
        for (flag, path) in named {
            path.into_iter().for_each(|path| outputs.reads(flag, path));
        }
    }
}
