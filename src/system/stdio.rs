//! Lines for the terminal from commands other than the UCI loop. Nothing here
//! knows what they say.

use std::{
    io::{self, Write as _},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Set when standard output has gone away (`lancet bench | head`): the rest
/// is not written, and that is no error.
static OUTPUT_GONE: AtomicBool = AtomicBool::new(false);

/// The program's name, which its complaints begin with.
static PROGRAM: OnceLock<String> = OnceLock::new();

/// Says what the program is called.
pub(super) fn call_program(name: &str) {
    PROGRAM.get_or_init(|| name.to_owned());
}

/// Text from elsewhere (names, words of files, paths) as a terminal or a picture may have it:
/// characters that control a terminal, or that XML does not allow, are replaced. Line ends
/// and tabs stay.
pub fn plain(text: &str) -> String {
    let replaced = |c: char| match c {
        '\n' | '\t' => false,
        _ => c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'),
    };
    text.chars().map(|c| if replaced(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Writes a line to standard output, as [`plain`] has it. Where that is a file that cannot
/// take it (the disk is full), the program ends: its results would be lost.
pub fn say(line: impl std::fmt::Display) {
    say_coloured(plain(&line.to_string()));
}

/// The same for a line with colours of our own. What is in it from elsewhere must be
/// [`plain`].
pub(crate) fn say_coloured(line: impl std::fmt::Display) {
    if !OUTPUT_GONE.load(Ordering::Relaxed) {
        check_output(writeln!(io::stdout(), "{line}"));
    }
}

/// Does the same for what was written to standard output by other means.
pub(super) fn check_output(written: io::Result<()>) {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            OUTPUT_GONE.store(true, Ordering::Relaxed);
        }
        Err(error) => {
            complain(format_args!("cannot write to standard output: {error}"));
            std::process::exit(1);
        }
        Ok(()) => {}
    }
}

/// Writes a line to standard error, where complaints belong.
pub fn complain(line: impl std::fmt::Display) {
    let program = PROGRAM.get().map_or("lancet", String::as_str);
    note(format_args!("{program}: {line}"));
}

/// Writes a line about a long run's progress to standard error.
pub fn note(line: impl std::fmt::Display) {
    // Nobody is left to be told when this fails.
    let _ = writeln!(io::stderr(), "{}", plain(&line.to_string()));
}

/// A progress bar on standard error, which is invisible where that is no terminal; without
/// an end if no length is given. The template is in the form that indicatif reads.
pub fn progress_bar(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_controls_a_terminal() {
        let named = "\u{1b}]0;title\u{7}G\u{f6}ran\u{9b}31m\r\u{7f}\u{ffff}\n\t\u{1f984}";
        let plain = plain(named);
        assert_eq!(
            plain,
            "\u{fffd}]0;title\u{fffd}G\u{f6}ran\u{fffd}31m\u{fffd}\u{fffd}\u{fffd}\n\t\u{1f984}"
        );
        assert_eq!(super::plain(&plain), plain);
    }
}
