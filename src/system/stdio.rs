//! Standard error, and standard output except that of the UCI loop.

use std::{
    io::{self, Write as _},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Set when the reader has closed standard output (`lancet bench | head`). Further output is then
/// dropped without an error.
static OUTPUT_GONE: AtomicBool = AtomicBool::new(false);

/// The name of the program, with which its error messages begin.
static PROGRAM: OnceLock<String> = OnceLock::new();

/// Sets the name of the program.
pub(super) fn call_program(name: &str) {
    PROGRAM.get_or_init(|| name.to_owned());
}

/// Replaces control characters, and characters that XML forbids, with U+FFFD. Text from outside
/// (names, file contents, paths) can then neither control a terminal nor break an XML file. Keeps
/// line feeds and tabs. Does not escape `&` and `<`.
pub fn plain(text: &str) -> String {
    let replaced = |c: char| match c {
        '\n' | '\t' => false,
        _ => c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'),
    };
    text.chars().map(|c| if replaced(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Writes a line to standard output, filtered by [`plain`]. If the line cannot be written, for
/// example on a full disk, the program ends with an error, because its results would be lost.
pub fn say(line: impl std::fmt::Display) {
    say_coloured(plain(&line.to_string()));
}

/// Writes a line with colours to standard output. The caller must filter text from outside with
/// [`plain`].
pub(crate) fn say_coloured(line: impl std::fmt::Display) {
    if !OUTPUT_GONE.load(Ordering::Relaxed) {
        check_output(writeln!(io::stdout(), "{line}"));
    }
}

/// Handles the result of writing to standard output. Ignores a closed pipe; any other error ends
/// the program.
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

/// Writes an error message to standard error, after the name of the program.
pub fn complain(line: impl std::fmt::Display) {
    let program = PROGRAM.get().map_or("lancet", String::as_str);
    note(format_args!("{program}: {line}"));
}

/// Writes a line to standard error: an error, or the progress of a long run.
pub fn note(line: impl std::fmt::Display) {
    // An error here cannot be reported.
    let _ = writeln!(io::stderr(), "{}", plain(&line.to_string()));
}

/// Returns a progress bar on standard error. It is hidden if standard error is not a terminal. A
/// bar without a length only counts up. The template is in the format of indicatif.
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
