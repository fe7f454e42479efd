//! The options as data: what `uci` prints and `setoption` accepts. Turning a
//! [`Change`] into effect is the loop's business.

use std::{fmt, path::PathBuf, time::Duration};

use vampirc_uci::{UciMessage, UciOptionConfig};

use crate::{
    engine::{BOOK_DEPTH, HASH_RANGE, RootSearch, THREADS_RANGE},
    play::{
        strength::{DEFAULT_ELO, ELO_RANGE},
        syzygy,
    },
};

/// The value that stands for an empty string.
const EMPTY: &str = "<empty>";

/// A new value for an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Table size in MiB.
    Hash(usize),
    /// Empty the table.
    ClearHash,
    /// Keep the table over games.
    NeverClearHash(bool),
    /// Where the table is saved to and loaded from.
    HashFile(Option<PathBuf>),
    /// Save the table.
    SaveHash,
    /// Load the table.
    LoadHash,
    /// Search threads.
    Threads(usize),
    /// Lines to report.
    MultiPv(usize),
    /// The GUI may let us ponder.
    Ponder(bool),
    /// Kept back from every clock.
    MoveOverhead(Duration),
    /// Castling is written as king takes rook; FENs may be of Chess960.
    Chess960(bool),
    /// Play like a player of a rating.
    LimitStrength(bool),
    /// The rating.
    Elo(u32),
    /// Winning chances with every score.
    ShowWdl(bool),
    /// The line being searched, now and then.
    ShowCurrentLine(bool),
    /// What is wrong with the other moves.
    ShowRefutations(bool),
    /// No game: never hurry.
    AnalyseMode(bool),
    /// The network file to evaluate with, `None` for the one built in.
    EvalFile(Option<PathBuf>),
    /// Play from the opening book.
    OwnBook(bool),
    /// The opening book; `None` for none.
    BookFile(Option<PathBuf>),
    /// Moves of a game that may come from the book.
    BookDepth(u32),
    /// The directories with endgame tables; none without.
    SyzygyPath(Vec<PathBuf>),
    /// Least depth of a node that is looked up.
    SyzygyProbeDepth(i32),
    /// Most pieces of a position that is looked up.
    SyzygyProbeLimit(usize),
    /// Wins that take too long are draws.
    Syzygy50MoveRule(bool),
    /// Both directions are logged here.
    LogFile(Option<PathBuf>),
    /// How the root finds its score.
    RootSearch(RootSearch),
    /// A constant of the search.
    #[cfg(feature = "tune")]
    Param(&'static str, i32),
}

/// What values an option takes, and what they become.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Check { default: bool, change: fn(bool) -> Change },
    /// A whole number from `min` to `max`.
    Spin { default: usize, min: usize, max: usize, change: fn(usize) -> Change },
    /// One of several words.
    Combo { default: &'static str, choices: &'static [(&'static str, Change)] },
    /// Nothing: it acts.
    Button { change: fn() -> Change },
    /// Any text, `<empty>` for none; empty by default.
    Text { change: fn(&str) -> Change },
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name, matched in any case.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
}

/// Longest `Move Overhead`, in milliseconds.
const MAX_OVERHEAD: usize = 5000;
/// Most lines: more than any position has moves.
const MAX_MULTI_PV: usize = 256;

/// Every option, in the order in which `uci` prints them.
pub const OPTIONS: &[Spec] = &[
    Spec {
        name: "Hash",
        kind: Kind::Spin {
            default: 16,
            min: *HASH_RANGE.start(),
            max: *HASH_RANGE.end(),
            change: Change::Hash,
        },
    },
    Spec { name: "Clear Hash", kind: Kind::Button { change: || Change::ClearHash } },
    Spec {
        name: "Never Clear Hash",
        kind: Kind::Check { default: false, change: Change::NeverClearHash },
    },
    Spec { name: "Hash File", kind: Kind::Text { change: |path| Change::HashFile(file(path)) } },
    Spec { name: "Save Hash", kind: Kind::Button { change: || Change::SaveHash } },
    Spec { name: "Load Hash", kind: Kind::Button { change: || Change::LoadHash } },
    Spec {
        name: "Threads",
        kind: Kind::Spin {
            default: 1,
            min: *THREADS_RANGE.start(),
            max: *THREADS_RANGE.end(),
            change: Change::Threads,
        },
    },
    Spec {
        name: "MultiPV",
        kind: Kind::Spin { default: 1, min: 1, max: MAX_MULTI_PV, change: Change::MultiPv },
    },
    Spec { name: "Ponder", kind: Kind::Check { default: false, change: Change::Ponder } },
    Spec {
        name: "Move Overhead",
        kind: Kind::Spin {
            default: 10,
            min: 0,
            max: MAX_OVERHEAD,
            change: |ms| Change::MoveOverhead(Duration::from_millis(ms as u64)),
        },
    },
    Spec { name: "UCI_Chess960", kind: Kind::Check { default: false, change: Change::Chess960 } },
    Spec {
        name: "UCI_AnalyseMode",
        kind: Kind::Check { default: false, change: Change::AnalyseMode },
    },
    Spec {
        name: "UCI_ShowCurrLine",
        kind: Kind::Check { default: false, change: Change::ShowCurrentLine },
    },
    Spec {
        name: "UCI_ShowRefutations",
        kind: Kind::Check { default: false, change: Change::ShowRefutations },
    },
    Spec { name: "UCI_ShowWDL", kind: Kind::Check { default: false, change: Change::ShowWdl } },
    Spec { name: "EvalFile", kind: Kind::Text { change: |path| Change::EvalFile(file(path)) } },
    Spec {
        name: "UCI_LimitStrength",
        kind: Kind::Check { default: false, change: Change::LimitStrength },
    },
    Spec {
        name: "UCI_Elo",
        kind: Kind::Spin {
            default: DEFAULT_ELO as usize,
            min: *ELO_RANGE.start() as usize,
            max: *ELO_RANGE.end() as usize,
            change: |elo| Change::Elo(elo as u32),
        },
    },
    Spec { name: "OwnBook", kind: Kind::Check { default: false, change: Change::OwnBook } },
    Spec { name: "BookFile", kind: Kind::Text { change: |path| Change::BookFile(file(path)) } },
    Spec {
        name: "BookDepth",
        kind: Kind::Spin {
            default: BOOK_DEPTH as usize,
            min: 1,
            max: BOOK_DEPTH as usize,
            change: |moves| Change::BookDepth(moves as u32),
        },
    },
    Spec {
        name: "SyzygyPath",
        kind: Kind::Text {
            change: |paths| {
                let paths = std::env::split_paths(paths);
                Change::SyzygyPath(paths.filter(|path| !path.as_os_str().is_empty()).collect())
            },
        },
    },
    Spec {
        name: "SyzygyProbeDepth",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 100,
            change: |depth| Change::SyzygyProbeDepth(depth as i32),
        },
    },
    Spec {
        name: "SyzygyProbeLimit",
        kind: Kind::Spin {
            default: syzygy::MAX_PIECES,
            min: 0,
            max: syzygy::MAX_PIECES,
            change: Change::SyzygyProbeLimit,
        },
    },
    Spec {
        name: "Syzygy50MoveRule",
        kind: Kind::Check { default: true, change: Change::Syzygy50MoveRule },
    },
    Spec {
        name: "Debug Log File",
        kind: Kind::Text { change: |path| Change::LogFile(file(path)) },
    },
    Spec {
        name: "Root Search",
        kind: Kind::Combo {
            default: "Aspiration",
            choices: &[
                ("Aspiration", Change::RootSearch(RootSearch::Aspiration)),
                ("Full Window", Change::RootSearch(RootSearch::FullWindow)),
                ("Bisection", Change::RootSearch(RootSearch::Bisection)),
                ("MTD(f)", Change::RootSearch(RootSearch::MtdF)),
            ],
        },
    },
];

/// The file that a text names; an empty one names none.
fn file(path: &str) -> Option<PathBuf> {
    (!path.is_empty()).then(|| PathBuf::from(path))
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
    #[cfg(feature = "tune")]
    if let Some(param) = crate::search::params::ALL.iter().find(|param| param.name == name) {
        return tuned(param, value);
    }
    let Some(spec) = OPTIONS.iter().find(|spec| spec.name.eq_ignore_ascii_case(name)) else {
        return Err(OptionError::Unknown { name: name.to_owned() });
    };
    // Some GUIs send a value of "<empty>" to mean an empty string.
    let text = value.filter(|value| !value.eq_ignore_ascii_case(EMPTY)).unwrap_or_default();
    spec.kind.change(text).ok_or_else(|| OptionError::Value {
        name: spec.name,
        value: value.filter(|value| !value.is_empty()).map(str::to_owned),
        expected: spec.kind.expected(),
    })
}

#[cfg(feature = "tune")]
fn tuned(param: &crate::search::params::Param, value: Option<&str>) -> Result<Change, OptionError> {
    let number = value.and_then(|value| value.parse().ok());
    match number.filter(|number| (param.min..=param.max).contains(number)) {
        Some(number) => Ok(Change::Param(param.name, number)),
        None => Err(OptionError::Value {
            name: param.name,
            value: value.map(str::to_owned),
            expected: format!("a whole number from {} to {}", param.min, param.max),
        }),
    }
}

impl Kind {
    fn change(&self, text: &str) -> Option<Change> {
        match self {
            Kind::Check { change, .. } => {
                let on = text.eq_ignore_ascii_case("true");
                (on || text.eq_ignore_ascii_case("false")).then(|| change(on))
            }
            Kind::Spin { min, max, change, .. } => {
                let number = text.parse().ok()?;
                (*min..=*max).contains(&number).then(|| change(number))
            }
            Kind::Combo { choices, .. } => choices
                .iter()
                .find(|(choice, _)| choice.eq_ignore_ascii_case(text))
                .map(|(_, change)| change.clone()),
            Kind::Button { change } => Some(change()),
            Kind::Text { change } => Some(change(text)),
        }
    }

    /// What values are possible, for a person.
    fn expected(&self) -> String {
        match self {
            Kind::Check { .. } => "'true' or 'false'".to_owned(),
            Kind::Spin { min, max, .. } => format!("a whole number from {min} to {max}"),
            Kind::Combo { choices, .. } => {
                let names: Vec<String> =
                    choices.iter().map(|(name, _)| format!("'{name}'")).collect();
                format!("one of {}", names.join(", "))
            }
            Kind::Button { .. } | Kind::Text { .. } => "any text".to_owned(),
        }
    }
}

/// The lines that announce the options.
#[must_use]
pub fn announce() -> Vec<String> {
    let lines = OPTIONS.iter().map(|spec| UciMessage::Option(config(spec)).to_string());
    #[cfg(feature = "tune")]
    let lines = lines.chain(crate::search::params::ALL.iter().map(|param| {
        UciMessage::Option(UciOptionConfig::Spin {
            name: param.name.to_owned(),
            default: Some(param.default.into()),
            min: Some(param.min.into()),
            max: Some(param.max.into()),
        })
        .to_string()
    }));
    lines.collect()
}

fn config(spec: &Spec) -> UciOptionConfig {
    let name = spec.name.to_owned();
    // Spins stay below 2^31 (cutechess drops larger ones).
    let number = |n: usize| Some(i64::try_from(n).unwrap_or(i64::from(i32::MAX)));
    match spec.kind {
        Kind::Check { default, .. } => UciOptionConfig::Check { name, default: Some(default) },
        Kind::Spin { default, min, max, .. } => UciOptionConfig::Spin {
            name,
            default: number(default),
            min: number(min),
            max: number(max),
        },
        Kind::Combo { default, choices } => UciOptionConfig::Combo {
            name,
            default: Some(default.to_owned()),
            var: choices.iter().map(|(choice, _)| (*choice).to_owned()).collect(),
        },
        Kind::Button { .. } => UciOptionConfig::Button { name },
        Kind::Text { .. } => UciOptionConfig::String { name, default: Some(EMPTY.to_owned()) },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::{
        engine::{Engine, Settings},
        play::report::LiveOptions,
        uci::apply,
    };

    #[test]
    fn names_in_any_case_values_as_given() {
        let set = |name, value| change(name, Some(value)).unwrap();
        assert_eq!(set("hAsH", "64"), Change::Hash(64));
        assert_eq!(change("clear hash", None), Ok(Change::ClearHash));
        assert_eq!(set("MULTIPV", "5"), Change::MultiPv(5));
        assert_eq!(set("ponder", "True"), Change::Ponder(true));
        assert_eq!(set("move overhead", "0"), Change::MoveOverhead(Duration::ZERO));
        assert_eq!(set("root search", "mtd(F)"), Change::RootSearch(RootSearch::MtdF));
        assert_eq!(set("root search", "full window"), Change::RootSearch(RootSearch::FullWindow));
        assert_eq!(
            set("Debug Log File", "/tmp/a b.log"),
            Change::LogFile(Some(PathBuf::from("/tmp/a b.log")))
        );
        for empty in [None, Some(""), Some("<empty>")] {
            assert_eq!(change("Debug Log File", empty), Ok(Change::LogFile(None)));
        }
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
            assert_eq!(change(name, value).unwrap_err().to_string(), message);
        }
    }

    /// Match runners want numbers in every spin, below 2^31.
    #[test]
    fn the_list_is_well_formed() {
        let lines = announce();
        assert!(
            lines.contains(&"option name Hash type spin default 16 min 1 max 1048576".to_owned())
        );
        assert!(lines.contains(&"option name Clear Hash type button".to_owned()));
        assert!(
            lines.contains(&"option name Debug Log File type string default <empty>".to_owned())
        );
        assert!(
            lines.contains(
                &"option name Root Search type combo default Aspiration var Aspiration \
              var Full Window var Bisection var MTD(f)"
                    .to_owned()
            )
        );
        for spec in OPTIONS {
            if let Kind::Spin { default, min, max, .. } = spec.kind {
                assert!(min <= default && default <= max && max < 1 << 31, "{}", spec.name);
            }
        }
    }

    /// What is announced as default is what a fresh engine has: setting it
    /// changes nothing.
    #[test]
    fn defaults_are_the_defaults() {
        let mut engine = Engine::new(Settings::default()).unwrap();
        let network = engine.network().unwrap().hash();
        let live = LiveOptions::default();
        for Spec { name, kind } in OPTIONS {
            let value = match kind {
                Kind::Check { default, .. } => default.to_string(),
                Kind::Spin { default, .. } => default.to_string(),
                Kind::Combo { default, .. } => (*default).to_owned(),
                Kind::Text { .. } => EMPTY.to_owned(),
                Kind::Button { .. } => continue,
            };
            let fresh = match change(name, Some(&value)).unwrap() {
                Change::MultiPv(lines) => lines == live.multi_pv.load(Ordering::Relaxed),
                Change::ShowWdl(on) => on == live.show_wdl.load(Ordering::Relaxed),
                Change::ShowCurrentLine(on) => on == live.show_current_line.load(Ordering::Relaxed),
                Change::ShowRefutations(on) => on == live.show_refutations.load(Ordering::Relaxed),
                // The loop begins without.
                Change::Chess960(on) | Change::AnalyseMode(on) => !on,
                Change::LogFile(path) => path.is_none(),
                change => {
                    apply(&mut engine, change, &|text| panic!("{name}: {text}")).unwrap();
                    *engine.settings() == Settings::default()
                        && engine.network().unwrap().hash() == network
                }
            };
            assert!(fresh, "{name}: {value}");
        }
    }
}
