//! Running the built program as its users do.
#![allow(dead_code)] // every test program uses another part

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A small checkpoint as the safetensors library writes one.
pub(crate) const TINY: &[u8] = include_bytes!("../../../tests/data/tiny.safetensors");

/// The program, without what the environment of the tests may set.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_relayout"));
    command.env_remove("RELAYOUT_LEVEL");
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    program().args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs with `input` on standard input.
pub(crate) fn run_with(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = program()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may refuse before it reads everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Standard output of a run that must succeed.
#[track_caller]
pub(crate) fn succeed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    assert!(stderr.is_empty(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON objects that a successful run prints, one a line.
#[track_caller]
pub(crate) fn json(arguments: &[&str]) -> Vec<Value> {
    succeed(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The one line on standard error of a run that must be refused with status 2.
#[track_caller]
pub(crate) fn refusal(arguments: &[&str]) -> String {
    refused(&run(arguments), arguments)
}

#[track_caller]
pub(crate) fn refused(output: &Output, arguments: &[&str]) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(stderr.starts_with("error: ") && stderr.ends_with('\n'), "{arguments:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
    stderr
}

/// A folder of one test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of `name` in the folder, for a command line.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Writes `bytes` to `name` and returns its path.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::write(self.file(name), bytes).unwrap();
        self.file(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap()
    }

    /// The names in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.0.path())
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// A path that cannot exist.
pub(crate) fn nowhere() -> PathBuf {
    PathBuf::from("/nonexistent/folder/file")
}
