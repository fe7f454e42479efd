//! The house: who may import whom. The layers are the list in the documentation of
//! `src/lib.rs`: each imports from those above it in the list only. Within a layer no
//! file needs another one that needs it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    iter::successors,
    path::Path,
};

/// What tests of all layers may use.
const TEST_DATA: &str = "test_data";

/// Modules by their paths, such as `tools::epd::run`, and the layers.
struct House {
    files: BTreeMap<String, String>,
    /// Lowest first.
    layers: Vec<String>,
}

impl House {
    fn new(documentation: &str, files: BTreeMap<String, String>) -> House {
        let (_, list) = documentation.split_once("//! ```text\n").unwrap();
        let (list, _) = list.split_once("//! ```").unwrap();
        let layer =
            |line: &str| line.strip_prefix("//! ")?.split_whitespace().next().map(str::to_owned);
        House { files, layers: list.lines().filter_map(layer).collect() }
    }

    fn layer(&self, name: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer == name)
    }

    /// Imports that go up, tests included, and files that belong to no layer.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (file, source) in &self.files {
            let Some(layer) = file.split("::").next().and_then(|name| self.layer(name)) else {
                faults.push(format!("{file} is in no layer"));
                continue;
            };
            let (code, tests) = split(source);
            let tests = imports(tests, &format!("{file}::tests"));
            for path in imports(code, file).union(&tests) {
                let other = path.split("::").next().unwrap_or_default();
                // What stands in lib.rs itself hands on things of any layer.
                let up = self.layer(other).map_or(other != TEST_DATA, |other| other > layer);
                if up {
                    faults.push(format!("{file} imports {path}"));
                }
            }
        }
        faults
    }

    /// The file that a path leads into.
    fn target(&self, path: &str) -> Option<&str> {
        let paths = successors(Some(path), |path| path.rsplit_once("::").map(|(above, _)| above));
        let mut files = paths.filter_map(|path| self.files.get_key_value(path));
        files.next().map(|(file, _)| file.as_str())
    }

    /// Sets of files that need each other. Tests may look at any neighbour, and what
    /// a module only hands on (`pub use`) it does not need.
    fn circles(&self) -> BTreeSet<Vec<&str>> {
        let needs = |file: &str| -> BTreeSet<&str> {
            let (code, _) = split(&self.files[file]);
            let handed_on = code.split("pub use ").skip(1).map(|rest| rest.split(';').next());
            let code = handed_on.flatten().fold(code.to_owned(), |code, on| code.replace(on, ""));
            let paths = imports(&code, file);
            paths.iter().filter_map(|path| self.target(path)).filter(|&to| to != file).collect()
        };
        let needed: BTreeMap<&str, BTreeSet<&str>> =
            self.files.keys().map(|file| (file.as_str(), needs(file))).collect();
        let reached = |from: &str| {
            let mut reached = BTreeSet::new();
            let mut open: Vec<&str> = needed[from].iter().copied().collect();
            while let Some(file) = open.pop() {
                if reached.insert(file) {
                    open.extend(&needed[file]);
                }
            }
            reached
        };
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            needed.keys().map(|&file| (file, reached(file))).collect();
        let circle = |&file: &&str| -> Vec<&str> {
            reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect()
        };
        reached.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
    }
}

/// A source file, and the tests at its end.
fn split(source: &str) -> (&str, &str) {
    source.split_once("#[cfg(test)]\nmod tests {").unwrap_or((source, ""))
}

/// Words and signs, without comments.
fn tokens(source: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for line in source.lines() {
        let code = line.split("//").next().unwrap_or_default();
        let mut word = String::new();
        for c in code.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            tokens.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            match tokens.last_mut() {
                Some(last) if c == ':' && last == ":" => last.push(c),
                _ => tokens.extend((!c.is_whitespace()).then(|| c.to_string())),
            }
        }
    }
    tokens
}

/// The paths into this crate that a module names in `use` or elsewhere, from the root.
fn imports(source: &str, module: &str) -> BTreeSet<String> {
    let tokens = tokens(source);
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token == text);
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let modules = tokens.windows(3).filter(|w| w[0] == "mod" && w[2] == ";");
    let declared: BTreeSet<&str> = modules.map(|w| w[1].as_str()).collect();
    let mut found = BTreeSet::new();
    for at in 0..tokens.len() {
        let inside = at > 0 && is(at - 1, "::");
        if inside || !is(at + 1, "::") {
            continue;
        }
        match tokens[at].as_str() {
            "crate" => drop(tree(&tokens, at + 2, "", &mut found)),
            "self" => drop(tree(&tokens, at + 2, module, &mut found)),
            "super" => drop(tree(&tokens, at + 2, parent, &mut found)),
            name if declared.contains(name) => drop(tree(&tokens, at, module, &mut found)),
            _ => {}
        }
    }
    found
}

/// Reads a path, or a tree of paths such as `a::{b, c::{self, d}}`, below `above`.
/// Returns where it ends.
fn tree(tokens: &[String], mut at: usize, above: &str, found: &mut BTreeSet<String>) -> usize {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token == text);
    if is(at, "{") {
        at += 1;
        while at < tokens.len() && !is(at, "}") {
            at = match tokens[at].as_str() {
                "," => at + 1,
                "as" => at + 2,
                _ => tree(tokens, at, above, found),
            };
        }
        return at + 1;
    }
    let Some(name) = tokens.get(at) else { return at };
    let path = match name.as_str() {
        "super" => above.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned(),
        "self" => above.to_owned(),
        name if above.is_empty() => name.to_owned(),
        name => format!("{above}::{name}"),
    };
    if is(at + 1, "::") {
        return tree(tokens, at + 2, &path, found);
    }
    found.insert(path);
    at + 1
}

/// The modules of a folder, and of those in it that are no packages of their own.
fn read(folder: &Path, above: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let module = if above.is_empty() { name.to_owned() } else { format!("{above}::{name}") };
        if path.is_dir() && module != "bin" && !path.join("Cargo.toml").exists() {
            read(&path, &module, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") && module != "lib" {
            let module = if name == "mod" { above.to_owned() } else { module };
            files.insert(module, fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn imports_go_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = BTreeMap::new();
    read(&root, "", &mut files);
    let house = House::new(&fs::read_to_string(root.join("lib.rs")).unwrap(), files);
    for layer in &house.layers {
        assert!(house.files.contains_key(layer), "no module '{layer}' for the list in lib.rs");
    }
    assert_eq!(house.faults(), [""; 0]);

    let circles = house.circles();
    assert!(circles.is_empty(), "files in a circle: {circles:?}");
}

/// A house in which everything is wrong, and what looks wrong but is not.
#[test]
fn wrong_houses_are_noticed() {
    const LAYERS: &str = "//! A house.\n//! ```\n//! code\n//! ```\n//! ```text\n//! low   x\n//! mid   y\n\
                          //! high  z\n//! ```\n";
    let house = |files: &[(&str, &str)]| {
        let files = files.iter().map(|&(name, text)| (name.to_owned(), text.to_owned()));
        House::new(LAYERS, files.collect())
    };
    let faults = |source: &str| house(&[("mid::a", source)]).faults();
    for source in [
        "use crate::high::X;",
        "use crate::{\n    low::Y,\n    high::{self, X as Z},\n};",
        "pub(crate) use super::super::high::X;",
        "use crate::Handed;",
        "fn f() { println!(\"{}\", crate::high::f(1)); }",
        "type A = Vec<crate::low::B<crate::high::X>>;",
        "fn f() {}\n#[cfg(test)]\nmod tests {\n    use super::super::super::high::X;\n}",
    ] {
        let faults = faults(source);
        let up = |fault: &String| {
            ["mid::a imports high", "mid::a imports Handed"].iter().any(|up| fault.starts_with(up))
        };
        assert!(!faults.is_empty() && faults.iter().all(up), "{source}: {faults:?}");
    }
    for source in [
        "// use crate::high::X;\nuse crate::low::Y;",
        "/// [`X`](crate::high::X)\nuse std::high::X;",
        "use super::{b::C, d};\nuse crate::mid::high;",
        "#[cfg(test)]\nmod tests {\n    use super::*;\n    use crate::low::Y;\n}",
    ] {
        assert_eq!(faults(source), [""; 0], "{source}");
    }
    assert_eq!(house(&[("high", "use crate::low::X;")]).faults(), [""; 0]);
    assert_eq!(house(&[("attic::a", "")]).faults(), ["attic::a is in no layer"]);

    let circles = |files: &[(&str, &str)]| {
        let house = house(files);
        let circles = house.circles();
        circles.iter().map(|circle| circle.join(" ")).collect::<Vec<_>>()
    };
    let three = [
        ("low", "mod a;\nmod b;\nmod c;\npub use a::A;\nuse b::B;"),
        ("low::a", "use super::{B, b::f};"),
        ("low::b", "fn g() { super::c::h() }"),
        ("low::c", "use crate::low::a::A;"),
    ];
    assert_eq!(circles(&three), ["low low::a low::b low::c"]);
    // The door of a folder may hand on what its files need it for.
    let door = [("low", "mod a;\npub use a::A;"), ("low::a", "use super::B;")];
    assert_eq!(circles(&door), [""; 0]);
    let tests = "#[cfg(test)]\nmod tests {\n    use super::super::b::B;\n}";
    assert_eq!(circles(&[("low::a", tests), ("low::b", "use super::a::A;")]), [""; 0]);
}
