//! The command `lancet analyse`: files, progress, and what it says on the way.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek as _, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail, ensure};
use comfy_table::{Cell, CellAlignment, Table, presets::ASCII_MARKDOWN};
use indicatif::ProgressBar;
use shakmaty::{Color, Move};

use super::{
    annotate::{self, Findings},
    chart::Chart,
    evaluate::{self, Evaluation},
    join,
    judge::Tally,
    openings::{Opening, Openings},
    progress::{self, Done, Progress, Task},
};
use crate::{
    chess::{
        notation,
        pgn::{self, Game, read::Games},
        position::{self, Position},
    },
    engine::Engine,
    play::report::Limits,
    system::{
        files,
        input::{self, Input, STANDARD_INPUT},
        journal, stdio,
    },
    tools::{
        self, complain,
        interrupt::Interrupt,
        options::{Effort, Shard, Workers},
        say,
    },
};

/// Annotate games: evaluations, errors, better lines, openings, accuracy
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Files of games in PGN, also compressed (.gz, .zst); `-` is standard input
    #[arg(required = true, value_name = "GAMES.pgn")]
    files: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "ANNOTATED.pgn")]
    out: PathBuf,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    workers: Workers,
    /// Carry on where an earlier run with the same settings stopped
    #[arg(long)]
    resume: bool,
    /// Replace what is in the file to write
    #[arg(long, conflicts_with = "resume")]
    force: bool,
    /// Analyse every N-th game, from the K-th on, to share them between machines
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Put together what the shards wrote: the files are theirs, in order
    #[arg(long, conflicts_with_all = ["resume", "shard", "svg"])]
    join: bool,
    /// Draw the evaluation of each game, as pictures in this directory
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Hash table size for each job, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = tools::hash_size)]
    hash: usize,
    /// Do not let invalid games change the exit status
    #[arg(long)]
    lenient: bool,
}

/// Letters of a player's name in the names of files.
const LONGEST_NAME: usize = 30;
/// Time for a position where nothing else ends a search.
const DEFAULT_MOVETIME: Duration = Duration::from_millis(500);

impl Args {
    fn part(&self) -> Shard {
        self.shard.unwrap_or(Shard::WHOLE)
    }

    fn limits(&self) -> Limits {
        self.effort.limits(DEFAULT_MOVETIME)
    }

    /// What ends a search, in words.
    fn limits_text(&self) -> String {
        let limits = self.limits();
        let time = limits.movetime.map(|time| format!("{} ms", time.as_millis()));
        let nodes = limits.nodes.map(|nodes| format!("{nodes} nodes"));
        let depth = limits.depth.map(|depth| format!("depth {depth}"));
        let parts: Vec<String> = [time, nodes, depth].into_iter().flatten().collect();
        format!("{} a position", parts.join(", "))
    }

    /// The tag of that name in what is written.
    fn annotator(&self) -> String {
        format!("Lancet {}, {}", env!("CARGO_PKG_VERSION"), self.limits_text())
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Done,
    Interrupted,
}

/// `lancet analyse`. The exit status is described in its help.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.out == Path::new(STANDARD_INPUT) {
        let error = anyhow!("--out: games are written to a file, not to standard output");
        return Ok(tools::unusable(&error));
    }
    if args.join {
        let games = join::join(&args.files, &args.out, args.force)?;
        say(format_args!("{} joined", notation::counted(games, "game")));
        return Ok(ExitCode::SUCCESS);
    }
    if args.resume && is_finished(&args.out) {
        check_finished(args)?;
        say(format_args!("{}: finished already", args.out.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = Interrupt::by_ctrl_c("Ctrl-C will lose the game being analysed");
    let mut run = Analysis::open(args)?;
    let end = run.all(&interrupt)?;
    run.finish(end)?;
    if end == End::Interrupted {
        return Ok(ExitCode::from(130));
    }
    if !run.read {
        let files: Vec<_> = args.files.iter().map(|path| path.display().to_string()).collect();
        bail!("{}: no games", files.join(", "));
    }
    let broken = run.progress.done.broken > 0 && !args.lenient;
    Ok(if broken { ExitCode::from(2) } else { ExitCode::SUCCESS })
}

/// Everything that a run needs.
struct Analysis<'a> {
    args: &'a Args,
    limits: Limits,
    engines: Vec<Engine>,
    openings: Openings,
    out: File,
    /// There was no such file before.
    created: bool,
    progress_path: PathBuf,
    progress: Progress,
    /// There was a game. Until then an older output stays as it is.
    read: bool,
    bar: ProgressBar,
}

impl<'a> Analysis<'a> {
    /// Opens the files.
    fn open(args: &'a Args) -> anyhow::Result<Analysis<'a>> {
        let size = |path: &PathBuf| {
            let size = input::size(path).with_context(|| path.display().to_string())?;
            ensure!(size != Some(0), "{}: no games", path.display());
            anyhow::Ok((path.clone(), size.unwrap_or(0)))
        };
        let task = Task {
            lancet: env!("CARGO_PKG_VERSION").to_owned(),
            limits: args.limits_text(),
            engine: format!("{} MiB, threads {}", args.hash, args.workers.threads),
            shard: args.part().to_string(),
            files: args.files.iter().map(size).collect::<anyhow::Result<_>>()?,
        };
        let progress_path = progress::path(&args.out);
        // First whatever may fail: then there is nothing to be continued.
        let engines = tools::engines(args.workers.jobs, args.hash, args.workers.threads)?;
        if let Some(dir) = &args.svg {
            fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        let resumed = args.resume && progress_path.exists();
        let created = !args.out.exists();
        let out = output(args, &progress_path)?;
        files::claim_data(&out, "another analysis is writing this file")
            .with_context(|| args.out.display().to_string())?;
        let progress =
            if resumed { Progress::load(&progress_path, &task)? } else { Progress::new(task) };
        let length = out.metadata().with_context(|| args.out.display().to_string())?.len();
        ensure!(
            length >= progress.done.bytes,
            "{}: shorter than the unfinished analysis left it",
            args.out.display()
        );
        let mut run = Analysis {
            args,
            limits: args.limits(),
            engines,
            openings: Openings::default(),
            out,
            created,
            progress_path,
            read: progress.done.file > 0 || progress.done.games > 0,
            bar: progress_bar(&progress.task.files),
            progress,
        };
        if run.read {
            run.begin()?;
        }
        Ok(run)
    }

    /// There is a game: cuts the output to what the progress says.
    fn begin(&mut self) -> anyhow::Result<()> {
        let cut = self.out.set_len(self.progress.done.bytes);
        cut.and_then(|()| self.out.seek(SeekFrom::End(0)))
            .with_context(|| self.args.out.display().to_string())?;
        self.progress.begin(&self.progress_path)
    }

    /// Analyses all games that are left, as far as they are in this shard.
    fn all(&mut self, interrupt: &Interrupt) -> anyhow::Result<End> {
        for file in self.progress.done.file..self.args.files.len() {
            let path = &self.args.files[file];
            let name = || path.display().to_string();
            let input = Input::open(path).with_context(name)?;
            let taken = input.taken();
            let mut games = Games::new(input);
            let before: u64 = self.progress.task.files[..file].iter().map(|(_, n)| n).sum();
            let done = if file == self.progress.done.file { self.progress.done.games } else { 0 };
            (self.progress.done.file, self.progress.done.games) = (file, done);
            let mut number = 0;
            loop {
                // Games of others are passed over, and those that are broken.
                if interrupt.is_raised() {
                    return Ok(End::Interrupted);
                }
                let begin = before + taken.get();
                let Some(game) = games.next_game().with_context(name)? else { break };
                let warning = games.warning();
                number += 1;
                if !std::mem::replace(&mut self.read, true) {
                    self.begin()?;
                }
                if number <= done {
                    continue;
                }
                self.progress.done.games = number;
                let ours = self.args.part().has(self.progress.done.usable);
                let replayed =
                    game.and_then(|game| annotate::replay(&game).map(|moves| (game, moves)));
                self.progress.done.usable += u64::from(replayed.is_ok());
                // Games that nobody can use are told of by whoever has the next one.
                if !ours {
                    continue;
                }
                if let Some(what) = replayed.as_ref().err().or(warning.as_ref()) {
                    self.bar.suspend(|| complain(format_args!("{}:{what}", path.display())));
                }
                match replayed {
                    Ok((game, replayed)) => {
                        let span = begin..before + taken.get();
                        if self.game(game, &replayed, span, interrupt)? == End::Interrupted {
                            return Ok(End::Interrupted);
                        }
                    }
                    Err(_) => self.progress.done.broken += 1,
                }
                let saved = self.progress.save();
                saved.with_context(|| self.progress_path.display().to_string())?;
            }
        }
        Ok(End::Done)
    }

    /// Analyses and writes one game, which takes up `span` of all bytes.
    fn game(
        &mut self,
        mut game: Game,
        (start, moves): &(Position, Vec<Option<Move>>),
        span: Range<u64>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<End> {
        let number = self.progress.done.usable;
        let positions = evaluate::positions(start, moves);
        let total = positions.len() as u64;
        let names = Color::ALL.map(|color| player(&game, color));
        let bar = self.bar.clone();
        let tick = |done: usize| {
            bar.set_position(span.start + (span.end - span.start) * done as u64 / total);
            bar.set_message(format!("game {number}, position {done}/{total}"));
        };
        tick(0);
        let reached = |index| evaluate::game(&positions, moves, index);
        let found = self.evaluate(positions.len(), &reached, interrupt, &tick)?;
        let Some(found) = found else { return Ok(End::Interrupted) };
        let found = self.lengthen(&positions, moves, found, interrupt)?;
        let Some(evaluations) = found else { return Ok(End::Interrupted) };

        let findings = Findings::new(&positions, moves, &evaluations);
        let opening = self.openings.find(positions.iter());
        findings.annotate(&mut game, opening, &self.args.annotator());
        let ply = annotate::ply(start);
        if let Some(dir) = &self.args.svg {
            let path = dir.join(picture_name(number, &names));
            let svg = picture(&game, &findings, opening, ply).svg()?;
            files::replace(&path, svg.as_bytes()).with_context(|| path.display().to_string())?;
        }
        let text = pgn::write::write(&game, ply);
        self.write(&text)?;
        self.progress.done.written += 1;
        self.progress.done.bytes += text.len() as u64;
        let mut tallies = Color::ALL.map(|color| findings.tally(color));
        // Whoever plays both sides plays one game.
        tallies[1].games = u64::from(names[0] != names[1]);
        for (name, tally) in names.iter().zip(&tallies) {
            self.progress.add(name, *tally);
        }
        let line = game_line(number, &names, &game.result(), opening, &tallies);
        self.bar.suspend(|| say(line));
        Ok(End::Done)
    }

    /// Adds to the output.
    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let written = journal::append(&mut self.out, text.as_bytes());
        written
            .and_then(|()| self.out.sync_data())
            .with_context(|| self.args.out.display().to_string())
    }

    /// Goes on where a line that is going to be shown ends after a move or two:
    /// a search may end before it knows more. `None` if interrupted.
    fn lengthen(
        &mut self,
        positions: &[Position],
        moves: &[Option<Move>],
        mut evaluations: Vec<Evaluation>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<Vec<Evaluation>>> {
        let short = Findings::new(positions, moves, &evaluations).short_lines();
        let end = |number: usize| {
            let mut end = evaluate::game(positions, moves, short[number]);
            evaluations[short[number]].line.iter().for_each(|&m| end.play(m));
            end
        };
        let more = self.evaluate(short.len(), &end, interrupt, &|_| ())?;
        let Some(more) = more else { return Ok(None) };
        for (i, evaluation) in short.into_iter().zip(more) {
            evaluations[i].line.extend(evaluation.line);
        }
        Ok(Some(evaluations))
    }

    /// Evaluates the ends of `count` games; nothing if interrupted.
    fn evaluate(
        &mut self,
        count: usize,
        game: &(dyn Fn(usize) -> position::Game + Sync),
        interrupt: &Interrupt,
        tick: &(dyn Fn(usize) + Sync),
    ) -> anyhow::Result<Option<Vec<Evaluation>>> {
        let engines = &mut self.engines;
        Ok(evaluate::evaluate(engines, count, game, &self.limits, interrupt, tick)?)
    }

    /// Sums up, and clears away what only an unfinished analysis needs.
    fn finish(&mut self, end: End) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        if !self.read {
            // Nothing is left behind.
            return if self.created {
                let out = &self.args.out;
                fs::remove_file(out).with_context(|| out.display().to_string())
            } else {
                Ok(())
            };
        }
        let Done { written, broken, .. } = self.progress.done;
        if written > 0 {
            say(format_args!("\n{}", players_table(&self.progress.players)));
        }
        if broken > 0 {
            let broken = usize::try_from(broken).unwrap_or(usize::MAX);
            say(format_args!("\n{} skipped", notation::counted(broken, "broken game")));
        }
        if end == End::Interrupted {
            let written = usize::try_from(written).unwrap_or(usize::MAX);
            let games = notation::counted(written, "game");
            say(format_args!("\nInterrupted after {games}; --resume continues."));
            return Ok(());
        }
        if let Some(shard) = self.args.shard {
            self.write(&join::end(shard, written))?;
        }
        let progress = &self.progress_path;
        fs::remove_file(progress).with_context(|| progress.display().to_string())
    }
}

fn player(game: &Game, color: Color) -> String {
    let tag = if color.is_white() { "White" } else { "Black" };
    game.tag(tag).unwrap_or("?").to_owned()
}

/// Was this output written to its end? One that is empty was begun at most.
fn is_finished(out: &Path) -> bool {
    let written = fs::metadata(out).is_ok_and(|out| out.len() > 0);
    written && !progress::path(out).exists()
}

/// Is the output what this command would have written, as far as its first game tells?
fn check_finished(args: &Args) -> anyhow::Result<()> {
    let out = &args.out;
    let name = || out.display().to_string();
    files::check_outputs([out.as_path()], &args.files)?;
    let mut games = Games::new(Input::open(out).with_context(name)?);
    let first = games.next_game().with_context(name)?;
    let annotator =
        first.and_then(Result::ok).and_then(|game| game.tag("Annotator").map(str::to_owned));
    // A shard that has no game has its last line.
    if let Some(shard) = args.shard
        && annotator.is_none()
        && fs::read(out).with_context(name)? == join::end(shard, 0).as_bytes()
    {
        return Ok(());
    }
    let out = out.display();
    match annotator {
        None => bail!("{out}: no analysis, and so not one to resume"),
        Some(other) if other.starts_with("Lancet ") && other != args.annotator() => bail!(
            "{out}: the finished analysis is by {other}, not by {}: --force begins again",
            args.annotator()
        ),
        Some(_) => Ok(()),
    }
}

/// Opens the file to write, as the options want it.
fn output(args: &Args, progress: &Path) -> anyhow::Result<File> {
    let out = &args.out;
    let name = || out.display().to_string();
    files::check_outputs([out.as_path(), progress], &args.files)?;
    if args.force || (args.resume && !progress.exists()) {
        return OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(out)
            .with_context(name);
    }
    if progress.exists() {
        if args.resume {
            return OpenOptions::new().write(true).open(out).with_context(name);
        }
        let what = "an unfinished analysis is here: --resume carries on, --force begins again";
        bail!("{}: {what}", progress.display());
    }
    File::create_new(out).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => progress::exists(out),
        _ => anyhow::Error::new(error).context(name()),
    })
}

/// A bar over the bytes of all files on standard error, without an end if one of them
/// is a pipe; invisible when that is not a terminal.
fn progress_bar(files: &[(PathBuf, u64)]) -> ProgressBar {
    let endless = files.iter().any(|&(_, size)| size == 0);
    let bytes = files.iter().map(|(_, size)| size).sum();
    let template = if endless {
        "{elapsed_precise} {spinner} {msg}"
    } else {
        "{elapsed_precise} [{bar:30}] {percent:>3} %, {msg}, {eta} left"
    };
    stdio::progress_bar((!endless).then_some(bytes), template)
}

/// `0012-Short-Timman.svg`, whatever the players are called.
fn picture_name(number: u64, names: &[String; 2]) -> String {
    let [white, black] = names.each_ref().map(|name| -> String {
        let family = name.split(',').next().unwrap_or_default();
        family.chars().filter(|c| c.is_alphanumeric()).take(LONGEST_NAME).collect()
    });
    format!("{number:04}-{white}-{black}.svg")
}

fn picture(game: &Game, findings: &Findings, opening: Option<Opening>, ply: usize) -> Chart {
    let names = Color::ALL.map(|color| player(game, color));
    let opening =
        opening.map_or_else(String::new, |Opening { eco, name }| format!("{eco} {name}; "));
    let accuracy = |color| {
        let mean = findings.tally(color).mean_accuracy();
        mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.1} %"))
    };
    let [white, black] = Color::ALL.map(accuracy);
    let errors = findings.judgements.iter().enumerate().filter_map(|(i, judgement)| {
        let error = judgement.and_then(|judgement| judgement.error)?;
        let san = notation::san(&findings.positions[i], findings.moves[i]?);
        Some((i, error, san))
    });
    Chart {
        title: format!("{} - {}, {}", names[0], names[1], game.result()),
        subtitle: format!("{opening}accuracy {white} and {black}"),
        ply,
        scores: findings.evaluations.iter().map(|evaluation| evaluation.white).collect(),
        errors: errors.collect(),
    }
}

/// The line about a game that was just analysed.
fn game_line(
    number: u64,
    names: &[String; 2],
    result: &str,
    opening: Option<Opening>,
    tallies: &[Tally; 2],
) -> String {
    let both =
        |value: fn(&Tally) -> String| format!("{}/{}", value(&tallies[0]), value(&tallies[1]));
    let number_text = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.0}"));
    let opening =
        opening.map_or_else(String::new, |Opening { eco, name }| format!(", {eco} {name}"));
    let accuracy = tallies.each_ref().map(|tally| number_text(tally.mean_accuracy())).join("/");
    let loss = tallies.each_ref().map(|tally| number_text(tally.mean_loss())).join("/");
    format!(
        "{number:>4}  {} - {} {result}{opening}: accuracy {accuracy} %, loss {loss} cp, {} ?!, {} ?, {} ??",
        names[0],
        names[1],
        both(|tally| tally.errors[0].to_string()),
        both(|tally| tally.errors[1].to_string()),
        both(|tally| tally.errors[2].to_string()),
    )
}

/// A row per player, the most accurate first.
fn players_table(players: &std::collections::BTreeMap<String, Tally>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["player", "games", "moves", "accuracy %", "loss (cp)", "?!", "?", "??"]);
    let mut players: Vec<_> = players.iter().collect();
    let accuracy = |tally: &Tally| tally.mean_accuracy().unwrap_or(-1.0);
    players.sort_by(|(_, a), (_, b)| accuracy(b).total_cmp(&accuracy(a)));
    for (name, tally) in players {
        let mean = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.1}"));
        let [inaccuracies, mistakes, blunders] = tally.errors.map(|count| count.to_string());
        let numbers = [
            tally.games.to_string(),
            tally.moves.to_string(),
            mean(tally.mean_accuracy()),
            mean(tally.mean_loss()),
            inaccuracies,
            mistakes,
            blunders,
        ];
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row(std::iter::once(Cell::new(name)).chain(numbers.map(right)));
    }
    table
}
