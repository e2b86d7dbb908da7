//! `convert` on raw bytes: what is written, and what is refused with nothing written.

mod common;

use common::{Folder, names, nowhere, refusal, refused, run_with, succeed};

/// `[2,3]` of u16 that hold 0, 1, …
fn numbers() -> Vec<u8> {
    (0..6u16).flat_map(u16::to_le_bytes).collect()
}

fn u16s(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

#[test]
fn files_are_converted() {
    let folder = Folder::new();
    let input = folder.write("in", &numbers());
    let output = folder.file("out");
    succeed(&["convert", "--from", "u16[2,3]", "--to", "u16[2,3]{0,1}", &input, &output]);
    assert_eq!(u16s(&folder.read("out")), [0, 3, 1, 4, 2, 5]);
    succeed(&[
        "convert",
        "--from",
        "u16[2,3]",
        "--to",
        "u16[2,3]{1,0:T(2,2)}",
        &input,
        &output,
        "--threads=1",
    ]);
    assert_eq!(u16s(&folder.read("out")), [0, 1, 3, 4, 2, 0, 5, 0]);
    assert_eq!(folder.names(), ["in", "out"]);
}

#[test]
fn standard_streams_are_dashes() {
    let output = run_with(&["convert", "--from", "u16[2,3]", "--to", "u16[2,3]{0,1}", "-", "-"], &numbers());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(u16s(&output.stdout), [0, 3, 1, 4, 2, 5]);
}

#[test]
fn a_file_can_take_its_own_place() {
    let folder = Folder::new();
    let path = folder.write("data", &numbers());
    succeed(&["convert", "--from", "u16[2,3]", "--to", "u16[2,3]{0,1}", &path, &path]);
    assert_eq!(u16s(&folder.read("data")), [0, 3, 1, 4, 2, 5]);
}

#[test]
fn padding_is_chosen() {
    let folder = Folder::new();
    let input = folder.write("in", &numbers());
    let output = folder.file("out");
    let tiled = ["convert", "--from", "u16[2,3]", "--to", "u16[2,3]{1,0:T(2,2)}", &input, &output];
    let with = |padding| [&tiled[..], &[padding]].concat();
    succeed(&with("--padding=fill=9"));
    assert_eq!(u16s(&folder.read("out")), [0, 1, 3, 4, 2, 9, 5, 9]);
    succeed(&with("--padding=zero"));
    assert_eq!(u16s(&folder.read("out")), [0, 1, 3, 4, 2, 0, 5, 0]);
    assert!(refusal(&with("--padding=leave")).contains("--padding"));
    assert!(refusal(&with("--padding=fill=70000")).contains("'70000'"));
    assert!(refusal(&with("--padding=none")).contains("--padding"));
}

#[test]
fn elements_change_their_type_as_is_asked() {
    let folder = Folder::new();
    let numbers: Vec<u8> = [2.5f32, -3.5, 0.75, 1000.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let (input, output) = (folder.write("in", &numbers), folder.file("out"));
    let converted = |to: &str, options: &[&str]| {
        succeed(&[&["convert", "--from", "f32[4]", "--to", to, &input, &output], options].concat());
        folder.read("out")
    };
    let integers = |bytes: Vec<u8>| bytes.into_iter().map(|byte| byte as i8).collect::<Vec<_>>();
    assert_eq!(integers(converted("s8[4]", &[])), [2, -3, 0, 127]);
    assert_eq!(integers(converted("s8[4]", &["--nearest"])), [2, -4, 1, 127]);
    assert_eq!(integers(converted("s8[4]", &["--nearest", "--scale=-0.1"])), [0, 0, 0, -100]);
    assert_eq!(converted("f8e4m3fn[4]", &["--scale", "2"])[3], 0x7f);
    assert_eq!(converted("f8e4m3fn[4]", &["--scale", "2", "--saturate"])[3], 0x7e);
}

#[test]
fn strides_and_offsets_are_honoured() {
    let folder = Folder::new();
    let input = folder.write("in", &numbers());
    let output = folder.file("out");
    let convert = |from, to, options: &[&str]| {
        succeed(&[&["convert", "--from", from, "--to", to, &input, &output], options].concat());
        u16s(&folder.read("out"))
    };
    // Rows from the last to the first, columns backwards.
    assert_eq!(
        convert("u16[2,3]", "u16[2,3]", &["--src-strides=-6,-2", "--src-offset=10"]),
        [5, 4, 3, 2, 1, 0]
    );
    // A row twice, from the middle of a longer file.
    assert_eq!(convert("u16[2,2]", "u16[2,2]", &["--src-strides", "0,2", "--src-offset", "4"]), [2, 3, 2, 3]);
    // Gaps are zero, and nothing follows the last element.
    assert_eq!(
        convert("u16[2,3]", "u16[2,3]", &["--dst-strides=8,2", "--dst-offset=2"]),
        [0, 0, 1, 2, 0, 3, 4, 5]
    );
    // Without strides a dense array begins later.
    assert_eq!(convert("u16[5]", "u16[5]", &["--src-offset=2"]), [1, 2, 3, 4, 5]);
    assert_eq!(convert("u16[6]", "u16[6]", &["--dst-offset=4"]), [0, 0, 0, 1, 2, 3, 4, 5]);
}

#[test]
fn sizes_must_fit() {
    let folder = Folder::new();
    let input = folder.write("in", &numbers());
    let output = folder.file("out");
    for (shape, options, expected) in [
        ("u16[7]", &[][..], "expected 14 bytes"),
        ("u16[5]", &[], "expected 10 bytes"),
        ("u16[6]", &["--src-offset=2"], "expected 14 bytes"),
        ("u16[6]", &["--src-strides=4"], "expected at least 22 bytes"),
        ("u16[6]", &["--src-strides=-2"], "below"),
        ("u16[6]", &["--dst-strides=-2"], "below"),
        ("u16[6]", &["--dst-strides=1"], "stride"),
        ("u16[6]", &["--src-offset=-2"], "--src-offset"),
        ("u16[6]", &["--dst-offset=-2"], "--dst-offset"),
        ("u16[6]", &["--src-strides=2,2"], "strides"),
        ("u16[6]", &["--src-strides=9223372036854775807"], "overflow"),
        ("u16[6]", &["--src-strides=x"], "--src-strides"),
        ("u16[4611686018427387904]", &[], "overflow"),
        ("u16[2,3]{0,0}", &[], "twice"),
        ("u16[6", &[], "--from: at byte 5"),
    ] {
        let arguments = [&["convert", "--from", shape, "--to", shape, &input, &output], options].concat();
        let line = refusal(&arguments);
        assert!(line.contains(expected), "{line}");
    }
    assert_eq!(folder.names(), ["in"], "nothing is left behind");
}

#[test]
fn what_cannot_be_read_or_written_is_named() {
    let folder = Folder::new();
    let input = folder.write("in", &numbers());
    let directory = folder.path().to_str().unwrap().to_owned();
    let nowhere = nowhere().to_str().unwrap().to_owned();
    let convert = |input: &str, output: &str| {
        refusal(&["convert", "--from", "u16[6]", "--to", "u16[6]", input, output])
    };
    for (input, output, expected) in [
        (&directory, &folder.file("out"), &directory),
        (&nowhere, &folder.file("out"), &nowhere),
        (&input, &nowhere, &nowhere),
        (&input, &directory, &directory),
    ] {
        let line = convert(input, output);
        assert!(line.contains(expected.as_str()), "{line}");
    }
    assert_eq!(folder.names(), ["in"]);
}

#[test]
fn a_refused_conversion_keeps_the_previous_output() {
    let folder = Folder::new();
    let input = folder.write("in", &numbers());
    let output = folder.write("out", b"before");
    refusal(&["convert", "--from", "u16[7]", "--to", "u16[7]", &input, &output]);
    let streamed = run_with(&["convert", "--from", "u16[7]", "--to", "u16[7]", "-", &output], &numbers());
    refused(&streamed, &["-"]);
    assert_eq!(folder.read("out"), b"before");
    assert_eq!(folder.names(), ["in", "out"]);
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_links_are_written_through() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let folder = Folder::new();
    let input = folder.write("in", &numbers());
    succeed(&["convert", "--from", "u16[6]", "--to", "u16[6]", &input, "/dev/null"]);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    let target = folder.write("target", b"");
    std::fs::set_permissions(&target, PermissionsExt::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&target, folder.file("link")).unwrap();
    succeed(&["convert", "--from", "u16[6]", "--to", "u16[6]", &input, &folder.file("link")]);
    assert!(std::fs::symlink_metadata(folder.file("link")).unwrap().is_symlink());
    assert_eq!(folder.read("target"), numbers());
    assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
}

/// A file system of a megabyte, unmounted at the end.
#[cfg(target_os = "linux")]
struct SmallDisk(Folder);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        let folder = Folder::new();
        let mount = ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.path().to_str()?];
        let mounted = std::process::Command::new("mount").args(mount).output().ok()?;
        mounted.status.success().then_some(SmallDisk(folder))
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_the_previous_output() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("SKIPPED: a_full_disk_keeps_the_previous_output, mounting a tmpfs is not permitted here");
        return;
    };
    let folder = Folder::new();
    let input = folder.write("in", &vec![7; 2 << 20]);
    let output = disk.0.write("out", b"before");
    let line = refusal(&["convert", "--from", "u8[2097152]", "--to", "u8[2097152]", &input, &output]);
    assert!(line.contains(&output) && line.contains("space"), "{line}");
    assert_eq!(disk.0.read("out"), b"before");
    assert_eq!(names(disk.0.path()), ["out"]);
}
