//! Command line: each subcommand is one function elsewhere. No chess here.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lancet::{lab, tools, train, uci};

/// A UCI chess engine. Without a command it speaks UCI on standard input and
/// output; other words are carried out as UCI commands first, one per
/// argument: lancet "position startpos" "go depth 10" quit
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Speak UCI on standard input and output (the default)
    Uci,
    /// Search a fixed set of positions, and count nodes and time
    Bench(tools::bench::Args),
    /// Play games against itself and write them as training data
    Datagen(train::datagen::Args),
    /// Count legal move paths, to test and time move generation
    Perft(tools::perft::Args),
    /// Run EPD test suites and grade the answers
    Epd(tools::epd::Args),
    /// Look into files of games and rearrange them
    Data(train::data::Args),
    /// Train a network on games
    Train(train::command::Args),
    /// Fit winning chances to the scores of games
    Wdl(tools::wdl::Args),
    /// Compare the algorithms of alpha-beta's family
    Lab(lab::command::Args),
    /// Each argument is a line of UCI
    #[command(external_subcommand)]
    Lines(Vec<String>),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        None | Some(Command::Uci) => uci::main(&[]),
        Some(Command::Bench(args)) => tools::bench::run(&args),
        Some(Command::Datagen(args)) => train::datagen::run(&args),
        Some(Command::Perft(args)) => tools::perft::run(&args),
        Some(Command::Epd(args)) => tools::epd::run(&args),
        Some(Command::Data(args)) => train::data::run(&args),
        Some(Command::Train(args)) => train::command::run(&args),
        Some(Command::Wdl(args)) => tools::wdl::run(&args),
        Some(Command::Lab(args)) => lab::command::run(&args),
        Some(Command::Lines(lines)) => uci::main(&lines),
    }
}
