//! Input files as byte slices: mapped into memory where the file allows it, read where it does not.
//!
//! The only file of the program that may hold `unsafe`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;

use anyhow::{Context, Result, bail};
use memmap2::Mmap;

/// The whole content of an input.
pub(crate) enum Input {
    /// A regular file, mapped read-only.
    Mapped(Mmap),
    /// A pipe, a device, standard input or an empty file, read to its end.
    Read(Vec<u8>),
}

impl Deref for Input {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Input::Mapped(map) => map,
            Input::Read(bytes) => bytes,
        }
    }
}

/// Opens `path`; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Input> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        return Ok(Input::Read(bytes));
    }
    open_file(path).with_context(|| format!("cannot read {}", path.display()))
}

fn open_file(path: &Path) -> Result<Input> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        bail!("it is a directory");
    }
    if metadata.is_file() && metadata.len() > 0 {
        return Ok(Input::Mapped(map(&file)?));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Input::Read(bytes))
}

fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: `Mmap::map` asks that the file is not changed or cut short while the map lives.
    // - This process opened it for reading only, and writes outputs to new files that replace a name, never to the
    //   content of a file that is there (`output.rs`): so not even `convert A A` writes to a mapped file.
    // - Against other processes no program can prove it. The map is private and read-only, the bytes are only
    //   ever read as `u8`, for which every value is valid, and no decision about memory is made twice on the same
    //   bytes: lengths are taken from the map and headers are parsed once into owned values.
    unsafe { Mmap::map(file) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_mapped_and_empty_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, b"abc").unwrap();
        assert!(matches!(open(&path).unwrap(), Input::Mapped(ref map) if map[..] == *b"abc"));
        std::fs::write(&path, b"").unwrap();
        assert!(matches!(open(&path).unwrap(), Input::Read(ref bytes) if bytes.is_empty()));
    }

    #[test]
    fn a_directory_and_a_missing_file_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let directory = format!("{:#}", open(folder.path()).err().unwrap());
        assert!(directory.contains("directory") && directory.contains(&*folder.path().to_string_lossy()));
        let missing = format!("{:#}", open(&folder.path().join("none")).err().unwrap());
        assert!(missing.contains("none"), "{missing}");
    }
}
