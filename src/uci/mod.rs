//! The UCI front end. It translates between text and the engine's structs. A *dialogue* is one run
//! of its loop, from the first command to `quit` or the end of the input.
//!
//! Only this module imports vampirc-uci. [`command`] parses lines into its messages, the loop here
//! acts on them, and `format` and [`options`] build the messages to send. [`terminal`], `orders`,
//! `game`, `person` and `prompt` serve a person who types at a terminal.
//!
//! The calling thread reads commands. It waits for a search only in `wait`, after commands from the
//! command line, and at the end of the dialogue. One engine thread owns the [`Engine`] and does the
//! longer tasks in order. The calling thread creates new [`Signals`] when it reads a `go`, so that
//! a `stop` right after it is not lost.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashSet},
    io::{self, BufRead, ErrorKind, IsTerminal as _, Write},
    process::ExitCode,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use shakmaty::{CastlingMode, Color, Move};
pub use vampirc_uci::UciMessage;
use vampirc_uci::{UciFen, UciMove, UciSearchControl, UciTimeControl};

use crate::{
    chess::position::{Game, Position},
    engine::{Engine, Job, Settings, threads},
    eval::wdl::{self, Chances},
    play::{
        report::{Info, Note, Outcome, Reporter},
        signals::Signals,
    },
    system::{stdio::complain, sync::lock, version},
    tools::{explain, genfens::genfens},
};

pub mod command;
mod error;
mod extension;
mod format;
mod game;
mod input;
mod limits;
mod log;
mod moves;
pub mod options;
mod orders;
mod output;
mod person;
mod prompt;
pub mod setup;
mod show;
mod terminal;

use command::Command;
use error::CommandError;
use extension::Extension;
use game::PersonGame;
use input::LineSource;
use options::{Change, DialogueOptions, EngineContext, OptionError};
use output::Output;
use setup::Setup;

pub use input::MAX_LINE;
pub use terminal::{lines, names};

/// Work for the engine thread, which does it in order.
type Work<'a> = Box<dyn FnOnce(&mut EngineContext) + Send + 'a>;

/// State that both threads of a dialogue share, besides the output.
#[derive(Default)]
struct Shared {
    /// Number of tasks that are queued or running: searches, perft, benchmarks and so on.
    tasks: AtomicUsize,
    /// Set by `quit`. It ends an initialisation of the hash table for `isready` or `ucinewgame`.
    quitting: AtomicBool,
    /// Lancet's move in a game against a person, and the key of the position before it.
    answer: Mutex<Option<(u64, Move)>>,
}

/// Runs the lines of `commands`, then the UCI loop on standard input and output. With `prompt`, and
/// if standard input and output are terminals, the output is for people until the command `uci`.
/// Returns status 1 if the engine could not start or the output could not be written.
pub fn main(commands: &[String], prompt: bool) -> ExitCode {
    let person = prompt && io::stdin().is_terminal() && io::stdout().is_terminal();
    let failed;
    if person && let Ok((mut prompt, queue, printer)) = prompt::open() {
        let output = Output::new(queue, true);
        if commands.is_empty() {
            output.line(person::GREETING);
            let board = show::board_and_state(&Game::default(), Color::White);
            board.iter().for_each(|line| output.line(line));
        }
        dialogue(commands, &mut prompt, &output);
        failed = output.is_closed();
        // Once the prompt and the output are dropped, the printer empties its queue and ends.
        drop((prompt, output));
        let _ = printer.join();
    } else {
        let output = Output::new(UntilClosed(io::stdout()), person);
        dialogue(commands, &mut io::stdin().lock(), &output);
        failed = output.is_closed();
    }
    ExitCode::from(u8::from(failed))
}

/// Returns whether this text contains a command, or is a move, a FEN or an order. Orders with wrong
/// arguments count.
pub fn is_line(text: &str) -> bool {
    text.split_whitespace().any(command::is_command)
        || match terminal::parse(text, &Position::default()) {
            Ok(None) => false,
            // A path contains slashes, too.
            Ok(Some(terminal::Order::Fen(fen))) => Position::from_fen(&fen).is_ok(),
            Ok(Some(_)) | Err(_) => true,
        }
}

/// Reads commands from `input` and answers on `output`, until `quit`, the end of the input, or a
/// closed output.
pub fn run(mut input: impl BufRead, output: impl Write + Send) {
    dialogue(&[], &mut input, &Output::new(output, false));
}

/// Runs `commands`, then those of `input`. After each of `commands`, waits until all its work is
/// done, unless a search needs another command to end.
fn dialogue<W: Write + Send>(commands: &[String], input: &mut impl LineSource, output: &Output<W>) {
    let shared = Shared::default();
    let (work, queue) = mpsc::channel();
    std::thread::scope(|scope| {
        if let Err(error) = threads::spawn(scope, "engine", move || serve(queue, output)) {
            output.say(&format!("cannot start the engine thread: {error}"));
            return output.close();
        }
        let mut dialogue = Dialogue {
            output,
            shared: &shared,
            work,
            setup: Setup::default(),
            current: None,
            refused: None,
            unknown: HashSet::new(),
            person: PersonGame::default(),
        };
        dialogue.read(commands, input);
        // Dropping the dialogue closes the queue, which ends the engine thread.
    });
}

/// A writer that ends the program when writing fails, for example because the output is closed.
/// Ending only the dialogue would not be enough, because the reading thread may be waiting for
/// input that never comes.
struct UntilClosed<W>(W);

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).inspect_err(end_unless_interrupted)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().inspect_err(end_unless_interrupted)
    }
}

fn end_unless_interrupted(error: &io::Error) {
    match error.kind() {
        ErrorKind::Interrupted => {}
        ErrorKind::BrokenPipe => std::process::exit(0),
        _ => {
            complain(format_args!("cannot write to standard output: {error}"));
            std::process::exit(1)
        }
    }
}

/// Prints the reports of a search.
struct Printer<'a, W> {
    output: &'a Output<W>,
    game: &'a Game,
    mode: CastlingMode,
    /// Counts the search as running. It is dropped before `bestmove` is printed. A `setoption` and
    /// an `isready` that follow `bestmove` are then both queued, so `readyok` comes after the
    /// change.
    guard: Mutex<Option<TaskGuard<'a>>>,
    seen: person::Seen,
    /// With Minimal, the latest line of each MultiPV rank. `None` if all lines are printed.
    kept: Mutex<Option<BTreeMap<usize, Info>>>,
}

impl<'a, W: Write + Send> Printer<'a, W> {
    fn new(
        output: &'a Output<W>,
        game: &'a Game,
        mode: CastlingMode,
        guard: Option<TaskGuard<'a>>,
    ) -> Self {
        let (guard, kept) = (Mutex::new(guard), Mutex::default());
        Printer { output, game, mode, guard, seen: Default::default(), kept }
    }

    fn options(&self) -> &DialogueOptions {
        &self.output.options
    }

    fn root(&self) -> &Position {
        self.game.position()
    }

    fn is_minimal(&self) -> bool {
        self.options().minimal.load(Ordering::Relaxed)
    }

    fn print(&self, info: &Info) {
        let shown = self.options().show_wdl.load(Ordering::Relaxed);
        let estimate = || wdl::chances(info.score, self.root());
        let chances = shown.then(|| if info.drawn { Chances::DRAWN } else { estimate() });
        if !self.output.is_for_a_person() {
            self.output.send(&format::info(info, self.mode, chances));
        } else if self.seen.is_news(info) {
            self.output.line(&person::info(info, self.root(), chances, person::width()));
        }
    }

    /// Prints the lines that Minimal has held back, at the end of the search.
    fn finish(&self) {
        let kept = lock(&self.kept).take().unwrap_or_default();
        kept.values().for_each(|info| self.print(info));
    }
}

impl<W: Write + Send> Reporter for Printer<'_, W> {
    fn info(&self, info: &Info) {
        let mut kept = lock(&self.kept);
        // The lines of one MultiPV group are either all printed or all held back.
        if info.multipv == 1 {
            if self.is_minimal() {
                // MultiPV may have been reduced meanwhile.
                let lines = self.options().live.multi_pv.load(Ordering::Relaxed);
                kept.get_or_insert_default().retain(|&rank, _| rank <= lines);
            } else {
                *kept = None;
            }
        }
        match &mut *kept {
            Some(lines) => drop(lines.insert(info.multipv, info.clone())),
            None => self.print(info),
        }
    }

    fn current_move(&self, depth: u32, m: Move, number: usize) {
        if !self.output.is_for_a_person() && !self.is_minimal() {
            self.output.send(&format::current_move(depth, m, number, self.mode));
        }
    }

    fn current_lines(&self, lines: &[Vec<Move>]) {
        if self.output.is_for_a_person() {
            let lines = lines.iter().filter(|line| !line.is_empty());
            lines.for_each(|line| self.output.line(&person::line("current", self.root(), line)));
        } else if !self.is_minimal() {
            let messages = format::current_lines(lines, self.mode);
            messages.for_each(|message| self.output.send(&message));
        }
    }

    fn refutation(&self, line: &[Move]) {
        if self.output.is_for_a_person() {
            self.output.line(&person::line("refuted", self.root(), line));
        } else if !self.is_minimal() {
            self.output.send(&format::refutation(line, self.mode));
        }
    }

    fn note(&self, note: &Note) {
        let detail = matches!(note, Note::Plan { .. } | Note::Decision { .. });
        if !detail || self.options().debug.load(Ordering::Relaxed) {
            self.output.say(&format::note(note));
        }
    }

    fn decided(&self, outcome: &Outcome) {
        self.finish();
        if self.options().explain.load(Ordering::Relaxed)
            && let Some(sentence) = explain::sentence(self.game, &outcome.info)
        {
            self.output.say(&sentence);
        }
        drop(lock(&self.guard).take());
        self.output.line(&if self.output.is_for_a_person() {
            person::best_move(outcome, self.root(), self.mode)
        } else {
            format::best_move(outcome, self.mode)
        });
    }
}

/// Counts a task as queued or running until it is dropped, even if the task panics.
struct TaskGuard<'a>(&'a AtomicUsize);

impl<'a> TaskGuard<'a> {
    fn new(tasks: &'a AtomicUsize) -> TaskGuard<'a> {
        tasks.fetch_add(1, Ordering::Release);
        TaskGuard(tasks)
    }
}

impl Drop for TaskGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Runs the engine thread, which does the queued work. The engine is created here, so that `uci`
/// does not wait for the allocation of its memory.
fn serve<W: Write + Send>(queue: mpsc::Receiver<Work<'_>>, output: &Output<W>) {
    let say = |text: &str| output.say(text);
    match Engine::with_live(Settings::default(), Arc::clone(&output.options.live)) {
        Ok(engine) => {
            let mut context = EngineContext { engine, hash_file: None, say: &say };
            queue.into_iter().for_each(|work| work(&mut context));
        }
        Err(error) => {
            say(&error.to_string());
            output.close();
        }
    }
}

/// Answer to commands that are refused while Lancet thinks about its move against a person.
const THINKING: &str = "Lancet is thinking; 'stop' makes it play at once";

/// Time after which the initialisation of the hash table is reported.
const SILENCE: Duration = Duration::from_secs(1);

/// Initialises the hash table, and says so if it takes long. Stops early when `wanted` returns
/// false.
fn prepare(context: &mut EngineContext, wanted: impl Fn() -> bool + Sync) {
    let (engine, say) = (&mut context.engine, context.say);
    let (start, mib) = (Instant::now(), engine.settings().hash);
    let said = AtomicBool::new(false);
    let go_on = || {
        if start.elapsed() >= SILENCE && !said.swap(true, Ordering::Relaxed) {
            say(&format!("initialising a hash table of {mib} MiB; please wait"));
        }
        wanted()
    };
    if let Err(error) = engine.prepare(&go_on) {
        say(&error.to_string());
    }
}

/// The kind of a task for the engine thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// A search with limits but no clock, or another task that ends by itself, such as perft or
    /// bench. It is finished even after the end of the input.
    Bounded,
    /// A search on a clock, for a hint, or after `ponderhit`. It ends by itself. At the end of the
    /// input it is stopped, because the GUI is gone.
    Search,
    /// A search with `infinite` or without limits. It runs until `stop`. Without `infinite`, it
    /// also ends at the maximum depth, and in positions without legal moves or mating material.
    OpenEndedSearch,
    /// A search that ends by itself after `ponderhit`.
    Pondering,
    /// A search for Lancet's move against a person.
    Answer,
}

impl Task {
    /// Returns a remark if the search needs another command to end.
    const fn needs(self) -> Option<&'static str> {
        match self {
            Task::OpenEndedSearch => Some("this search runs until 'stop'"),
            Task::Pondering => Some("this search runs until 'ponderhit' or 'stop'"),
            Task::Bounded | Task::Search | Task::Answer => None,
        }
    }
}

/// The last task given to the engine thread.
struct Current {
    task: Task,
    signals: Arc<Signals>,
}

/// The reading side of a dialogue.
struct Dialogue<'a, W> {
    output: &'a Output<W>,
    shared: &'a Shared,
    /// Ends the engine thread when it is dropped.
    work: mpsc::Sender<Work<'a>>,
    setup: Setup,
    current: Option<Current>,
    /// The error in a program's last position, if that was refused. The board then differs from the
    /// one that the program assumes.
    refused: Option<String>,
    /// Unknown options that a program has set, in lower case. Each is reported once.
    unknown: HashSet<String>,
    person: PersonGame,
}

impl<'a, W: Write + Send> Dialogue<'a, W> {
    /// Carries out `commands`, then the lines of `input`.
    fn read(&mut self, commands: &[String], input: &mut impl LineSource) {
        for command in commands {
            if !self.line(command.as_bytes()) {
                return;
            }
            let _ = self.settle();
        }
        let mut line = Vec::new();
        while !self.output.is_closed() {
            if !self.output.is_for_a_person() {
                input.switch_to_protocol();
            }
            if !input.next(&mut line) || !self.line(&line) {
                break;
            }
        }
        // Searches with limits but without clock or `ponder`, and tasks such as perft, are
        // finished, so that `echo "perft 5" | lancet` works.
        if self.output.is_closed() || self.task() != Some(Task::Bounded) {
            self.stop();
        }
    }

    /// Waits until all queued work is done.
    ///
    /// # Errors
    ///
    /// If a search needs another command to end. The function then returns at once.
    fn settle(&self) -> Result<(), &'static str> {
        if let Some(remark) = self.task().and_then(Task::needs)
            && self.is_busy()
            && !self.is_stopped()
        {
            return Err(remark);
        }
        let (reached, wait) = mpsc::channel::<()>();
        self.queue(move |_| drop(reached));
        let _ = wait.recv();
        Ok(())
    }

    /// Carries out one line, unless it is longer than [`MAX_LINE`]. Returns false if the program
    /// should end.
    fn line(&mut self, line: &[u8]) -> bool {
        self.output.log_input(line);
        if line.len() > MAX_LINE {
            let said = format!("ignored a line of more than {MAX_LINE} bytes");
            if command::is_position(&String::from_utf8_lossy(line)) {
                self.refuse(&said);
            }
            self.output.say(&said);
            return true;
        }
        if self.output.is_for_a_person()
            && let Some(goes_on) = self.order(line)
        {
            return goes_on;
        }
        match command::parse(line) {
            Ok(Some(Command::Message(UciMessage::Quit, _))) => {
                self.shared.quitting.store(true, Ordering::Relaxed);
                self.stop();
                return false;
            }
            Ok(Some(command)) => self.carry_out(command),
            Ok(None) => {}
            Err(error) => {
                if error.is_of_position() {
                    self.refuse(&error);
                }
                self.output.say(&error.to_string());
            }
        }
        true
    }

    /// Records that a program's position was refused, and why. Searches are then refused until the
    /// next valid position. A person sees that the old position is kept, and can search it.
    fn refuse(&mut self, reason: &impl ToString) {
        self.refused = (!self.output.is_for_a_person()).then(|| reason.to_string());
    }

    fn carry_out(&mut self, command: Command) {
        let disturbs = matches!(
            command,
            Command::Perft(_)
                | Command::Bench(_)
                | Command::GenFens { .. }
                | Command::SpeedTest(_)
                | Command::Mirror
        );
        if disturbs && self.awaits_answer() {
            return self.output.say(THINKING);
        }
        let (position, output) = (self.setup.game().position(), self.output);
        match command {
            Command::Message(message, extension) => self.carry_out_message(message, extension),
            Command::Perft(depth) => {
                let (position, mode) = (position.clone(), self.mode());
                self.count(move |_, signals, line| {
                    show::perft(&position, depth, mode, signals, line);
                });
            }
            Command::Bench(numbers) => self.count(move |engine, signals, line| {
                if let Err(error) = show::bench(numbers, engine, signals, line) {
                    output.say(&error.to_string());
                }
            }),
            Command::GenFens { count, seed, book } => self.count(move |_, signals, line| {
                let say = |text: &str| line(&format::string(&format!("genfens{text}")));
                let mut found = |fen: &str| say(&format!(" {fen}"));
                if let Err(error) = genfens(count, seed, book.as_deref(), signals, &mut found) {
                    say(&format!(": {error:#}"));
                }
            }),
            Command::SpeedTest(numbers) => self.count(move |_, signals, line| {
                if let Err(error) = show::speed_test(numbers, signals, line) {
                    output.say(&error.to_string());
                }
            }),
            Command::Display => {
                let (below, colours) = (self.person.below(), self.output.is_for_a_person());
                self.lines(&show::display(self.setup.game(), below, colours));
            }
            Command::Eval => {
                let position = position.clone();
                self.queue(move |context| {
                    let network = context.engine.network().map(AsRef::as_ref);
                    show::evaluation(&position, network).iter().for_each(|text| output.line(text));
                });
            }
            Command::Fen => self.output.line(&position.fen()),
            Command::Mirror => match show::mirror(position) {
                Some(game) => {
                    (self.setup, self.refused) = (Setup::from(game), None);
                    self.person.forget();
                }
                None => self.output.say("the mirrored position is not legal"),
            },
            Command::Wait => {
                if let Err(remark) = self.settle() {
                    self.output.say(&format!("not waiting: {remark}"));
                }
            }
            Command::Compiler => self.lines(&show::compiler()),
            Command::Help(name) => self.lines(&show::help(name)),
            #[cfg(feature = "tune")]
            Command::Spsa => self.lines(&show::spsa()),
        }
    }

    fn carry_out_message(&mut self, message: UciMessage, extension: Extension) {
        match message {
            // The answer is text for a person. It must not follow `uciok`, and after another
            // position it would fit no board.
            UciMessage::Uci | UciMessage::Position { .. } if self.awaits_answer() => {
                self.output.say(THINKING);
            }
            UciMessage::Uci => self.identify(),
            UciMessage::Debug(on) => self.output.options.debug.store(on, Ordering::Relaxed),
            // During a search, `readyok` is sent at once. But after `stop` it must follow the best
            // move, because Scid takes a later `bestmove` as the answer to its next `go`.
            UciMessage::IsReady if self.is_busy() && !self.is_stopped() => {
                self.output.send(&UciMessage::ReadyOk);
            }
            UciMessage::IsReady => {
                let (output, shared) = (self.output, self.shared);
                self.queue(move |context| {
                    prepare(context, || !shared.quitting.load(Ordering::Relaxed));
                    output.send(&UciMessage::ReadyOk);
                });
            }
            UciMessage::SetOption { name, value } => {
                self.set_option(&name, value.as_deref());
            }
            UciMessage::UciNewGame => {
                let Shared { tasks, quitting, .. } = self.shared;
                self.queue(move |context| {
                    context.engine.new_game();
                    // If Hash has changed, the table is prepared later, as more options may follow.
                    if context.engine.has_wanted_size() {
                        // A search that is already queued prepares the table as part of its time.
                        prepare(context, || {
                            !quitting.load(Ordering::Relaxed) && tasks.load(Ordering::Acquire) == 0
                        });
                    }
                });
            }
            UciMessage::Position { fen, moves, .. } => {
                self.set_up(fen, moves, &extension.moves);
            }
            UciMessage::Go { time_control, search_control } => {
                self.go(time_control.as_ref(), &search_control.unwrap_or_default(), &extension);
            }
            UciMessage::Stop => self.stop(),
            UciMessage::PonderHit => {
                if let Some(current) = &mut self.current {
                    current.signals.ponder_hit();
                    if current.task == Task::Pondering {
                        current.task = Task::Search;
                    }
                }
            }
            // `register` is ignored, `quit` has ended the loop, and engines get no other messages.
            _ => {}
        }
    }

    /// Sets up the board. Returns false if the position was refused.
    fn set_up(&mut self, fen: Option<UciFen>, moves: Vec<UciMove>, beside: &[String]) -> bool {
        let mode = self.wanted_mode();
        match self.setup.apply(fen, moves, beside, mode) {
            Ok(remarks) => {
                self.refused = None;
                self.person.forget();
                remarks.iter().for_each(|remark| self.output.say(remark));
                self.debug(|| self.setup.game().position().fen());
                true
            }
            Err(error) => {
                self.refuse(&error);
                self.output.say(&if self.output.is_for_a_person() {
                    format!("{error}; the old position is kept")
                } else {
                    format!("{error}; 'go' answers 'bestmove 0000' until the next valid position")
                });
                false
            }
        }
    }

    fn lines(&self, lines: &[String]) {
        lines.iter().for_each(|line| self.output.line(line));
    }

    /// With `debug on`, prints a text.
    fn debug(&self, text: impl FnOnce() -> String) {
        if self.output.options.debug.load(Ordering::Relaxed) {
            self.output.say(&text());
        }
    }

    fn identify(&self) {
        self.output.switch_to_protocol();
        let name = concat!("Lancet ", env!("CARGO_PKG_VERSION"));
        self.output.send(&UciMessage::id_name(name));
        self.output.send(&UciMessage::id_author("the Lancet developers"));
        self.output.say(&format!("Lancet {}", version::VERSION));
        options::announce().iter().for_each(|option| self.output.send(option));
        self.output.send(&UciMessage::UciOk);
    }

    /// Sets an option. If its name or value is wrong, prints the error and returns false. A change
    /// on the engine thread prints its own error later.
    fn set_option(&mut self, name: &str, value: Option<&str>) -> bool {
        match options::change(name, value) {
            Err(error) => {
                let is_new = !matches!(error, OptionError::Unknown { .. })
                    || self.unknown.insert(name.to_ascii_lowercase());
                if is_new || self.output.is_for_a_person() {
                    self.output.say(&error.to_string());
                }
                return false;
            }
            Ok(Change::Dialogue(change)) => change(&self.output.options),
            Ok(Change::Log(path)) => self.output.log_to(path.as_deref()),
            Ok(Change::Engine(change)) => self.queue(move |context| {
                if let Err(error) = change(context) {
                    (context.say)(&format!("{error:#}"));
                }
            }),
        }
        // The new strength may not be that of the person's last `level`.
        if ["uci_limitstrength", "uci_elo", "skill level"].contains(&&*name.to_ascii_lowercase()) {
            self.person.level = None;
        }
        self.debug(|| format!("option {name} = {}", value.unwrap_or_default()));
        true
    }

    /// Returns the castling mode for a new position. Without UCI_Chess960, programs get standard
    /// chess, and for a person the FEN decides (`None`).
    fn wanted_mode(&self) -> Option<CastlingMode> {
        if self.output.options.chess960.load(Ordering::Relaxed) {
            Some(CastlingMode::Chess960)
        } else {
            (!self.output.is_for_a_person()).then_some(CastlingMode::Standard)
        }
    }

    /// Returns the mode of castling notation for output.
    fn mode(&self) -> CastlingMode {
        match self.wanted_mode() {
            Some(CastlingMode::Chess960) => CastlingMode::Chess960,
            // A Chess960 position needs Chess960 notation.
            _ => self.setup.game().position().mode(),
        }
    }

    fn is_busy(&self) -> bool {
        self.shared.tasks.load(Ordering::Acquire) > 0
    }

    /// Returns whether Lancet is thinking about its move against a person.
    fn is_answering(&self) -> bool {
        self.is_busy() && self.task() == Some(Task::Answer)
    }

    fn task(&self) -> Option<Task> {
        self.current.as_ref().map(|current| current.task)
    }

    /// Returns whether the last task has been stopped.
    fn is_stopped(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.signals.is_stopped())
    }

    /// Queues work for the engine thread. If that thread has ended because the engine could not be
    /// created, the dialogue ends.
    fn queue(&self, work: impl FnOnce(&mut EngineContext) + Send + 'a) {
        if self.work.send(Box::new(work)).is_err() {
            self.output.close();
        }
    }

    fn stop(&self) {
        if let Some(current) = &self.current {
            current.signals.stop();
        }
    }

    /// Stops the current task and queues another one with these signals.
    fn start(
        &mut self,
        task: Task,
        signals: Signals,
        work: impl FnOnce(&mut Engine, Arc<Signals>, TaskGuard<'a>) + Send + 'a,
    ) {
        self.stop();
        let signals = Arc::new(signals);
        self.current = Some(Current { task, signals: Arc::clone(&signals) });
        let guard = TaskGuard::new(&self.shared.tasks);
        self.queue(move |context| work(&mut context.engine, signals, guard));
    }

    /// Queues a task that writes lines, such as perft. The task no longer counts as running when
    /// its last line is written. Therefore an `isready` that follows this line is queued, and not
    /// answered at once.
    fn count(&mut self, run: impl FnOnce(&Engine, &Arc<Signals>, &dyn Fn(&str)) + Send + 'a) {
        let output = self.output;
        self.start(Task::Bounded, Signals::default(), move |engine, signals, guard| {
            let last = RefCell::new(None);
            run(engine, &signals, &|text| {
                if let Some(line) = last.replace(Some(text.to_owned())) {
                    output.line(&line);
                }
            });
            drop(guard);
            if let Some(line) = last.into_inner() {
                output.line(&line);
            }
        });
    }

    fn go(
        &mut self,
        control: Option<&UciTimeControl>,
        search: &UciSearchControl,
        extension: &Extension,
    ) {
        if self.awaits_answer() {
            return self.output.say(THINKING);
        }
        let is_skipped = |error: &&CommandError| error.nearest().is_none();
        if self.output.is_for_a_person()
            && let Some(error) = extension.complaints.iter().find(is_skipped)
        {
            // A program must get a `bestmove`, but a person can correct the command.
            return self.output.say(&error.to_string());
        }
        for error in &extension.complaints {
            self.output.say(&match error.nearest() {
                Some(nearest) => format!("{error}; using {nearest}"),
                None => format!("{error}; skipped"),
            });
        }
        let game = self.setup.game().clone();
        let is_refused = self.refused.is_some();
        let say = |text: &str| {
            if !is_refused {
                self.output.say(text);
            }
        };
        let mut limits = limits::limits(control, search, extension, game.position(), &say);
        limits.analyse = self.output.options.analyse.load(Ordering::Relaxed);
        let task = if limits.infinite || !limits.is_limited() {
            Task::OpenEndedSearch
        } else if limits.ponder {
            Task::Pondering
        } else if limits.clock.is_some() {
            Task::Search
        } else {
            Task::Bounded
        };
        if !extension.complaints.is_empty()
            && let Some(remark) = task.needs()
        {
            self.output.say(remark);
        }
        if let Some(reason) = &self.refused {
            let output = self.output;
            output.say(&format!("no search, because the position was refused: {reason}"));
            return self.start(task, Signals::new(limits.ponder), move |_, signals, guard| {
                signals.wait(task == Task::OpenEndedSearch);
                drop(guard);
                output.line("bestmove 0000");
            });
        }
        self.debug(|| {
            format!("go in {} with {}", game.position().fen(), limits::describe(&limits))
        });
        let (output, mode) = (self.output, self.mode());
        self.start(task, Signals::new(limits.ponder), move |engine, signals, guard| {
            if output.is_for_a_person() {
                output.line(person::HEADER);
            }
            let job = Job { game, limits, signals };
            engine.go(&job, &Printer::new(output, &job.game, mode, Some(guard)));
        });
    }
}

#[cfg(test)]
mod tests;
