//! The floors of the library: what each file may know.
//!
//! An item imports only from its own floor and from those below. The test reads the paths in the sources, so a wrong
//! import fails here and not in a review.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules of the library by floor; floor 0 is the crate `relayout_kernels`, floor 5 `src/lib.rs`, 7 the program.
const FLOORS: &[(u8, &[&str])] = &[
    (
        1,
        &[
            "construct",
            "convert",
            "dimension",
            "element",
            "error",
            "hlo",
            "index",
            "interop",
            "layout",
            "memory_space",
            "problem",
            "shape",
            "size",
            "text",
            "typed",
            "validate",
            "value",
        ],
    ),
    (2, &["reference", "request", "serialize"]),
    (3, &["plan"]),
    (4, &["cache", "execute"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of a folder, by its path from the root, with its code.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("a readable folder").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push((name(&path), code(&std::fs::read_to_string(&path).expect("a readable file"))));
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{folder} has no sources");
    files
}

/// The path from the root, with `/` on every system.
fn name(path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(root()).expect("a file below the root").into();
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The text without comments and without what stands in string literals.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("'\"'") {
            3
        } else if next == '"' {
            string_length(rest)
        } else {
            code.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        code.push(' ');
        rest = &rest[skipped..];
    }
    code
}

/// Bytes of the string literal that `text` starts with.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, character)| {
        let ends = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Identifiers, and of other characters those that paths are made of.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(next) = rest.chars().next() {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let length = match next {
            _ if is_word(next) => rest.find(|character| !is_word(character)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            _ => next.len_utf8(),
        };
        if !next.is_whitespace() {
            tokens.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    tokens
}

fn words(code: &str) -> BTreeSet<&str> {
    tokens(code).into_iter().collect()
}

/// The first names of a path or of a group of paths, such as `a` and `b` of `{a::{c, d}, b}`.
fn first_names<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let Some((&"{", group)) = tokens.split_first() else {
        return tokens.first().copied().into_iter().collect();
    };
    let (mut names, mut depth, mut expects_name) = (Vec::new(), 1, true);
    for &token in group {
        match token {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," => expects_name = depth == 1,
            _ if expects_name => {
                names.push(token);
                expects_name = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// What follows every `crate::`, and every row of `super::` that reaches the crate's root.
fn names_from_the_root(code: &str, depth: usize) -> Vec<&str> {
    let tokens = tokens(code);
    let mut names = Vec::new();
    for at in 0..tokens.len() {
        let behind = &tokens[at + 1..];
        if tokens[at] == "crate" && behind.first() == Some(&"::") {
            names.extend(first_names(&behind[1..]));
        }
        let supers = tokens[at..].chunks(2).take_while(|pair| *pair == ["super", "::"]).count();
        let is_first = at < 2 || tokens[at - 2] != "super";
        if supers == depth && is_first {
            // A file's own test module says `super::*`.
            names.extend(first_names(&tokens[at + 2 * supers..]).into_iter().filter(|name| *name != "*"));
        }
    }
    names
}

/// Which module an item of `src/lib.rs` comes from: its modules, and what it exports from them.
fn modules_of_exports(lib: &str) -> BTreeMap<String, String> {
    let mut modules = BTreeMap::new();
    for statement in lib.split(';') {
        let words = tokens(statement);
        if let Some(at) = words.iter().position(|word| *word == "mod") {
            modules.insert(words[at + 1].to_owned(), words[at + 1].to_owned());
        } else if let Some(at) = words.windows(2).position(|pair| pair == ["pub", "use"]) {
            let path = &words[at + 2..];
            for name in first_names(&path[2..]) {
                modules.insert(name.to_owned(), path[0].to_owned());
            }
        }
    }
    modules
}

fn floor(module: &str) -> u8 {
    if module == "relayout_kernels" {
        return 0;
    }
    let floor = FLOORS.iter().find(|(_, modules)| modules.contains(&module));
    floor.unwrap_or_else(|| panic!("module {module} has no floor yet: give it one in this test")).0
}

/// `plan` of `src/plan/mod.rs`, `shape` of `src/shape.rs`.
fn module_of(file: &str) -> &str {
    let inside = file.strip_prefix("src/").expect("a file of the library");
    inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs")
}

#[test]
fn imports_go_downwards() {
    let sources = sources("src");
    let lib = &sources.iter().find(|(file, _)| file == "src/lib.rs").expect("the library's root").1;
    let modules = modules_of_exports(lib);
    let mut wrong = Vec::new();
    for (file, code) in sources.iter().filter(|(file, _)| file != "src/lib.rs") {
        let own = floor(module_of(file));
        let depth = file.matches('/').count() - usize::from(file.ends_with("/mod.rs"));
        for name in names_from_the_root(code, depth) {
            let module = modules.get(name).unwrap_or_else(|| panic!("{file}: where is crate::{name} from?"));
            if floor(module) > own {
                wrong.push(format!(
                    "{file} (floor {own}) imports {name} of {module} (floor {})",
                    floor(module)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "upward imports:\n{}", wrong.join("\n"));
}

#[test]
fn paths_are_read() {
    let code = code(
        r#"use crate::{a::{B, C}, d, E}; // use crate::no;
        fn f() -> crate::g::H { "crate::no" } use super::super::{i, j}; use super::k;"#,
    );
    assert_eq!(names_from_the_root(&code, 2), ["a", "d", "E", "g", "i", "j"]);
    assert_eq!(names_from_the_root(&code, 1), ["a", "d", "E", "g", "k"]);
    let modules = modules_of_exports("mod a; pub mod b; pub use a::{C, D}; pub use b::E;");
    assert_eq!(modules.keys().collect::<Vec<_>>(), ["C", "D", "E", "a", "b"]);
    assert_eq!((modules["C"].as_str(), modules["E"].as_str()), ("a", "b"));
}

/// The files of some folders that name a word.
fn naming(folders: &[&str], word: &str) -> Vec<String> {
    let sources = folders.iter().flat_map(|folder| sources(folder));
    sources.filter(|(_, code)| words(code).contains(word)).map(|(file, _)| file).collect()
}

#[test]
fn threads_live_in_one_place() {
    let files = naming(&["src", "kernels"], "rayon");
    assert!(files.len() == 1 && files[0].starts_with("src/execute/"), "{files:?}");
}

#[test]
fn instructions_live_in_the_kernels() {
    for word in ["pulp", "arch", "simd", "target_feature"] {
        assert_eq!(naming(&["src", "cli/src"], word), [""; 0], "{word}");
    }
}

#[test]
fn unsafe_lives_in_the_kernels() {
    let library = naming(&["src"], "unsafe");
    assert!(library.len() <= 1 && library.iter().all(|file| file.starts_with("src/execute/")), "{library:?}");
    let program = naming(&["cli/src"], "unsafe");
    assert!(program.len() <= 1, "{program:?}");
    let lib =
        &sources("src").into_iter().find(|(file, _)| file == "src/lib.rs").expect("the library's root").1;
    let denied = ["#", "!", "[", "deny", "(", "unsafe_code", ")", "]"];
    assert!(tokens(lib).windows(denied.len()).any(|part| part == denied));
}

#[test]
fn kernels_know_nothing_of_xla() {
    const XLA: &[&str] =
        &["shape", "layout", "primitivetype", "xla", "hlo", "minor_to_major", "rayon", "relayout"];
    for (file, code) in sources("kernels/src") {
        // The allocator's word for a size and an alignment is no layout of XLA's, and a crate may say its own name.
        let code = code.replace("alloc::Layout", "").replace("crate self as relayout_kernels", "");
        let words: Vec<String> = words(&code).into_iter().map(str::to_lowercase).collect();
        let known: Vec<&String> =
            words.iter().filter(|word| XLA.iter().any(|xla| word.contains(xla))).collect();
        assert!(known.is_empty(), "{file} names {known:?}");
    }
}

#[test]
fn the_reference_shares_nothing_with_the_plans() {
    let (_, reference) =
        sources("src").into_iter().find(|(file, _)| file == "src/reference.rs").expect("the reference");
    let words = words(&reference);
    for word in ["relayout_kernels", "plan", "execute"] {
        assert!(!words.contains(word), "{word}");
    }
}

/// Where compiling the kernels is slow, their tests are one program, which is written by hand.
#[test]
fn every_test_of_the_kernels_is_in_one_program() {
    let path = root().join("kernels/src/interface.rs");
    let listed = std::fs::read_to_string(path).expect("the list of test programs");
    for (file, _) in sources("kernels/tests") {
        let name = file.trim_start_matches("kernels/tests/");
        let is_program = !name.contains('/') || name.ends_with("/main.rs");
        assert!(!is_program || listed.contains(&format!("\"../tests/{name}\"")), "{name} is in no list");
    }
}
