//! The UCI options. Each is one row of a list: name, default, values, effect, and the description
//! for the README. `uci` prints the name, type, default and range of each, and `setoption` looks
//! one up.

use std::{
    ops::RangeInclusive,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail};
use vampirc_uci::{UciMessage, UciOptionConfig};

use crate::{
    engine::{BOOK_DEPTH, Engine, HASH_RANGE, RootSearch, Settings, THREADS_RANGE},
    eval,
    play::{
        book::Book,
        limits::LiveOptions,
        strength::{ELO_RANGE, SKILL_RANGE},
        syzygy::{self, MAX_PIECES, Tablebases},
    },
};
#[cfg(feature = "tune")]
use crate::{play, search, system::tune::Param};

/// The value that means an empty string.
const EMPTY: &str = "<empty>";

/// The root search drivers and their names, the default first.
const ROOT_SEARCHES: [(&str, RootSearch); 4] = [
    ("Aspiration", RootSearch::Aspiration),
    ("Full Window", RootSearch::FullWindow),
    ("Bisection", RootSearch::Bisection),
    ("MTD(f)", RootSearch::MtdF),
];

/// The value of UCI_EngineAbout.
const ABOUT: &str = concat!(
    "Lancet ",
    env!("CARGO_PKG_VERSION"),
    " by the Lancet developers, licensed under ",
    env!("CARGO_PKG_LICENSE"),
);

/// The state that options change on the engine thread.
pub struct EngineContext<'a> {
    /// The engine.
    pub engine: Engine,
    /// The file for Save Hash and Load Hash.
    pub hash_file: Option<PathBuf>,
    /// Sends a message to the GUI.
    pub say: &'a (dyn Fn(&str) + Sync),
}

/// Options that the reading thread sets at once, even during a search.
#[derive(Debug, Default)]
pub struct DialogueOptions {
    /// Options that the search reads.
    pub live: Arc<LiveOptions>,
    /// Whether to report winning chances with every score.
    pub show_wdl: AtomicBool,
    /// Whether to report only the final result of a search.
    pub minimal: AtomicBool,
    /// Whether to send a sentence about the best move.
    pub explain: AtomicBool,
    /// Whether to print additional information. Set by `debug on`, not by an option.
    pub debug: AtomicBool,
    /// Whether to write castling as king takes rook, and to accept Chess960 FENs.
    pub chess960: AtomicBool,
    /// Whether searches are for analysis, not for a game.
    pub analyse: AtomicBool,
}

/// A change on the engine thread. Its error is sent to the GUI.
pub type EngineChange = Box<dyn FnOnce(&mut EngineContext) -> anyhow::Result<()> + Send>;

/// The effect of a `setoption`.
pub enum Change {
    /// A change on the engine thread, after all earlier work.
    Engine(EngineChange),
    /// An immediate change on the reading thread.
    Dialogue(Box<dyn FnOnce(&DialogueOptions)>),
    /// Start logging to this file; `None` stops logging.
    Log(Option<PathBuf>),
}

/// A function from a value to its change; `None` for an invalid value.
type ReadChange = Box<dyn Fn(&str) -> Option<Change>>;

/// One option.
struct UciOption {
    /// Name, type, default and range, as `uci` prints them.
    config: UciOptionConfig,
    /// The default, empty if there is none.
    default: String,
    /// The allowed values, as shown in the README.
    values: String,
    /// The description, in Markdown.
    about: &'static str,
    /// Whether the option is for experts. The README and `help setoption` list these last.
    expert: bool,
    /// Returns the change for a value, or `None` if the value is invalid.
    change: ReadChange,
}

/// Returns all options except those of the feature `tune`, in the order in which `uci` prints them.
fn options() -> Vec<UciOption> {
    let default = Settings::default();
    vec![
        spin("Hash", default.hash, HASH_RANGE, |s, mib| s.hash = mib)
            .about("Size of the hash table (transposition table) in MiB."),
        button("Clear Hash", clear_hash).about(
            "Empties the hash table and the move-ordering statistics, as for a new \
                 game.",
        ),
        check("Never Clear Hash", default.never_clear_hash, |s, on| s.never_clear_hash = on).about(
            "Keeps the hash table when a new game starts, and ignores Clear Hash. A new game \
             still empties a table that was filled at limited strength (UCI_LimitStrength or Skill \
             Level).",
        ),
        file("Hash File", set_hash_file).about("File for Save Hash and Load Hash."),
        button("Save Hash", save_hash).about(
            "Saves the hash table to Hash File. An existing file is overwritten only if \
                 it contains a saved table.",
        ),
        button("Load Hash", load_hash).about(
            "Loads the hash table from Hash File, and sets Hash to its size. Refuses \
                 damaged files, and tables that were filled with another network, another \
                 setting of Syzygy50MoveRule, another strength limit or, at limited strength, \
                 in another game.",
        ),
        spin("Threads", default.threads, THREADS_RANGE, |s, threads| s.threads = threads)
            .about("Number of search threads. At limited strength, Lancet uses one."),
        // No position that can occur in a game has more than 218 legal moves.
        number("MultiPV", 1, 1..=256, |lines| {
            dialogue(move |o| o.live.multi_pv.store(lines, Relaxed))
        })
        .about(
            "Number of lines (principal variations) to report. At limited strength, \
                 Lancet reports one.",
        ),
        check("Ponder", default.ponder, |s, on| s.ponder = on).about(
            "Tells Lancet that it may think on the opponent's time. Lancet then plans \
                 more time for each move.",
        ),
        spin("Move Overhead", default.move_overhead.as_millis() as u64, 0..=5000, |s, ms| {
            s.move_overhead = Duration::from_millis(ms);
        })
        .about(
            "Milliseconds to reserve for delays between Lancet and the GUI. Raise it if \
                 you play over a network, or if Lancet loses games on time. In games with a \
                 clock, Lancet reserves another 50 ms, and more if it measures a lag. With \
                 `movetime`, it reserves only Move Overhead, and at most a tenth of the \
                 movetime.",
        ),
        spin("nodestime", default.nodestime, 0..=10_000, |s, nodes| s.nodestime = nodes)
            .about(
                "For testers: this number of nodes counts as one millisecond. With 0, Lancet \
                 uses the real clock. Do not combine it with Ponder or `movestogo`.",
            )
            .expert(),
        live_check("UCI_Chess960", |o| &o.chess960).about(
            "Plays Chess960 and double Chess960, and writes castling as king takes \
                 rook. If it is off, Lancet ignores castling rights that need a king or \
                 rook on a non-standard square.",
        ),
        live_check("UCI_AnalyseMode", |o| &o.analyse).about(
            "For analysis: Lancet searches even if only one move is legal, and ignores \
                 the book, UCI_LimitStrength and Skill Level.",
        ),
        check("UCI_LimitStrength", default.limit_strength, |s, on| s.limit_strength = on).about(
            "Plays at the rating UCI_Elo, with human-like mistakes. Has no effect on \
                 `go infinite`.",
        ),
        spin("UCI_Elo", default.elo, ELO_RANGE, |s, elo| s.elo = elo).about(
            "Rating for UCI_LimitStrength. From 1400 to 2200, it is on the scale of \
                 Stockfish's UCI_Elo.",
        ),
        spin("Skill Level", default.skill_level, SKILL_RANGE, |s, level| s.skill_level = level)
            .about(
                "Limits the strength if UCI_LimitStrength is off. Levels 0 to 19 play like \
                 UCI_Elo 500 to 2875, in steps of 125. Level 20 is full strength. Has no \
                 effect on `go infinite`.",
            ),
        check("OwnBook", default.own_book, |s, on| s.own_book = on).about(
            "Plays a book move if BookFile has one for the position. If it has several, \
                 Lancet chooses one at random, in proportion to their weights. Has no effect on \
                 `go infinite`, `go mate` and `go searchmoves`.",
        ),
        file("BookFile", set_book)
            .about("Opening book in Polyglot format (.bin). A damaged file is refused."),
        spin("BookDepth", default.book_depth, 1..=BOOK_DEPTH, |s, moves| s.book_depth = moves)
            .about("Highest move number at which Lancet plays from the book."),
        text("SyzygyPath", EMPTY, "paths", |paths| {
            on_engine(syzygy::directories(paths), set_tablebases)
        })
        .about(
            "Directories of Syzygy tablebases, separated by `:` (`;` on Windows). Not used at \
             limited strength.",
        ),
        spin("SyzygyProbeDepth", default.syzygy.probe_depth, 1..=100, |s, depth| {
            s.syzygy.probe_depth = depth;
        })
        .about(
            "Minimum remaining depth at which the search looks up positions in the \
                 tablebases. Raise it if the disk is slow.",
        )
        .expert(),
        spin("SyzygyProbeLimit", default.syzygy.probe_limit, 0..=MAX_PIECES, |s, pieces| {
            s.syzygy.probe_limit = pieces;
        })
        .about("Maximum number of pieces in positions that are looked up.")
        .expert(),
        check("Syzygy50MoveRule", default.syzygy.fifty_moves, |s, on| s.syzygy.fifty_moves = on)
            .about("Scores a tablebase win as a draw if the fifty-move rule turns it into one.")
            .expert(),
        live_check("UCI_ShowCurrLine", |o| &o.live.show_current_line)
            .about("Once a second, reports the line that is being searched.")
            .expert(),
        live_check("UCI_ShowRefutations", |o| &o.live.show_refutations)
            .about(
                "After every iteration, reports a refutation of each root move that does not \
                 begin a reported line.",
            )
            .expert(),
        live_check("UCI_ShowWDL", |o| &o.show_wdl)
            .about("Adds the chances of a win, a draw and a loss to every score, in permille."),
        live_check("Minimal", |o| &o.minimal)
            .about(
                "Reports only the final result of a search. With MultiPV, reports the final \
                 result of each line.",
            )
            .expert(),
        live_check("Explain", |o| &o.explain)
            .about("Before `bestmove`, sends an info string with a sentence about the best move."),
        path("Debug Log File", Change::Log).about(
            "For bug reports: appends a log of all input and output to this file, with \
                 times in UTC.",
        ),
        file("EvalFile", set_network)
            .about(
                "Network to evaluate with. An empty value selects the built-in network. For \
                 comparison, the value `psqt` selects material and piece-square tables, \
                 which are much weaker. A damaged file is refused.",
            )
            .expert(),
        root_search("Root Search").about("Search algorithm at the root, for comparison.").expert(),
        text("UCI_Opponent", EMPTY, "a name", |_| dialogue(|_| {}))
            .about("Name of the opponent. It does not affect play.")
            .expert(),
        text("UCI_EngineAbout", ABOUT, "", |_| dialogue(|_| {}))
            .about("Text about the engine, for GUIs to show. It cannot be changed.")
            .expert(),
    ]
}

/// Returns all options of this build.
fn all() -> impl Iterator<Item = UciOption> {
    #[cfg(feature = "tune")]
    let tunables = tunables().map(tunable);
    #[cfg(not(feature = "tune"))]
    let tunables = std::iter::empty();
    options().into_iter().chain(tunables)
}

/// Returns the tunable constants, which the feature `tune` turns into options.
#[cfg(feature = "tune")]
pub(super) fn tunables() -> impl Iterator<Item = &'static Param> {
    [eval::params::ALL, search::params::ALL, play::params::ALL].into_iter().flatten()
}

#[cfg(feature = "tune")]
fn tunable(param: &'static Param) -> UciOption {
    number(param.name, param.default, param.min..=param.max, move |number| {
        on_engine(number, move |_, number| {
            param.value.store(number, Relaxed);
            Ok(())
        })
    })
}

impl UciOption {
    fn new(
        config: UciOptionConfig,
        default: impl ToString,
        values: impl ToString,
        change: impl Fn(&str) -> Option<Change> + 'static,
    ) -> UciOption {
        let (default, values) = (default.to_string(), values.to_string());
        UciOption { config, default, values, about: "", expert: false, change: Box::new(change) }
    }

    fn about(self, about: &'static str) -> UciOption {
        UciOption { about, ..self }
    }

    fn expert(self) -> UciOption {
        UciOption { expert: true, ..self }
    }

    /// Returns the allowed values, for error messages.
    fn expected(&self) -> String {
        match &self.config {
            UciOptionConfig::Check { .. } => "'true' or 'false'".to_owned(),
            UciOptionConfig::Combo { var, .. } => format!("one of '{}'", var.join("', '")),
            _ => format!("a whole number from {}", self.values),
        }
    }
}

/// Creates a check option that changes one of the engine's settings.
fn check(name: &str, default: bool, set: fn(&mut Settings, bool)) -> UciOption {
    switch(name, default, move |on| configure(on, set))
}

/// Creates a check option that takes effect at once and is off by default.
fn live_check(name: &str, place: fn(&DialogueOptions) -> &AtomicBool) -> UciOption {
    switch(name, false, move |on| dialogue(move |options| place(options).store(on, Relaxed)))
}

fn switch(name: &str, default: bool, change: impl Fn(bool) -> Change + 'static) -> UciOption {
    let config = UciOptionConfig::Check { name: name.to_owned(), default: Some(default) };
    UciOption::new(config, default, "", move |text| {
        let on = text.eq_ignore_ascii_case("true");
        (on || text.eq_ignore_ascii_case("false")).then(|| change(on))
    })
}

/// Creates a spin option that changes one of the engine's settings.
fn spin<T>(name: &str, default: T, range: RangeInclusive<T>, set: fn(&mut Settings, T)) -> UciOption
where
    T: Copy + Send + TryFrom<i64> + TryInto<i64> + 'static,
{
    number(name, default, range, move |number| configure(number, set))
}

fn number<T>(
    name: &str,
    default: T,
    range: RangeInclusive<T>,
    change: impl Fn(T) -> Change + 'static,
) -> UciOption
where
    T: Copy + TryFrom<i64> + TryInto<i64>,
{
    let [default, min, max] =
        [default, *range.start(), *range.end()].map(|number| number.try_into().unwrap_or(i64::MAX));
    let config = UciOptionConfig::Spin {
        name: name.to_owned(),
        default: Some(default),
        min: Some(min),
        max: Some(max),
    };
    UciOption::new(config, default, format!("{min} to {max}"), move |text| {
        let number: i64 = text.parse().ok()?;
        let number = T::try_from(number).ok().filter(|_| (min..=max).contains(&number))?;
        Some(change(number))
    })
}

fn root_search(name: &str) -> UciOption {
    let [(default, _), ..] = ROOT_SEARCHES;
    let names = ROOT_SEARCHES.map(|(name, _)| name.to_owned());
    let values = names.join(", ");
    let config = UciOptionConfig::Combo {
        name: name.to_owned(),
        default: Some(default.to_owned()),
        var: names.into(),
    };
    UciOption::new(config, default, values, |text| {
        let mut drivers = ROOT_SEARCHES.into_iter();
        let (_, driver) = drivers.find(|(name, _)| name.eq_ignore_ascii_case(text))?;
        Some(configure(driver, |settings, driver| settings.root_search = driver))
    })
}

/// Creates a button.
fn button(name: &str, act: fn(&mut EngineContext) -> anyhow::Result<()>) -> UciOption {
    let config = UciOptionConfig::Button { name: name.to_owned() };
    UciOption::new(config, "", "button", move |_| Some(Change::Engine(Box::new(act))))
}

/// Creates an option with the path of a file that the engine thread uses.
fn file(
    name: &str,
    set: fn(&mut EngineContext, Option<PathBuf>) -> anyhow::Result<()>,
) -> UciOption {
    path(name, move |path| on_engine(path, set))
}

/// Creates an option with a path, which is empty by default.
fn path(name: &str, change: impl Fn(Option<PathBuf>) -> Change + 'static) -> UciOption {
    text(name, EMPTY, "a path", move |text| change((!text.is_empty()).then(|| PathBuf::from(text))))
}

fn text(
    name: &str,
    default: &str,
    values: &str,
    change: impl Fn(&str) -> Change + 'static,
) -> UciOption {
    let (name, announced) = (name.to_owned(), Some(default.to_owned()));
    let config = UciOptionConfig::String { name, default: announced };
    let default = if default == EMPTY { "" } else { default };
    UciOption::new(config, default, values, move |text| Some(change(text)))
}

/// Returns a change of one of the engine's settings.
fn configure<T: Send + 'static>(value: T, set: fn(&mut Settings, T)) -> Change {
    Change::Engine(Box::new(move |context| {
        let mut settings = context.engine.settings().clone();
        set(&mut settings, value);
        Ok(context.engine.configure(settings)?)
    }))
}

/// Returns a change on the engine thread.
fn on_engine<T: Send + 'static>(
    value: T,
    act: impl FnOnce(&mut EngineContext, T) -> anyhow::Result<()> + Send + 'static,
) -> Change {
    Change::Engine(Box::new(move |context| act(context, value)))
}

/// Returns a change on the reading thread.
fn dialogue(set: impl FnOnce(&DialogueOptions) + 'static) -> Change {
    Change::Dialogue(Box::new(set))
}

fn clear_hash(context: &mut EngineContext) -> anyhow::Result<()> {
    if context.engine.settings().never_clear_hash {
        bail!("Clear Hash: ignored, because 'Never Clear Hash' is on");
    }
    context.engine.clear_hash();
    Ok(())
}

fn set_hash_file(context: &mut EngineContext, path: Option<PathBuf>) -> anyhow::Result<()> {
    context.hash_file = path;
    Ok(())
}

fn save_hash(context: &mut EngineContext) -> anyhow::Result<()> {
    let path = context.hash_file.as_deref().context("Save Hash: set 'Hash File' first")?;
    let name = path.display();
    context.engine.save_hash(path).map_err(|error| anyhow!("Save Hash: {name}: {error}"))?;
    (context.say)(&format!("Save Hash: saved {} MiB to {name}", context.engine.settings().hash));
    Ok(())
}

fn load_hash(context: &mut EngineContext) -> anyhow::Result<()> {
    let path = context.hash_file.as_deref().context("Load Hash: set 'Hash File' first")?;
    let name = path.display();
    let fail = |error| anyhow!("Load Hash: {name}: {error}; the old table is kept");
    context.engine.load_hash(path).map_err(fail)?;
    (context.say)(&format!("Load Hash: loaded {} MiB from {name}", context.engine.settings().hash));
    Ok(())
}

fn set_network(context: &mut EngineContext, path: Option<PathBuf>) -> anyhow::Result<()> {
    let network = match path {
        None => Some(eval::default_network()),
        Some(path) => eval::load(&path).map_err(|error| anyhow!("EvalFile: {error}"))?,
    };
    context.engine.set_network(network);
    Ok(())
}

fn set_book(context: &mut EngineContext, path: Option<PathBuf>) -> anyhow::Result<()> {
    let load = |path: PathBuf| {
        Book::load(&path).map_err(|error| anyhow!("BookFile: {}: {error}", path.display()))
    };
    context.engine.set_book(path.map(load).transpose()?);
    Ok(())
}

fn set_tablebases(context: &mut EngineContext, paths: Vec<PathBuf>) -> anyhow::Result<()> {
    let open = || Tablebases::open(&paths, context.say).map(Arc::new);
    let tables = if paths.is_empty() { None } else { open() };
    context.engine.set_tablebases(tables);
    Ok(())
}

/// The reason why an option was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// There is no option with this name.
    #[error("unknown option '{name}': 'help setoption' lists the options")]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// The option needs a value.
    #[error("option '{name}' needs a value: expected {expected}")]
    Missing {
        /// The option.
        name: String,
        /// The allowed values.
        expected: String,
    },
    /// The value is not allowed.
    #[error("option '{name}' cannot be '{value}': expected {expected}")]
    Value {
        /// The option.
        name: String,
        /// The value as given.
        value: String,
        /// The allowed values.
        expected: String,
    },
}

/// Returns the change for `setoption name <name> value <value>`.
///
/// # Errors
///
/// If there is no such option or the value is not allowed.
pub fn change(name: &str, value: Option<&str>) -> Result<Change, OptionError> {
    // Some GUIs send a value of "<empty>" to mean an empty string.
    let text = value.filter(|value| !value.eq_ignore_ascii_case(EMPTY)).unwrap_or_default();
    let Some(option) = all().find(|option| option.config.get_name().eq_ignore_ascii_case(name))
    else {
        return Err(OptionError::Unknown { name: name.to_owned() });
    };
    (option.change)(text).ok_or_else(|| {
        let (name, expected) = (option.config.get_name().to_owned(), option.expected());
        match text {
            "" => OptionError::Missing { name, expected },
            value => OptionError::Value { name, value: value.to_owned(), expected },
        }
    })
}

/// Returns whether the name of an option begins with this text, ignoring case.
pub(super) fn begins_a_name(text: &str) -> bool {
    all().any(|option| {
        let start = option.config.get_name().get(..text.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(text))
    })
}

/// Returns the messages that announce the options.
pub(super) fn announce() -> Vec<UciMessage> {
    all().map(|option| UciMessage::Option(option.config)).collect()
}

/// Returns the everyday options, or those for experts: name, default, values and description.
pub(super) fn list(expert: bool) -> Vec<[String; 4]> {
    let cells = |option: UciOption| {
        let name = option.config.get_name().to_owned();
        [name, option.default, option.values, option.about.to_owned()]
    };
    options().into_iter().filter(|option| option.expert == expert).map(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state of both threads that options can change.
    struct Sides {
        context: EngineContext<'static>,
        dialogue: DialogueOptions,
    }

    impl Sides {
        fn new() -> Sides {
            let engine = Engine::new(Settings::default()).unwrap();
            let context = EngineContext { engine, hash_file: None, say: &|_| {} };
            Sides { context, dialogue: DialogueOptions::default() }
        }

        fn set(&mut self, name: &str, value: Option<&str>) {
            match change(name, value).unwrap() {
                Change::Engine(change) => change(&mut self.context).unwrap(),
                Change::Dialogue(change) => change(&self.dialogue),
                Change::Log(path) => assert_eq!(path, None),
            }
        }
    }

    #[test]
    fn names_ignore_case_and_values_stay_as_given() {
        let mut sides = Sides::new();
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
            sides.set(name, Some(value));
        }
        sides.set("clear hash", None);
        let settings = Settings {
            hash: 64,
            ponder: true,
            move_overhead: Duration::ZERO,
            root_search: RootSearch::MtdF,
            ..Settings::default()
        };
        assert_eq!(*sides.context.engine.settings(), settings);
        assert_eq!(sides.context.hash_file.as_deref(), Some("/tmp/a b.table".as_ref()));
        let DialogueOptions { live, show_wdl, chess960, analyse, .. } = &sides.dialogue;
        assert_eq!(live.multi_pv.load(Relaxed), 5);
        assert_eq!([show_wdl, chess960, analyse].map(|on| on.load(Relaxed)), [true, true, false]);
        for empty in [None, Some(""), Some("<empty>")] {
            sides.context.hash_file = Some(PathBuf::from("table"));
            sides.set("Hash File", empty);
            assert_eq!(sides.context.hash_file, None);
        }
    }

    #[test]
    fn debug_log_file_takes_a_path() {
        let told = |value| match change("debug log file", Some(value)) {
            Ok(Change::Log(path)) => path,
            _ => panic!("{value}"),
        };
        assert_eq!(told("/tmp/a b.log"), Some(PathBuf::from("/tmp/a b.log")));
        assert_eq!(told("<empty>"), None);
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
                "option 'Threads' cannot be '99999999999999999999': expected a whole number from \
                 1 to 1024",
            ),
            ("Ponder", Some("1"), "option 'Ponder' cannot be '1': expected 'true' or 'false'"),
            (
                "Root Search",
                Some("x"),
                "option 'Root Search' cannot be 'x': expected one of 'Aspiration', 'Full Window', \
                 'Bisection', 'MTD(f)'",
            ),
            ("Hahs", Some("1"), "unknown option 'Hahs': 'help setoption' lists the options"),
        ] {
            assert_eq!(change(name, value).err().unwrap().to_string(), message);
        }
    }

    /// Match runners expect a default, a minimum and a maximum in every spin option, below 2^31.
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
        // Some GUIs cannot read a default without a value.
        assert!(lines.iter().all(|line| !line.trim_end().ends_with("default")), "{lines:?}");
        for option in all() {
            if let UciOptionConfig::Spin { name, default, min, max } = option.config {
                assert!(min <= default && default <= max && max < Some(1 << 31), "{name}");
            }
        }
    }

    /// A new engine has the announced defaults, so setting them changes nothing.
    #[test]
    fn defaults_are_the_defaults() {
        let mut sides = Sides::new();
        let network = sides.context.engine.network().unwrap().hash();
        for option in all() {
            if !matches!(option.config, UciOptionConfig::Button { .. }) {
                let value = if option.default.is_empty() { EMPTY } else { option.default.as_str() };
                sides.set(option.config.get_name(), Some(value));
            }
        }
        assert_eq!(*sides.context.engine.settings(), Settings::default());
        assert_eq!(sides.context.engine.network().unwrap().hash(), network);
        assert_eq!(sides.context.hash_file, None);
        let default = format!("{:?}", DialogueOptions::default());
        assert_eq!(format!("{:?}", sides.dialogue), default);
    }

    /// Every option has an effect: a value other than the default changes the state of one of the
    /// threads. Files and directories have tests of their own.
    #[test]
    fn every_value_has_an_effect() {
        let seen =
            |sides: &Sides| format!("{:?} {:?}", sides.context.engine.settings(), sides.dialogue);
        let mut changed = 0;
        for UciOption { config, .. } in options() {
            let name = config.get_name();
            let other = match &config {
                UciOptionConfig::Check { default, .. } => (!default.unwrap()).to_string(),
                UciOptionConfig::Spin { default, max, .. } => {
                    let step = if default == max { -1 } else { 1 };
                    (default.unwrap() + step).to_string()
                }
                UciOptionConfig::Combo { default, var, .. } => {
                    var.iter().find(|&value| default.as_ref() != Some(value)).unwrap().clone()
                }
                _ => continue,
            };
            let mut sides = Sides::new();
            let before = seen(&sides);
            sides.set(name, Some(&other));
            assert_ne!(seen(&sides), before, "{name}");
            changed += 1;
        }
        assert!(changed > 20, "{changed}");
    }

    /// The README contains the tables of options. If one differs, the test prints the expected
    /// table.
    #[test]
    fn the_readme_has_the_tables() {
        for expert in [false, true] {
            let mut table = "| name | default | range | what it does |\n\
                             | --- | --- | --- | --- |\n"
                .to_owned();
            for cells in list(expert) {
                let cell = |text: String| if text.is_empty() { text } else { format!(" {text}") };
                let cells = cells.map(cell).join(" |");
                table.push_str(&format!("|{cells} |\n"));
            }
            let readme = include_str!("../../README.md");
            assert!(
                readme.contains(&format!("\n\n{table}\n")),
                "the README must contain this table:\n{table}"
            );
        }
    }
}
