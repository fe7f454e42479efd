//! Command line: each subcommand is one function elsewhere. No chess here.
//!
//! The command `lancet NAME` is `Args` and `run` in the file NAME.rs of its layer,
//! or in NAME/command.rs where NAME is a folder.

mod manual;

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand, error::ErrorKind};
use lancet::{system::program, tools, uci};

/// A UCI chess engine
///
/// Without a command it speaks UCI on standard input and output. Any other
/// words are carried out as UCI commands first, one per argument: lancet
/// "position startpos" "go depth 10" quit
#[derive(Parser)]
#[command(version = lancet::VERSION, after_long_help = manual::LANCET)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Speak UCI on standard input and output (the default)
    #[command(after_long_help = manual::UCI)]
    Uci,
    /// Search a fixed set of positions, counting nodes and time
    #[command(after_long_help = manual::BENCH)]
    Bench(tools::bench::Args),
    /// Count paths of legal moves, to test and time move generation
    #[command(after_long_help = manual::PERFT)]
    Perft(tools::perft::command::Args),
    /// Run EPD test suites and grade the answers
    #[command(after_long_help = manual::EPD)]
    Epd(tools::epd::command::Args),
    /// Annotate games: evaluations, errors, better lines, openings, accuracy
    #[command(alias = "analyze", after_long_help = manual::ANALYSE)]
    Analyse(tools::analyse::command::Args),
    /// Explain a position: the threat, the best move, what hangs, and the pieces
    #[command(after_long_help = manual::EXPLAIN)]
    Explain(tools::explain::command::Args),
    /// Grow an analysis tree, kept in a file, for as long as you like
    #[command(after_long_help = manual::STUDY)]
    Study(tools::study::command::Args),
    /// Measure this machine, and advise on the options that depend on it
    #[command(after_long_help = manual::DOCTOR)]
    Doctor(tools::doctor::command::Args),
    /// Write shell completions and manual pages below a directory, for packagers
    #[command(hide = true)]
    Generate {
        /// The directory; it is made if it is missing
        directory: PathBuf,
    },
    /// Lines of UCI, one per argument
    #[command(external_subcommand)]
    Lines(Vec<String>),
}

/// Why this word is no command.
fn unknown(word: &str) -> String {
    match word {
        "lab" => "'lab' is a program of its own: lancet-lab".to_owned(),
        "average" | "data" | "datagen" | "learn" | "train" | "wdl" => {
            format!("'{word}' is a command of lancet-train")
        }
        _ => format!(
            "'{word}' is neither a command of lancet's nor a line of UCI; \
             'lancet help' lists the commands"
        ),
    }
}

fn main() -> ExitCode {
    program::finish(run(program::read::<Cli>(Cli::command()).command))
}

fn run(command: Option<Command>) -> anyhow::Result<ExitCode> {
    match command {
        None | Some(Command::Uci) => Ok(uci::main(&[])),
        Some(Command::Bench(args)) => tools::bench::run(&args),
        Some(Command::Perft(args)) => tools::perft::command::run(&args),
        Some(Command::Epd(args)) => tools::epd::command::run(&args),
        Some(Command::Analyse(args)) => Ok(tools::analyse::command::run(&args)),
        Some(Command::Explain(args)) => Ok(tools::explain::command::run(&args)),
        Some(Command::Study(args)) => Ok(tools::study::command::run(&args)),
        Some(Command::Doctor(args)) => tools::doctor::command::run(&args),
        Some(Command::Generate { directory }) => Ok(program::generate(&directory, Cli::command())),
        Some(Command::Lines(lines)) if uci::is_line(&lines[0]) => Ok(uci::main(&lines)),
        Some(Command::Lines(lines)) => {
            program::end(&Cli::command().error(ErrorKind::InvalidSubcommand, unknown(&lines[0])))
        }
    }
}
