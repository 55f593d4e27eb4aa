//! A case: a small Python script that makes documented calls.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The exit status of a replay that lacks something.
const SKIPPED: i32 = 77;
/// The exit status where the package is not installed.
const NO_PACKAGE: i32 = 69;

/// A script in `cases/`.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its path below `cases/`, without the suffix: `cuda_buffer/slice`.
    pub name: String,
    /// What its first line says of it.
    pub title: String,
    path: PathBuf,
}

impl Case {
    /// Reads a script's title.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or does not begin with a comment that can be its title.
    pub fn read(path: &Path) -> io::Result<Self> {
        let source = fs::read_to_string(path)?;
        let title = source.lines().next().and_then(|line| line.strip_prefix("# "));
        let title = title.ok_or_else(|| {
            io::Error::other(format!("{} does not begin with its title", path.display()))
        })?;
        let name = path.strip_prefix(crate::root().join("cases")).unwrap_or(path);
        Ok(Self {
            name: name.with_extension("").to_string_lossy().into_owned(),
            title: title.to_owned(),
            path: path.to_owned(),
        })
    }

    /// All cases, by name.
    ///
    /// # Errors
    ///
    /// When a folder or a script cannot be read.
    pub fn all() -> io::Result<Vec<Self>> {
        let mut cases = Vec::new();
        for area in fs::read_dir(crate::root().join("cases"))? {
            for script in fs::read_dir(area?.path())? {
                let path = script?.path();
                if path.extension().is_some_and(|suffix| suffix == "py") {
                    cases.push(Self::read(&path)?);
                }
            }
        }
        cases.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(cases)
    }

    /// The name of its snapshot, without the suffix.
    pub fn snapshot(&self) -> String {
        self.name.replace('/', "__")
    }

    /// Runs the script as at a prompt, in a process of its own.
    ///
    /// # Errors
    ///
    /// When there is no such interpreter, or it does not have the package.
    pub fn replay(&self) -> io::Result<Replay> {
        let replay = crate::root().join("../pyarrow_cuda_compat/conformance/replay.py");
        let mut command = Command::new(python());
        command.arg(replay).arg(&self.path);
        // Also in the processes that it starts, no current folder hides installed modules.
        let done = command.env("PYTHONSAFEPATH", "1").env("PYTHONIOENCODING", "utf-8").output()?;
        let mut transcript = String::from_utf8_lossy(&done.stdout).into_owned();
        match done.status.code() {
            Some(SKIPPED) => return Ok(Replay::Skipped(transcript)),
            Some(NO_PACKAGE) => {
                let reason = String::from_utf8_lossy(&done.stderr).trim().to_owned();
                return Err(io::Error::other(format!(
                    "{reason}; CONFORMANCE_PYTHON names another"
                )));
            }
            _ => {}
        }
        if !done.stderr.is_empty() {
            transcript += &format!("[stderr]\n{}\n", String::from_utf8_lossy(&done.stderr));
        }
        if !done.status.success() {
            transcript += &format!("[{}]\n", done.status);
        }
        Ok(Replay::Played(transcript))
    }
}

/// What came of a replay.
#[derive(Debug)]
pub enum Replay {
    /// The transcript: with what was written to standard error, and how the process ended if
    /// that was not well.
    Played(String),
    /// What this machine lacks.
    Skipped(String),
}

/// The interpreter that has the package: what `CONFORMANCE_PYTHON` names, else `python3`.
pub fn python() -> PathBuf {
    std::env::var_os("CONFORMANCE_PYTHON").map_or_else(|| "python3".into(), PathBuf::from)
}
