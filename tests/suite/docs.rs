//! Checks the documents: links lead to existing files and headings, the README lists its sections
//! and every document is linked, and the description for OpenBench has the required fields.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the paths of all Markdown documents.
fn documents() -> Vec<PathBuf> {
    let mut documents = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".md") {
                documents.push(path);
            }
        }
    }
    documents
}

/// Returns the anchors of all headings in a document.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

/// Returns the anchor of a heading: lower case, with hyphens instead of spaces.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Returns the targets of links and pictures, `](target)`.
fn links(text: &str) -> Vec<&str> {
    let parts = text.split("](").skip(1);
    parts.filter_map(|part| part.split_once(')')).map(|(target, _)| target).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text) {
            if link.contains("://") {
                continue;
            }
            seen += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let file =
                if file.is_empty() { document.clone() } else { document.with_file_name(file) };
            assert!(file.exists(), "{}: {link}", document.display());
            let there = heading.is_empty()
                || anchors(&fs::read_to_string(file).unwrap()).iter().any(|name| name == heading);
            assert!(there, "{}: {link}: no such heading", document.display());
        }
    }
    assert!(seen > 30, "{seen}");
    assert_eq!(anchor(" The lab: which search?"), "the-lab-which-search");
}

/// The README's contents list every section. Every other document is linked from the README of the
/// repository or from the README in its own folder.
#[test]
fn the_readme_is_a_short_way_in() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let targets = links(&text);
    let sections: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor).collect();
    let contents: Vec<&str> = targets.iter().filter_map(|link| link.strip_prefix('#')).collect();
    assert_eq!(sections, contents);
    for document in documents() {
        let path = document.strip_prefix(root()).unwrap();
        let linked = targets.iter().any(|link| Path::new(link.split('#').next().unwrap()) == path);
        // A link from the README in the same folder also counts.
        let name = document.file_name().unwrap().to_str().unwrap();
        let linked = linked
            || fs::read_to_string(document.with_file_name("README.md"))
                .is_ok_and(|page| links(&page).contains(&name));
        // The documents of the tests are for developers, so CONTRIBUTING links to them.
        assert!(linked || path.starts_with("tests") || path == "README.md", "{}", path.display());
    }
}

/// Returns a part of the description that must be an object.
fn object<'a>(value: &'a Value, name: &str) -> &'a Map<String, Value> {
    value[name].as_object().unwrap_or_else(|| panic!("{name} is not an object"))
}

/// The description passes the checks of OpenBench (`OpenBench/config.py`), and Lancet has the
/// options that it sets.
#[test]
fn openbench_can_read_the_description() {
    let text = fs::read_to_string(root().join("src/uci/openbench.json")).unwrap();
    let engine: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(engine["private"], Value::Bool(false));
    assert!(engine["nps"].as_u64().is_some_and(|nps| nps > 0));
    assert!(engine["source"].is_string());
    let build = &engine["build"];
    assert!(build["path"].is_string());
    for list in ["compilers", "cpuflags", "systems"] {
        let words = build[list].as_array().unwrap_or_else(|| panic!("{list} is not a list"));
        assert!(words.iter().all(Value::is_string), "{list}");
    }
    assert_eq!(build["compilers"][0].as_str().unwrap().split('>').next(), Some("cargo"));

    let sides = ["both", "dev", "base"];
    let settings = ["branch", "bench", "network", "options", "time_control"];
    let common = [
        "book_name",
        "upload_pgns",
        "priority",
        "throughput",
        "syzygy_wdl",
        "syzygy_adj",
        "win_adj",
        "draw_adj",
    ];
    let is_setting = |key: &str, sides: &[&str]| {
        let split = key.split_once('_');
        split.is_some_and(|(side, setting)| sides.contains(&side) && settings.contains(&setting))
    };
    for (presets, sides, special) in [
        (
            "test_presets",
            &sides[..],
            &["test_bounds", "test_confidence", "test_max_games", "workload_size"][..],
        ),
        (
            "tune_presets",
            &sides[1..2],
            &["spsa_iterations", "spsa_pairs_per", "spsa_reporting_type", "spsa_distribution_type"],
        ),
        (
            "datagen_presets",
            &sides[..],
            &[
                "datagen_custom_genfens",
                "datagen_play_reverses",
                "datagen_max_games",
                "workload_size",
            ],
        ),
    ] {
        let presets = object(&engine, presets);
        assert!(presets.contains_key("default"));
        for (name, preset) in presets {
            for (key, value) in preset.as_object().unwrap() {
                let known = is_setting(key, sides)
                    || common.contains(&key.as_str())
                    || special.contains(&key.as_str());
                assert!(known, "{name}: {key}");
                if key.ends_with("_options") {
                    check_options(value.as_str().unwrap());
                }
            }
        }
    }
}

/// Checks options such as `Threads=1 Hash=16`: Lancet has them and accepts the values.
fn check_options(text: &str) {
    let mut names = Vec::new();
    for option in text.split(' ') {
        let (name, value) = option.split_once('=').unwrap();
        lancet::uci::options::change(name, Some(value)).unwrap();
        names.push(name);
    }
    assert_eq!(names, ["Threads", "Hash"], "OpenBench requires both");
}
