//! Output files that appear whole or not at all.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use tempfile::NamedTempFile;

/// Where the result of a command goes; nothing is seen under its name before [`Output::commit`].
pub(crate) struct Output {
    name: String,
    sink: Sink,
}

enum Sink {
    /// A new file beside the target, which takes the target's name when it is complete.
    Replacement {
        file: NamedTempFile,
        target: PathBuf,
    },
    /// Something that is no regular file, such as a device or a named pipe: replacing it would destroy it.
    Special(File),
    Stdout,
}

impl Output {
    /// Prepares to write `path`; `-` is standard output.
    pub(crate) fn create(path: &Path) -> Result<Output> {
        if path == Path::new("-") {
            return Ok(Output { name: "standard output".into(), sink: Sink::Stdout });
        }
        let name = path.display().to_string();
        let sink = sink(path).with_context(|| format!("cannot create {name}"))?;
        Ok(Output { name, sink })
    }

    /// Appends `bytes`.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.sink {
            Sink::Replacement { file, .. } => file.as_file_mut().write_all(bytes),
            Sink::Special(file) => file.write_all(bytes),
            Sink::Stdout => std::io::stdout().lock().write_all(bytes),
        };
        written.with_context(|| format!("cannot write {}", self.name))
    }

    /// Gives the complete file its name. Dropped without this, an output leaves no trace.
    pub(crate) fn commit(self) -> Result<()> {
        let done = match self.sink {
            // Some file systems report a full disk only here.
            Sink::Replacement { file, target } => file
                .as_file()
                .sync_all()
                .and_then(|()| file.persist(target).map(drop).map_err(|failed| failed.error)),
            Sink::Special(mut file) => file.flush(),
            Sink::Stdout => std::io::stdout().lock().flush(),
        };
        done.with_context(|| format!("cannot write {}", self.name))
    }
}

fn sink(path: &Path) -> Result<Sink> {
    // A link stays a link: what it points to is replaced.
    let target = if path.is_symlink() { std::fs::canonicalize(path)? } else { path.to_owned() };
    let previous = std::fs::metadata(&target).ok();
    match &previous {
        Some(metadata) if metadata.is_dir() => bail!("it is a directory"),
        Some(metadata) if !metadata.is_file() => {
            return Ok(Sink::Special(OpenOptions::new().write(true).open(&target)?));
        }
        _ => {}
    }
    let folder = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        bail!("folder {} does not exist", folder.display());
    }
    let file = replacement(folder, &target, previous.map(|metadata| metadata.permissions()))?;
    Ok(Sink::Replacement { file, target })
}

/// A hidden file in `folder`, readable by whom the target was readable, or by whom the umask says.
fn replacement(folder: &Path, target: &Path, permissions: Option<Permissions>) -> Result<NamedTempFile> {
    let name = target.file_name().ok_or_else(|| anyhow!("it names no file"))?;
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder).map_err(|error| anyhow!(error.kind()))?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

/// A zeroed buffer, or an error where there is not so much memory.
pub(crate) fn buffer(bytes: usize) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes).map_err(|_| anyhow!("cannot allocate {bytes} bytes of memory"))?;
    buffer.resize(bytes, 0);
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn an_output_appears_only_when_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::fs::write(&path, b"before").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.write(b"after").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        output.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"after");
        assert_eq!(entries(folder.path()), 1);
    }

    #[test]
    fn a_dropped_output_leaves_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = Output::create(&folder.path().join("out")).unwrap();
        output.write(b"half").unwrap();
        drop(output);
        assert_eq!(entries(folder.path()), 0);
    }

    #[test]
    fn more_memory_than_there_is_is_an_error() {
        assert!(buffer(usize::MAX / 2).is_err());
        assert_eq!(buffer(3).unwrap(), [0; 3]);
    }
}
