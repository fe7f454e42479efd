//! Checks the layers of `src`. A file imports only from its own layer and the layers above it in
//! the list in `src/lib.rs`. Files do not import each other in a cycle. Unit tests may import
//! anything. Cycles between packages need no test, because Cargo rejects them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The code of each module, such as `tools::epd::run`, without comments and unit tests.
type Modules = BTreeMap<String, String>;

/// Adds the modules of a folder. Leaves out `src/bin` and the other packages.
fn read(folder: &Path, above: &str, modules: &mut Modules) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let module = format!("{above}::{}", path.file_stem().unwrap().display());
        if path.is_dir() && module != "::bin" && !path.join("Cargo.toml").exists() {
            read(&path, &module, modules);
        } else if path.extension().is_some_and(|end| end == "rs") && module != "::lib" {
            let source = fs::read_to_string(&path).unwrap();
            let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = code.lines().map(|line| line.split("//").next().unwrap());
            let module = module.strip_suffix("::mod").unwrap_or(&module);
            modules.insert(module[2..].to_owned(), lines.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// Returns the modules that a module names in `use` or elsewhere; `lib` for items of `lib.rs`
/// itself.
fn needs(modules: &Modules, module: &str, code: &str) -> BTreeSet<String> {
    let is_sign = |c: char| !c.is_alphanumeric() && c != '_' && c != ':';
    let mut needed = BTreeSet::new();
    // For each open brace, the path before it: `a::` for a group such as `a::{b, c as d}`, or
    // empty.
    let mut open: Vec<String> = Vec::new();
    let mut last = "";
    for token in code.split_inclusive(is_sign) {
        let word = token.trim_end_matches(is_sign);
        let path = open.last().cloned().unwrap_or_default() + word;
        let first = path.split("::").next().unwrap_or_default();
        let is_inside = ["crate", "self", "super"].contains(&first)
            || modules.contains_key(&format!("{module}::{first}"));
        let is_whole = !path.ends_with("::") || token.ends_with('*');
        let is_name = !["", "as"].contains(&word) && last != "as" && is_whole;
        if is_inside && is_name && path.contains("::") {
            let mut place: Vec<&str> = module.split("::").collect();
            for name in path.split("::") {
                match name {
                    "crate" => place.clear(),
                    "self" => {}
                    "super" => _ = place.pop(),
                    name => place.push(name),
                }
            }
            let mut outwards = (1..=place.len()).rev().map(|length| place[..length].join("::"));
            let target = outwards.find(|name| modules.contains_key(name));
            needed.insert(target.unwrap_or_else(|| "lib".to_owned()));
        }
        if token.ends_with('{') {
            open.push(if word.ends_with("::") { path } else { String::new() });
        } else if token.ends_with('}') {
            open.pop();
        }
        last = if word.is_empty() { last } else { word };
    }
    needed.remove(module);
    needed
}

#[test]
fn imports_go_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut modules = Modules::new();
    read(&root, "", &mut modules);
    let documentation = fs::read_to_string(root.join("lib.rs")).unwrap();
    let list = documentation.split("//! ```").find_map(|block| block.strip_prefix("text\n"));
    let layers: Vec<_> = list.unwrap().lines().map(|line| line.split_whitespace().nth(1)).collect();
    let layer = |module: &str| layers.iter().position(|name| *name == module.split("::").next());
    let mut circles: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (module, code) in &modules {
        let own = layer(module).unwrap_or_else(|| panic!("{module} is in no layer"));
        for other in needs(&modules, module, code) {
            assert!(layer(&other).is_some_and(|other| other <= own), "{module} imports {other}");
        }
        // Re-exports do not count as imports here.
        let mut parts = code.split("pub use ");
        let first = parts.next().unwrap().to_owned();
        let used = parts.fold(first, |used, part| used + part.split_once(';').unwrap().1);
        circles.insert(module, needs(&modules, module, &used));
    }
    let mut before = usize::MAX;
    while circles.len() < before {
        before = circles.len();
        let files = circles.keys().copied().map(str::to_owned).collect();
        circles.retain(|_, needed| !needed.is_disjoint(&files));
    }
    assert!(circles.is_empty(), "import cycles, and files that depend on them: {circles:#?}");
}

#[test]
fn imports_are_read() {
    let names = ["low", "low::a", "low::b", "low::b::c", "high::d"].map(str::to_owned);
    let modules = Modules::from(names.map(|name| (name, String::new())));
    let of = |module, code| Vec::from_iter(needs(&modules, module, code));
    let code = "use super::{self, b::{c::C, D as c},\n}; f(std::b::x, crate::high::d::g(1));";
    assert_eq!(of("low::a", code), ["high::d", "low", "low::b", "low::b::c"]);
    let code = "use crate::Handed; fn f() { a::f(self::b::g) }";
    assert_eq!(of("low", code), ["lib", "low::a", "low::b"]);
}
