//! Command line of the trainer: each command is one function of the library.

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand};
use lancet::system::program;
use lancet_train::{average, command as train, data, datagen, learn, manual, wdl};

/// Self-play, training and networks for the chess engine Lancet
#[derive(Parser)]
#[command(version = lancet::VERSION, after_long_help = manual::LANCET_TRAIN)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play games against itself and write them as training data
    #[command(after_long_help = manual::DATAGEN)]
    Datagen(datagen::Args),
    /// Inspect and rearrange files of games
    #[command(after_long_help = manual::DATA)]
    Data(data::Args),
    /// Train a network on games
    #[command(after_long_help = manual::TRAIN)]
    Train(train::Args),
    /// Average networks that were trained from the same one
    #[command(after_long_help = manual::AVERAGE)]
    Average(average::Args),
    /// Learn from nothing: play, train and compare, generation after generation
    #[command(after_long_help = manual::LEARN)]
    Learn(learn::command::Args),
    /// Fit winning chances to the scores in games
    #[command(after_long_help = manual::WDL)]
    Wdl(wdl::Args),
    /// Write shell completions and manual pages below a directory, for packagers
    #[command(hide = true)]
    Generate {
        /// The directory; it is made if it is missing
        directory: PathBuf,
    },
}

fn main() -> ExitCode {
    program::finish(match program::read::<Cli>(Cli::command()).command {
        Command::Datagen(args) => datagen::run(&args),
        Command::Data(args) => data::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Average(args) => average::run(&args),
        Command::Learn(args) => learn::command::run(&args),
        Command::Wdl(args) => wdl::run(&args),
        Command::Generate { directory } => Ok(program::generate(&directory, Cli::command())),
    })
}
