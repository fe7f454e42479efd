//! The command line: maps each subcommand to one function of the library.
//!
//! The command `lancet NAME` is implemented by `Args` and `run` in `tools/NAME.rs`, or in
//! `tools/NAME/command.rs` where NAME is a folder. `uci` and `generate` are exceptions.

use std::{env, ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand, error::ErrorKind};
use lancet::{
    system::{arguments, program},
    tools, uci,
};

/// A UCI chess engine
///
/// Lancet is used with a GUI, a match runner or a bot: add it there as a UCI engine. Without a
/// command, it speaks UCI on standard input and output. UCI commands that are given as arguments
/// run first.
///
/// In a terminal, Lancet prints a coloured board, principal variations in columns, and moves in
/// SAN. You can type moves (`e4`, `e2e4`) and FENs directly, and play a game with `play`, `level
/// 1500`, `hint`, `undo` and `save game.pgn`. Type `help` there for all of these commands, and
/// `help play` for one. `help setoption` describes the options. After the command `uci`, or when
/// input or output is not a terminal, Lancet prints plain UCI only.
///
/// An output file must be new or empty, unless --force is given. `study` also replaces the games
/// and pages that it wrote itself.
#[derive(Parser)]
#[command(version = lancet::VERSION, after_long_help = r#"Examples:
  lancet
  lancet go depth 12
  lancet position startpos moves e2e4 go depth 12 quit
  lancet "setoption name Threads value 4" "go infinite"
  lancet analyse --help

Environment:
  NO_COLOR  if set and not empty, switches colours off

Exit status:
  0  after `quit`, at the end of the input, or when the reader has closed the output
  1  if the output could not be written, or the engine could not start
  2  if the command line was wrong"#)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

// The help of most commands is the doc comment of their `Args`.
#[derive(Subcommand)]
enum Command {
    /// Speak UCI on standard input and output, even at a terminal
    ///
    /// Without a command, lancet does the same, except that it shows a prompt at a terminal.
    #[command(after_long_help = "\
Examples:
  lancet uci

Exit status:
  0  after `quit`, at the end of the input, or when the reader has closed the output
  1  if the output could not be written, or the engine could not start")]
    Uci {
        /// UCI commands to begin with, as whole lines or as single words
        #[arg(value_name = "COMMAND")]
        lines: Vec<String>,
    },
    Bench(tools::bench::Args),
    Perft(tools::perft::command::Args),
    Epd(tools::epd::command::Args),
    #[command(alias = "analyze")]
    Analyse(tools::analyse::command::Args),
    Explain(tools::explain::command::Args),
    Study(tools::study::command::Args),
    Doctor(tools::doctor::command::Args),
    /// Write shell completions and manual pages to a directory, for packagers
    #[command(hide = true)]
    Generate {
        /// Output directory; created if it does not exist
        directory: PathBuf,
    },
    /// UCI commands, as whole lines or as single words
    #[command(external_subcommand)]
    Lines(Vec<String>),
}

/// Returns the error message for `lancet help WORD` if WORD is a UCI command, or a command of the
/// prompt such as `play`.
fn of_terminal(words: &[OsString]) -> Option<String> {
    let [help, word] = words else { return None };
    let word = word.to_str().filter(|word| help == "help" && *word != "help")?;
    let is_typed = uci::names().any(|name| name == word);
    (is_typed && Cli::command().find_subcommand(word).is_none()).then(|| {
        format!("'{word}' is a command of Lancet's prompt: start 'lancet' and type 'help {word}'")
    })
}

/// Returns the error message for a word that is not a command.
fn unknown(word: &str) -> String {
    match word {
        "lab" => "'lab' is a separate program: lancet-lab".to_owned(),
        "average" | "data" | "datagen" | "learn" | "train" | "wdl" => {
            format!("'{word}' is a command of lancet-train")
        }
        _ => {
            let program = Cli::command();
            let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
            let names = commands.map(clap::Command::get_name).map(str::to_owned);
            let names = names.chain(uci::names().map(str::to_owned));
            let advice = match arguments::nearest(word, names) {
                Some(name) => format!("did you mean '{name}'?"),
                None => "see 'lancet help'".to_owned(),
            };
            format!("'{word}' is neither a Lancet command nor a UCI command; {advice}")
        }
    }
}

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    if let Some(message) = of_terminal(&words) {
        program::end(&Cli::command().error(ErrorKind::InvalidSubcommand, message));
    }
    program::finish(run(program::read::<Cli>(Cli::command()).command))
}

fn run(command: Option<Command>) -> anyhow::Result<ExitCode> {
    match command {
        None => Ok(uci::main(&[], true)),
        Some(Command::Uci { lines }) => Ok(uci::main(&uci::lines(&lines), false)),
        Some(Command::Bench(args)) => tools::bench::run(&args),
        Some(Command::Perft(args)) => tools::perft::command::run(&args),
        Some(Command::Epd(args)) => tools::epd::command::run(&args),
        Some(Command::Analyse(args)) => tools::analyse::command::run(&args),
        Some(Command::Explain(args)) => tools::explain::command::run(&args),
        Some(Command::Study(args)) => tools::study::command::run(&args),
        Some(Command::Doctor(args)) => tools::doctor::command::run(&args),
        Some(Command::Generate { directory }) => program::generate(&directory, Cli::command()),
        Some(Command::Lines(words)) if uci::is_line(&words[0]) => {
            Ok(uci::main(&uci::lines(&words), true))
        }
        Some(Command::Lines(words)) => {
            program::end(&Cli::command().error(ErrorKind::InvalidSubcommand, unknown(&words[0])))
        }
    }
}
