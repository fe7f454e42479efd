//! Command line of the lab: all of it is in the library's `command`.

use std::process::ExitCode;

use clap::CommandFactory as _;
use lancet::system::program;
use lancet_lab::command::{self, Args};

fn main() -> ExitCode {
    command::run(&program::read::<Args>(Args::command()))
}
