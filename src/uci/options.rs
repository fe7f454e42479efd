//! The options, each in one place: a row holds the name, the values it takes,
//! the default, what a new value does, and what the README says of it. `uci`
//! prints the rows, and `setoption` looks its row up.

use std::{
    fmt,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use vampirc_uci::{UciMessage, UciOptionConfig};

use super::output::Verbosity;
use crate::{
    engine::{BOOK_DEPTH, Engine, HASH_RANGE, RootSearch, Settings, THREADS_RANGE},
    eval::{self, nnue::Network},
    play::{
        book::Book,
        limits::LiveOptions,
        strength::ELO_RANGE,
        syzygy::{self, MAX_PIECES, ProbeOptions, Tablebases},
    },
};
#[cfg(feature = "tune")]
use crate::{play, search, system::tune::Param};

/// The value that stands for an empty string.
const EMPTY: &str = "<empty>";

/// One option.
#[derive(Debug)]
pub struct Row {
    /// Its name, matched in any case.
    pub name: &'static str,
    /// What it takes and what it does.
    pub kind: Kind,
    /// What it is for: the sentence of the README's table, in Markdown.
    pub about: &'static str,
}

/// The values that an option takes, its default, and what a new value does.
#[derive(Debug)]
pub enum Kind {
    /// `true` or `false`.
    Check { default: bool, effect: Effect<bool> },
    /// A whole number.
    Spin { default: usize, range: RangeInclusive<usize>, effect: Effect<usize> },
    /// The name of a root driver.
    Combo {
        default: RootSearch,
        choices: &'static [(&'static str, RootSearch)],
        effect: Effect<RootSearch>,
    },
    /// Nothing: it acts.
    Button { effect: Effect<()> },
    /// A file, none if empty, as by default.
    File { effect: Effect<Option<PathBuf>> },
    /// A text to read; what is set is ignored.
    About { text: &'static str },
    /// Directories, separated as in the system's `PATH`; none by default.
    Directories { effect: Effect<Vec<PathBuf>> },
}

/// What a new value does, and on which thread.
#[derive(Debug)]
pub enum Effect<T> {
    /// Sets something of the engine, after what was queued before.
    Engine(fn(&mut Engine, T)),
    /// The same, if it can fail, or needs more than the engine.
    Serving(fn(&mut Serving, T) -> Result<(), String>),
    /// Sets something that the reading thread holds: at once, also during a search.
    Reading(fn(&mut Reading, T)),
}

/// What options set on the engine's thread.
pub struct Serving<'a> {
    /// The engine.
    pub engine: Engine,
    /// Where the table is saved to and loaded from.
    pub hash_file: Option<PathBuf>,
    /// Tells the GUI what was done.
    pub say: &'a dyn Fn(&str),
}

/// What options set on the reading thread.
pub struct Reading<'a> {
    /// What a running search looks at.
    pub live: Arc<LiveOptions>,
    /// What is told of it.
    pub verbosity: &'a Verbosity,
    /// Castling is written as king takes rook; FENs may be of Chess960.
    pub chess960: bool,
    /// Analysis, not a game.
    pub analyse: bool,
    /// Logs to a file, or no more.
    pub log_to: &'a dyn Fn(Option<&Path>),
}

const SETTINGS: Settings = Settings::DEFAULT;

const fn live() -> LiveOptions {
    LiveOptions::new()
}

/// Every option, in the order in which `uci` prints them.
pub const OPTIONS: &[Row] = &[
    Row {
        name: "Hash",
        kind: Kind::Spin {
            default: SETTINGS.hash,
            range: HASH_RANGE,
            effect: Effect::Engine(Engine::set_hash),
        },
        about: "size of the transposition table in MiB",
    },
    Row {
        name: "Clear Hash",
        kind: Kind::Button { effect: Effect::Serving(|serving, ()| clear_hash(serving)) },
        about: "clears the table and all that searches have learned, as for a new game",
    },
    Row {
        name: "Never Clear Hash",
        kind: Kind::Check {
            default: SETTINGS.never_clear_hash,
            effect: Effect::Engine(Engine::set_never_clear_hash),
        },
        about: "a new game keeps the table, and Clear Hash does nothing; \
                what UCI_LimitStrength thought is still forgotten",
    },
    Row {
        name: "Hash File",
        kind: Kind::File {
            effect: Effect::Serving(|serving, path| {
                serving.hash_file = path;
                Ok(())
            }),
        },
        about: "where the table is saved and loaded",
    },
    Row {
        name: "Save Hash",
        kind: Kind::Button { effect: Effect::Serving(|serving, ()| save_hash(serving)) },
        about: "saves the table with all its depths and bounds; replaces saved tables only",
    },
    Row {
        name: "Load Hash",
        kind: Kind::Button { effect: Effect::Serving(|serving, ()| load_hash(serving)) },
        about: "replaces the table, and its size, with the saved one; a damaged file is refused",
    },
    Row {
        name: "Threads",
        kind: Kind::Spin {
            default: SETTINGS.threads,
            range: THREADS_RANGE,
            effect: Effect::Serving(|serving, threads| {
                serving.engine.set_threads(threads).map_err(|error| error.to_string())
            }),
        },
        about: "search threads",
    },
    Row {
        name: "MultiPV",
        kind: Kind::Spin {
            default: live().multi_pv.into_inner(),
            range: 1..=256, // more than any position has moves
            effect: Effect::Reading(|reading, lines| {
                reading.live.multi_pv.store(lines, Ordering::Relaxed);
            }),
        },
        about: "lines to report; may change during a search",
    },
    Row {
        name: "Ponder",
        kind: Kind::Check { default: SETTINGS.ponder, effect: Effect::Engine(Engine::set_ponder) },
        about: "Lancet may think on the opponent's time, so it spends more of its own",
    },
    Row {
        name: "Move Overhead",
        kind: Kind::Spin {
            default: SETTINGS.move_overhead.as_millis() as usize,
            range: 0..=5000,
            effect: Effect::Engine(|engine, ms| {
                engine.set_move_overhead(Duration::from_millis(ms as u64));
            }),
        },
        about: "milliseconds kept back, and 50 more on clocks; of `movetime` a tenth at most; \
                raise it over a network",
    },
    Row {
        name: "nodestime",
        kind: Kind::Spin {
            default: SETTINGS.nodestime as usize,
            range: 0..=10_000,
            effect: Effect::Engine(|engine, nodes| engine.set_nodestime(nodes as u64)),
        },
        about: "for testers, without Ponder and movestogo: any millisecond is this many nodes; 0 is time itself",
    },
    Row {
        name: "UCI_Chess960",
        kind: Kind::Check {
            default: false,
            effect: Effect::Reading(|reading, on| reading.chess960 = on),
        },
        about: "Chess960: castling is written as king takes rook; \
                X-FEN and Shredder-FEN are read either way",
    },
    Row {
        name: "UCI_AnalyseMode",
        kind: Kind::Check {
            default: false,
            effect: Effect::Reading(|reading, on| reading.analyse = on),
        },
        about: "analysis: even a forced move is searched; \
                book and UCI_LimitStrength are ignored",
    },
    Row {
        name: "UCI_LimitStrength",
        kind: Kind::Check {
            default: SETTINGS.limit_strength,
            effect: Effect::Engine(Engine::set_limit_strength),
        },
        about: "plays like a person rated UCI_Elo, but not in 'go infinite'",
    },
    Row {
        name: "UCI_Elo",
        kind: Kind::Spin {
            default: SETTINGS.elo as usize,
            range: *ELO_RANGE.start() as usize..=*ELO_RANGE.end() as usize,
            effect: Effect::Engine(|engine, elo| engine.set_elo(elo as u32)),
        },
        about: "that rating",
    },
    Row {
        name: "OwnBook",
        kind: Kind::Check {
            default: SETTINGS.own_book,
            effect: Effect::Engine(Engine::set_own_book),
        },
        about: "plays from BookFile while it has moves, each as often as its weight says",
    },
    Row {
        name: "BookFile",
        kind: Kind::File { effect: Effect::Serving(set_book) },
        about: "an opening book in Polyglot format (.bin); a damaged one is refused",
    },
    Row {
        name: "BookDepth",
        kind: Kind::Spin {
            default: SETTINGS.book_depth as usize,
            range: 1..=BOOK_DEPTH as usize,
            effect: Effect::Engine(|engine, moves| engine.set_book_depth(moves as u32)),
        },
        about: "how many moves of a game may come from the book",
    },
    Row {
        name: "SyzygyPath",
        kind: Kind::Directories {
            effect: Effect::Serving(|serving, paths| {
                let open = || Tablebases::open(&paths, serving.say).map(Arc::new);
                serving.engine.set_tablebases(if paths.is_empty() { None } else { open() });
                Ok(())
            }),
        },
        about: "directories of Syzygy endgame tables, separated by `:` (`;` on Windows)",
    },
    Row {
        name: "SyzygyProbeDepth",
        kind: Kind::Spin {
            default: SETTINGS.syzygy.probe_depth as usize,
            range: 1..=100,
            effect: Effect::Engine(|engine, depth| {
                set_syzygy(engine, |settings| settings.probe_depth = depth as i32);
            }),
        },
        about: "minimum remaining depth for a look-up; raise it if the disk is slow",
    },
    Row {
        name: "SyzygyProbeLimit",
        kind: Kind::Spin {
            default: SETTINGS.syzygy.probe_limit,
            range: 0..=MAX_PIECES,
            effect: Effect::Engine(|engine, pieces| {
                set_syzygy(engine, |settings| settings.probe_limit = pieces);
            }),
        },
        about: "maximum number of pieces for a look-up",
    },
    Row {
        name: "Syzygy50MoveRule",
        kind: Kind::Check {
            default: SETTINGS.syzygy.fifty_moves,
            effect: Effect::Engine(|engine, on| {
                set_syzygy(engine, |settings| settings.fifty_moves = on);
            }),
        },
        about: "wins that the fifty-move rule spoils count as draws",
    },
    Row {
        name: "UCI_ShowCurrLine",
        kind: Kind::Check {
            default: live().show_current_line.into_inner(),
            effect: Effect::Reading(|reading, on| {
                reading.live.show_current_line.store(on, Ordering::Relaxed);
            }),
        },
        about: "reports the line being searched once a second",
    },
    Row {
        name: "UCI_ShowRefutations",
        kind: Kind::Check {
            default: live().show_refutations.into_inner(),
            effect: Effect::Reading(|reading, on| {
                reading.live.show_refutations.store(on, Ordering::Relaxed);
            }),
        },
        about: "reports the reply to each of the other moves after every iteration",
    },
    Row {
        name: "UCI_ShowWDL",
        kind: Kind::Check {
            default: false,
            effect: Effect::Reading(|reading, on| {
                reading.verbosity.show_wdl.store(on, Ordering::Relaxed);
            }),
        },
        about: "reports the chances of a win, draw and loss with every score, in permille",
    },
    Row {
        name: "Minimal",
        kind: Kind::Check {
            default: false,
            effect: Effect::Reading(|reading, on| {
                reading.verbosity.minimal.store(on, Ordering::Relaxed);
            }),
        },
        about: "reports only the last line of a search, or the last of each rank with MultiPV",
    },
    Row {
        name: "Explain",
        kind: Kind::Check {
            default: false,
            effect: Effect::Reading(|reading, on| {
                reading.verbosity.explain.store(on, Ordering::Relaxed);
            }),
        },
        about: "says with the best move, in a sentence, what it does",
    },
    Row {
        name: "Debug Log File",
        kind: Kind::File {
            effect: Effect::Reading(|reading, path| (reading.log_to)(path.as_deref())),
        },
        about: "appends everything read and written to this file, with the time (UTC)",
    },
    Row {
        name: "EvalFile",
        kind: Kind::File { effect: Effect::Serving(set_network) },
        about: "the network to evaluate with; a bad file is refused. \
                `psqt` is material and piece-square tables, for comparison",
    },
    Row {
        name: "Root Search",
        kind: Kind::Combo {
            default: SETTINGS.root_search,
            choices: &[
                ("Aspiration", RootSearch::Aspiration),
                ("Full Window", RootSearch::FullWindow),
                ("Bisection", RootSearch::Bisection),
                ("MTD(f)", RootSearch::MtdF),
            ],
            effect: Effect::Engine(Engine::set_root_search),
        },
        about: "how the score of an iteration is found",
    },
    Row {
        name: "UCI_EngineAbout",
        kind: Kind::About {
            text: concat!(
                "Lancet ",
                env!("CARGO_PKG_VERSION"),
                " by the Lancet developers, free under ",
                env!("CARGO_PKG_LICENSE"),
            ),
        },
        about: "for GUIs to show",
    },
];

fn clear_hash(serving: &mut Serving) -> Result<(), String> {
    if serving.engine.settings().never_clear_hash {
        return Err("Clear Hash: 'Never Clear Hash' is on, the table stays".to_owned());
    }
    serving.engine.clear_hash();
    Ok(())
}

fn save_hash(serving: &mut Serving) -> Result<(), String> {
    let (engine, path) = (&mut serving.engine, hash_file(serving.hash_file.as_deref())?);
    let name = path.display();
    engine.save_hash(path).map_err(|error| format!("Save Hash: {name}: {error}"))?;
    (serving.say)(&format!("Save Hash: {} MiB in {name}", engine.settings().hash));
    Ok(())
}

fn load_hash(serving: &mut Serving) -> Result<(), String> {
    let (engine, path) = (&mut serving.engine, hash_file(serving.hash_file.as_deref())?);
    let name = path.display();
    let fail = |error| format!("Load Hash: {name}: {error}; the old table stays");
    engine.load_hash(path).map_err(fail)?;
    (serving.say)(&format!("Load Hash: {} MiB from {name}", engine.settings().hash));
    Ok(())
}

fn hash_file(path: Option<&Path>) -> Result<&Path, String> {
    path.ok_or_else(|| "'Hash File' names no file yet".to_owned())
}

fn set_network(serving: &mut Serving, path: Option<PathBuf>) -> Result<(), String> {
    let network = match path {
        None => Some(eval::default_network()),
        Some(path) if path == Path::new("psqt") => None,
        Some(path) => {
            let network = Network::load(&path).map_err(|error| format!("EvalFile: {error}"))?;
            Some(Arc::new(network))
        }
    };
    serving.engine.set_network(network);
    Ok(())
}

fn set_book(serving: &mut Serving, path: Option<PathBuf>) -> Result<(), String> {
    let load = |path: PathBuf| {
        Book::load(&path).map_err(|error| format!("BookFile: {}: {error}", path.display()))
    };
    serving.engine.set_book(path.map(load).transpose()?);
    Ok(())
}

fn set_syzygy(engine: &mut Engine, set: impl FnOnce(&mut ProbeOptions)) {
    let mut settings = engine.settings().syzygy;
    set(&mut settings);
    engine.set_syzygy(settings);
}

/// What is done on the engine's thread.
pub type OnEngine = Box<dyn FnOnce(&mut Serving) -> Result<(), String> + Send>;

/// What a `setoption` asks for, and on which thread it is to be done. An error is
/// for the GUI.
pub enum Change {
    /// On the engine's thread, after what was queued before.
    Serving(OnEngine),
    /// On the reading thread, at once.
    Reading(Box<dyn FnOnce(&mut Reading)>),
}

impl<T: Send + 'static> Effect<T> {
    fn of(&self, value: T) -> Change {
        match *self {
            Effect::Engine(set) => Change::Serving(Box::new(move |serving| {
                set(&mut serving.engine, value);
                Ok(())
            })),
            Effect::Serving(set) => Change::Serving(Box::new(move |serving| set(serving, value))),
            Effect::Reading(set) => Change::Reading(Box::new(move |reading| set(reading, value))),
        }
    }
}

/// Why an option was not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// There is none of this name.
    Unknown {
        /// The name as given.
        name: String,
    },
    /// The option does not take this value.
    Value {
        /// The option.
        name: &'static str,
        /// The value as given; `None` if there was none.
        value: Option<String>,
        /// What it takes.
        expected: String,
    },
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown { name } => {
                write!(f, "unknown option '{name}': 'uci' lists the options")
            }
            OptionError::Value { name, value: Some(value), expected } => {
                write!(f, "option '{name}' cannot be '{value}': expected {expected}")
            }
            OptionError::Value { name, value: None, expected } => {
                write!(f, "option '{name}' needs a value: expected {expected}")
            }
        }
    }
}

impl std::error::Error for OptionError {}

/// The change that `setoption name <name> value <value>` asks for.
///
/// # Errors
///
/// If there is no such option or it does not take this value.
pub fn change(name: &str, value: Option<&str>) -> Result<Change, OptionError> {
    // Some GUIs send a value of "<empty>" to mean an empty string.
    let text = value.filter(|value| !value.eq_ignore_ascii_case(EMPTY)).unwrap_or_default();
    #[cfg(feature = "tune")]
    if let Some(param) = tunables().find(|param| param.name == name) {
        return tuned(param, text);
    }
    let Some(row) = OPTIONS.iter().find(|row| row.name.eq_ignore_ascii_case(name)) else {
        return Err(OptionError::Unknown { name: name.to_owned() });
    };
    row.kind.change(text).ok_or_else(|| refused(row.name, text, row.kind.expected()))
}

fn refused(name: &'static str, text: &str, expected: String) -> OptionError {
    OptionError::Value { name, value: (!text.is_empty()).then(|| text.to_owned()), expected }
}

/// What the feature `tune` adds to the options.
#[cfg(feature = "tune")]
pub fn tunables() -> impl Iterator<Item = &'static Param> {
    [eval::params::ALL, search::params::ALL, play::params::ALL].into_iter().flatten()
}

#[cfg(feature = "tune")]
fn tuned(param: &'static Param, text: &str) -> Result<Change, OptionError> {
    let range = param.min..=param.max;
    match text.parse().ok().filter(|number| range.contains(number)) {
        Some(number) => {
            let set = |_: &mut Engine, (param, number): (&Param, i32)| {
                param.value.store(number, Ordering::Relaxed);
            };
            Ok(Effect::Engine(set).of((param, number)))
        }
        None => Err(refused(param.name, text, expected_number(&range))),
    }
}

fn expected_number<T: fmt::Display>(range: &RangeInclusive<T>) -> String {
    format!("a whole number from {} to {}", range.start(), range.end())
}

impl Kind {
    /// What `text` asks for, if the option takes it.
    fn change(&self, text: &str) -> Option<Change> {
        match self {
            Kind::Check { effect, .. } => {
                let on = text.eq_ignore_ascii_case("true");
                (on || text.eq_ignore_ascii_case("false")).then(|| effect.of(on))
            }
            Kind::Spin { range, effect, .. } => {
                let number = text.parse().ok()?;
                range.contains(&number).then(|| effect.of(number))
            }
            Kind::Combo { choices, effect, .. } => {
                let (_, value) =
                    choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text))?;
                Some(effect.of(*value))
            }
            Kind::Button { effect } => Some(effect.of(())),
            Kind::About { .. } => Some(Change::Reading(Box::new(|_| {}))),
            Kind::File { effect } => {
                Some(effect.of((!text.is_empty()).then(|| PathBuf::from(text))))
            }
            Kind::Directories { effect } => Some(effect.of(syzygy::directories(text))),
        }
    }

    /// The default as text, if it is not empty.
    fn default_text(&self) -> Option<String> {
        match self {
            Kind::Check { default, .. } => Some(default.to_string()),
            Kind::Spin { default, .. } => Some(default.to_string()),
            Kind::Combo { default, choices, .. } => choices
                .iter()
                .find(|(_, value)| value == default)
                .map(|(name, _)| (*name).to_owned()),
            Kind::About { text } => Some((*text).to_owned()),
            Kind::Button { .. } | Kind::File { .. } | Kind::Directories { .. } => None,
        }
    }

    /// What values are possible, for a person.
    fn expected(&self) -> String {
        match self {
            Kind::Check { .. } => "'true' or 'false'".to_owned(),
            Kind::Spin { range, .. } => expected_number(range),
            Kind::Combo { choices, .. } => {
                let names: Vec<_> = choices.iter().map(|(name, _)| format!("'{name}'")).collect();
                format!("one of {}", names.join(", "))
            }
            Kind::Button { .. }
            | Kind::About { .. }
            | Kind::File { .. }
            | Kind::Directories { .. } => "any text".to_owned(),
        }
    }

    /// What values are possible, as the README's table has it.
    fn range_text(&self) -> String {
        match self {
            Kind::Check { .. } | Kind::About { .. } => String::new(),
            Kind::Spin { range, .. } => format!("{} to {}", range.start(), range.end()),
            Kind::Combo { choices, .. } => {
                choices.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ")
            }
            Kind::Button { .. } => "button".to_owned(),
            Kind::File { .. } => "a path".to_owned(),
            Kind::Directories { .. } => "paths".to_owned(),
        }
    }
}

/// The messages that announce the options.
pub fn announce() -> Vec<UciMessage> {
    let rows = OPTIONS.iter().map(config);
    #[cfg(feature = "tune")]
    let rows = rows.chain(tunables().map(|param| {
        let (default, min, max) = (param.default, param.min, param.max);
        spin(param.name, default.into(), min.into(), max.into())
    }));
    rows.map(UciMessage::Option).collect()
}

fn config(row: &Row) -> UciOptionConfig {
    let name = row.name.to_owned();
    // Spins stay below 2^31 (cutechess drops larger ones).
    let number = |&n: &usize| i64::try_from(n).unwrap_or(i64::from(i32::MAX));
    match &row.kind {
        Kind::Check { default, .. } => UciOptionConfig::Check { name, default: Some(*default) },
        Kind::Spin { default, range, .. } => {
            spin(row.name, number(default), number(range.start()), number(range.end()))
        }
        Kind::Combo { choices, .. } => UciOptionConfig::Combo {
            name,
            default: row.kind.default_text(),
            var: choices.iter().map(|(choice, _)| (*choice).to_owned()).collect(),
        },
        Kind::Button { .. } => UciOptionConfig::Button { name },
        Kind::About { .. } => UciOptionConfig::String { name, default: row.kind.default_text() },
        Kind::File { .. } | Kind::Directories { .. } => {
            UciOptionConfig::String { name, default: Some(EMPTY.to_owned()) }
        }
    }
}

fn spin(name: &str, default: i64, min: i64, max: i64) -> UciOptionConfig {
    let name = name.to_owned();
    UciOptionConfig::Spin { name, default: Some(default), min: Some(min), max: Some(max) }
}

/// What options there are, for a person: name, default, range and meaning.
pub fn list() -> Vec<[String; 4]> {
    let cells = |Row { name, kind, about }: &Row| {
        let default = kind.default_text().unwrap_or_default();
        [(*name).to_owned(), default, kind.range_text(), (*about).to_owned()]
    };
    OPTIONS.iter().map(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fresh engine and a fresh reading side.
    fn with_sides<T>(run: impl FnOnce(&mut Serving, &mut Reading) -> T) -> T {
        let engine = Engine::new(Settings::default()).unwrap();
        let serving = &mut Serving { engine, hash_file: None, say: &|_| {} };
        let reading = &mut Reading {
            live: Arc::default(),
            verbosity: &Verbosity::default(),
            chess960: false,
            analyse: false,
            log_to: &|_| {},
        };
        run(serving, reading)
    }

    fn set(serving: &mut Serving, reading: &mut Reading, name: &str, value: Option<&str>) {
        match change(name, value).unwrap() {
            Change::Serving(change) => change(serving).unwrap(),
            Change::Reading(change) => change(reading),
        }
    }

    #[test]
    fn names_in_any_case_values_as_given() {
        with_sides(|serving, reading| {
            for (name, value) in [
                ("hAsH", "64"),
                ("MULTIPV", "5"),
                ("ponder", "True"),
                ("move overhead", "0"),
                ("root search", "mtd(F)"),
                ("hash file", "/tmp/a b.table"),
                ("uci_showwdl", "true"),
                ("UCI_Chess960", "true"),
            ] {
                set(serving, reading, name, Some(value));
            }
            set(serving, reading, "clear hash", None);
            let settings = Settings {
                hash: 64,
                ponder: true,
                move_overhead: Duration::ZERO,
                root_search: RootSearch::MtdF,
                ..Settings::DEFAULT
            };
            assert_eq!(*serving.engine.settings(), settings);
            assert_eq!(serving.hash_file.as_deref(), Some(Path::new("/tmp/a b.table")));
            assert_eq!(reading.live.multi_pv.load(Ordering::Relaxed), 5);
            assert!(reading.verbosity.show_wdl.load(Ordering::Relaxed));
            assert!(reading.chess960 && !reading.analyse);
            for empty in [None, Some(""), Some("<empty>")] {
                serving.hash_file = Some(PathBuf::from("table"));
                set(serving, reading, "Hash File", empty);
                assert_eq!(serving.hash_file, None);
            }
        });
    }

    #[test]
    fn the_log_is_told_its_file() {
        let told = std::cell::RefCell::new(Vec::new());
        let log_to = |path: Option<&Path>| told.borrow_mut().push(path.map(Path::to_owned));
        let reading = &mut Reading {
            live: Arc::default(),
            verbosity: &Verbosity::default(),
            chess960: false,
            analyse: false,
            log_to: &log_to,
        };
        for value in [Some("/tmp/a b.log"), Some("<empty>")] {
            let Ok(Change::Reading(change)) = change("debug log file", value) else { panic!() };
            change(reading);
        }
        assert_eq!(*told.borrow(), [Some(PathBuf::from("/tmp/a b.log")), None]);
    }

    #[test]
    fn wrong_values_are_named() {
        for (name, value, message) in [
            (
                "Hash",
                Some("0"),
                "option 'Hash' cannot be '0': expected a whole number from 1 to 1048576",
            ),
            (
                "hash",
                Some("abc"),
                "option 'Hash' cannot be 'abc': expected a whole number from 1 to 1048576",
            ),
            (
                "Hash",
                None,
                "option 'Hash' needs a value: expected a whole number from 1 to 1048576",
            ),
            (
                "Threads",
                Some("99999999999999999999"),
                "option 'Threads' cannot be '99999999999999999999': expected a whole number from 1 to 1024",
            ),
            ("Ponder", Some("1"), "option 'Ponder' cannot be '1': expected 'true' or 'false'"),
            (
                "Root Search",
                Some("x"),
                "option 'Root Search' cannot be 'x': expected one of 'Aspiration', 'Full Window', 'Bisection', 'MTD(f)'",
            ),
            ("Hahs", Some("1"), "unknown option 'Hahs': 'uci' lists the options"),
        ] {
            assert_eq!(change(name, value).err().unwrap().to_string(), message);
        }
    }

    /// Match runners want numbers in every spin, below 2^31.
    #[test]
    fn the_list_is_well_formed() {
        let lines: Vec<String> = announce().iter().map(ToString::to_string).collect();
        for line in [
            "option name Hash type spin default 16 min 1 max 1048576",
            "option name Clear Hash type button",
            "option name Debug Log File type string default <empty>",
            "option name Root Search type combo default Aspiration var Aspiration \
             var Full Window var Bisection var MTD(f)",
        ] {
            assert!(lines.contains(&line.to_owned()), "{line}");
        }
        for Row { name, kind, .. } in OPTIONS {
            if let Kind::Spin { default, range, .. } = kind {
                assert!(range.contains(default) && *range.end() < 1 << 31, "{name}");
            }
        }
    }

    /// What is announced as default is what a fresh engine has: setting it
    /// changes nothing.
    #[test]
    fn defaults_are_the_defaults() {
        with_sides(|serving, reading| {
            let network = serving.engine.network().unwrap().hash();
            for Row { name, kind, .. } in OPTIONS {
                if !matches!(kind, Kind::Button { .. }) {
                    let value = kind.default_text();
                    set(serving, reading, name, Some(value.as_deref().unwrap_or(EMPTY)));
                }
            }
            assert_eq!(*serving.engine.settings(), Settings::default());
            assert_eq!(serving.engine.network().unwrap().hash(), network);
            assert_eq!(serving.hash_file, None);
            assert!(!reading.chess960 && !reading.analyse);
            let Reading { live, verbosity, .. } = reading;
            let defaults = (LiveOptions::default(), Verbosity::default());
            assert_eq!(
                format!("{live:?} {verbosity:?}"),
                format!("{:?} {:?}", defaults.0, defaults.1)
            );
        });
    }

    /// No option does nothing: another value than the default is seen on one side or the
    /// other. (Files and directories have tests of their own.)
    #[test]
    fn every_value_has_an_effect() {
        let seen = |serving: &Serving, reading: &Reading| {
            let Reading { live, verbosity, chess960, analyse, .. } = reading;
            let settings = serving.engine.settings();
            format!("{settings:?} {live:?} {verbosity:?} {chess960} {analyse}")
        };
        let mut changed = 0;
        for Row { name, kind, .. } in OPTIONS {
            let other = match kind {
                Kind::Check { default, .. } => (!default).to_string(),
                Kind::Spin { default, range, .. } if default == range.end() => {
                    (default - 1).to_string()
                }
                Kind::Spin { default, .. } => (default + 1).to_string(),
                Kind::Combo { default, choices, .. } => {
                    let (other, _) = choices.iter().find(|(_, value)| value != default).unwrap();
                    (*other).to_owned()
                }
                _ => continue,
            };
            with_sides(|serving, reading| {
                let before = seen(serving, reading);
                set(serving, reading, name, Some(&other));
                assert_ne!(seen(serving, reading), before, "{name}");
            });
            changed += 1;
        }
        assert!(changed > 20, "{changed}");
    }

    /// If this fails, what it prints is the table to put into the README.
    #[test]
    fn the_readme_has_the_table() {
        let mut table = "| name | default | range | what it does |\n\
                         | --- | --- | --- | --- |\n"
            .to_owned();
        for cells in list() {
            let cell = |text: String| if text.is_empty() { text } else { format!(" {text}") };
            let cells = cells.map(cell).join(" |");
            table.push_str(&format!("|{cells} |\n"));
        }
        let readme = include_str!("../../README.md");
        assert!(readme.contains(&format!("\n\n{table}\n")), "the README wants:\n{table}");
    }
}
