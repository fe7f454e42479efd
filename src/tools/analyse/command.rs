//! The command `lancet analyse`: files, progress, and what it says on the way.

use std::{
    collections::BTreeMap,
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
    evaluate::{self, Evaluation, Evaluator, Interrupted},
    join,
    judge::Tally,
    openings::{Opening, Openings},
    progress::{self, Done, Progress, Task},
};
use crate::{
    chess::{
        notation,
        pgn::{self, Game, read::Games},
        position::Position,
    },
    play::limits::Limits,
    system::{
        files,
        input::{self, Input, STANDARD_INPUT},
        journal, stdio,
    },
    tools::{
        self, complain,
        interrupt::Interrupt,
        options::{Effort, Shard, Tables, Workers},
        say,
    },
};

/// Annotate games: evaluations, errors, better lines, openings, accuracy
///
/// Games are read one at a time, so files may be of any size, also compressed by gzip or
/// Zstandard, and from a pipe. Limits combine: whichever is reached first ends a search. Without
/// any, each position gets half a second. With one job and --nodes the result is the same every
/// time.
///
/// Every move gets its evaluation, [%eval 0.35], from White's point of view. A move that gives
/// away 5 % of the winning chances is marked ?!, 10 % ?, 15 % ??, and the better line is added as
/// a variation. A mark already in the game stays. Everything else in the file is kept (signs such
/// as += as their numbers, $14), with three exceptions: older [%eval] comments are replaced, lines
/// that begin with % and results inside variations are dropped, and moves of the game such as
/// Ng8-f6 are written in standard notation. Null moves (--) are not judged. Tags are added:
/// Annotator, ECO and Opening (if missing), and for each player Accuracy (a mean over all moves,
/// 0 to 100) and AverageLoss (in centipawns, with every score cut off at 10 pawns).
///
/// Winning chances and accuracy follow the curves described at
/// <https://lichess.org/page/accuracy>. Opening names are from lichess-org/chess-openings, CC0. A
/// game that is not legal chess is named with its line and left out, a broken tag without its
/// game.
///
/// Ctrl-C, a kill or a power failure loses at most the game being analysed, and --resume carries
/// on. Where the games came through a pipe, give the same ones again. A finished file is
/// overwritten with --force only.
///
/// --shard K/N analyses every N-th game of all files together, from the K-th on, so that any job
/// runner can spread a collection over machines. --join puts the parts together. Each part ends
/// with a line such as `% end of shard 2/8, games: 17`, by which --join knows that it is whole and
/// in its place. Programs that read PGN ignore it. With one job and --nodes the result is, byte
/// for byte, that of one run.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  lancet analyse games.pgn --out annotated.pgn
  lancet analyse *.pgn --out annotated.pgn --nodes 200000 --jobs 4 --svg pictures
  lancet analyse games.pgn --out annotated.pgn --nodes 200000 --resume
  zstdcat database.pgn.zst | lancet analyse - --out annotated.pgn

  With GNU parallel, here on all cores; --sshlogin spreads over machines, --resume-failed repeats what failed:
    parallel --joblog jobs.log lancet analyse games.pgn --nodes 200000 --shard {}/100 --out part-{}.pgn --resume --lenient ::: $(seq 100)
    lancet analyse --join $(seq -f part-%g.pgn 100) --out annotated.pgn

  With Slurm, where tasks that were killed carry on when they are requeued:
    sbatch --wait --array=1-100 --requeue --wrap 'lancet analyse games.pgn --nodes 200000 --resume --lenient --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT --out part-$SLURM_ARRAY_TASK_ID.pgn'
    lancet analyse --join $(seq -f part-%g.pgn 100) --out annotated.pgn

Files:
  ANNOTATED.pgn            the games
  ANNOTATED.pgn.progress   how far the run has got; removed at the end
  DIR/0001-White-Black.svg the evaluation of each game

Exit status:
  0    when all games were annotated
  1    if a file could not be used, or is not to be overwritten
  2    if a game was broken (unless --lenient), or the command line was wrong
  130  after Ctrl-C (a second Ctrl-C quits at once)")]
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
    #[command(flatten)]
    tables: Tables,
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

    /// What decides the result beside the files, in words.
    fn settings(&self) -> Vec<String> {
        let tables = self.tables.syzygy.as_deref().map(|paths| format!(", endgame tables {paths}"));
        let (hash, threads, tables) = (self.hash, self.workers.threads, tables.unwrap_or_default());
        let engine = format!("{hash} MiB, threads {threads}{tables}");
        let lancet = format!("Lancet {}", env!("CARGO_PKG_VERSION"));
        vec![self.limits_text(), engine, format!("shard {}", self.part()), lancet]
    }

    /// The tag of that name in what is written.
    fn annotator(&self) -> String {
        format!("Lancet {}, {}", env!("CARGO_PKG_VERSION"), self.limits_text())
    }
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
    let mut analysis = Analysis::open(args, &interrupt)?;
    let interrupted = match analysis.all() {
        Err(error) if error.is::<Interrupted>() => true,
        ended => ended.map(|()| false)?,
    };
    analysis.finish(interrupted)?;
    let broken = analysis.progress.done.broken > 0 && !args.lenient;
    Ok(match (interrupted, broken) {
        (true, _) => ExitCode::from(130),
        (false, true) => ExitCode::from(2),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// Everything that an analysis needs.
struct Analysis<'a> {
    args: &'a Args,
    evaluator: Evaluator<'a>,
    openings: Openings,
    /// Until there is a game, it stays as it was.
    out: File,
    progress: Progress,
    bar: ProgressBar,
}

impl<'a> Analysis<'a> {
    /// Opens the files.
    fn open(args: &'a Args, interrupt: &'a Interrupt) -> anyhow::Result<Analysis<'a>> {
        let size = |path: &PathBuf| {
            let size = input::size(path).with_context(|| path.display().to_string())?;
            ensure!(size != Some(0), "{}: no games", path.display());
            anyhow::Ok((path.clone(), size.unwrap_or(0)))
        };
        let files = args.files.iter().map(size).collect::<anyhow::Result<_>>()?;
        let task = Task { files, settings: args.settings() };
        // First whatever may fail: then there is nothing to be continued.
        let mut engines = tools::engines(args.workers.jobs, args.hash, args.workers.threads)?;
        args.tables.open_for(&mut engines);
        if let Some(dir) = &args.svg {
            fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        let path = progress::path(&args.out);
        let resumed = args.resume && path.exists();
        let out = output(args, &path)?;
        let progress =
            if resumed { Progress::load(path, task)? } else { Progress::new(path, task) };
        let mut analysis = Analysis {
            args,
            evaluator: Evaluator { engines, limits: args.limits(), interrupt },
            openings: Openings::default(),
            out,
            bar: progress_bar(&progress.task.files),
            progress,
        };
        if resumed {
            analysis.begin()?;
        }
        Ok(analysis)
    }

    /// Cuts the output to what the progress says.
    fn begin(&mut self) -> anyhow::Result<()> {
        let (mut out, length) = (&self.out, self.progress.done.bytes);
        let mut cut = || {
            let whole = out.metadata()?.len() >= length;
            ensure!(whole, "shorter than the unfinished analysis left it");
            out.set_len(length)?;
            Ok(out.seek(SeekFrom::End(0))?)
        };
        cut().with_context(|| self.args.out.display().to_string())?;
        self.progress.begin()
    }

    /// Analyses all games that are left, as far as they are in this shard.
    fn all(&mut self) -> anyhow::Result<()> {
        for file in self.progress.done.file..self.args.files.len() {
            let path = &self.args.files[file];
            let name = || path.display().to_string();
            let input = Input::open(path).with_context(name)?;
            let taken = input.taken();
            let mut games = Games::new(input);
            let before: u64 = self.progress.task.files[..file].iter().map(|(_, n)| n).sum();
            let done = if file == self.progress.done.file { self.progress.done.games } else { 0 };
            (self.progress.done.file, self.progress.done.games) = (file, done);
            for number in 1.. {
                // Games of others are passed over, and those that are broken.
                if self.evaluator.interrupt.is_raised() {
                    return Err(Interrupted.into());
                }
                let begin = before + taken.get();
                let Some(game) = games.next_game().with_context(name)? else { break };
                let warning = games.warning();
                if !self.progress.is_begun() {
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
                        self.game(game, &replayed, begin..before + taken.get())?;
                    }
                    Err(_) => self.progress.done.broken += 1,
                }
                self.progress.save()?;
            }
        }
        Ok(())
    }

    /// Analyses and writes one game, which takes up `span` of all bytes.
    fn game(
        &mut self,
        mut game: Game,
        (start, moves): &(Position, Vec<Option<Move>>),
        span: Range<u64>,
    ) -> anyhow::Result<()> {
        let number = self.progress.done.usable;
        let positions = evaluate::positions(start, moves);
        let total = positions.len() as u64;
        let names = Color::ALL.map(|color| player(&game, color));
        let tick = |done: usize| {
            self.bar.set_position(span.start + (span.end - span.start) * done as u64 / total);
            self.bar.set_message(format!("game {number}, position {done}/{total}"));
        };
        tick(0);
        let reached = |index| evaluate::game(&positions, moves, index);
        let mut evaluations = self.evaluator.evaluate(positions.len(), &reached, &tick)?;
        self.lengthen(&positions, moves, &mut evaluations)?;

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
        Ok(())
    }

    /// Adds to the output.
    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let written = journal::append(&mut self.out, text.as_bytes());
        let written = written.and_then(|()| self.out.sync_data());
        written.with_context(|| self.args.out.display().to_string())
    }

    /// Goes on where a line that is going to be shown ends after a move or two:
    /// a search may end before it knows more.
    fn lengthen(
        &mut self,
        positions: &[Position],
        moves: &[Option<Move>],
        evaluations: &mut [Evaluation],
    ) -> anyhow::Result<()> {
        let short = Findings::new(positions, moves, evaluations).short_lines();
        let end = |number: usize| {
            let mut end = evaluate::game(positions, moves, short[number]);
            evaluations[short[number]].line.iter().for_each(|&m| end.play(m));
            end
        };
        let more = self.evaluator.evaluate(short.len(), &end, &|_| ())?;
        for (i, evaluation) in short.into_iter().zip(more) {
            evaluations[i].line.extend(evaluation.line);
        }
        Ok(())
    }

    /// Sums up, and clears away what only an unfinished analysis needs.
    fn finish(&mut self, interrupted: bool) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        if !self.progress.is_begun() {
            // Nothing is left behind.
            let out = &self.args.out;
            if self.out.metadata().is_ok_and(|out| out.len() == 0) {
                fs::remove_file(out).with_context(|| out.display().to_string())?;
            }
            let names = self.args.files.iter().map(|path| path.display().to_string());
            ensure!(interrupted, "{}: no games", names.collect::<Vec<_>>().join(", "));
            return Ok(());
        }
        let Done { written, broken, .. } = self.progress.done;
        let counted = |number: u64, noun| {
            notation::counted(usize::try_from(number).unwrap_or(usize::MAX), noun)
        };
        if written > 0 {
            say(format_args!("\n{}", players_table(&self.progress.players)));
        }
        if broken > 0 {
            say(format_args!("\n{} skipped", counted(broken, "broken game")));
        }
        if interrupted {
            let games = counted(written, "game");
            say(format_args!("\nInterrupted after {games}; --resume continues."));
            return Ok(());
        }
        if let Some(shard) = self.args.shard {
            self.write(&join::end(shard, written))?;
        }
        self.progress.remove()
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
    let first = games.next_game().with_context(name)?.and_then(Result::ok);
    // A shard that has no game has its last line.
    let is_empty = |shard| fs::read(out).is_ok_and(|text| text == join::end(shard, 0).as_bytes());
    match first.as_ref().and_then(|game| game.tag("Annotator")) {
        None if args.shard.is_some_and(is_empty) => Ok(()),
        None => bail!("{}: no analysis, and so not one to resume", out.display()),
        Some(other) if other.starts_with("Lancet ") && other != args.annotator() => bail!(
            "{}: the finished analysis is by {other}, not by {}: --force begins again",
            out.display(),
            args.annotator()
        ),
        Some(_) => Ok(()),
    }
}

/// Opens the file to write, as the options want it.
fn output(args: &Args, progress: &Path) -> anyhow::Result<File> {
    let out = &args.out;
    files::check_outputs([out.as_path(), progress], &args.files)?;
    let begun = progress.exists();
    ensure!(
        args.resume || args.force || !begun,
        "{}: an unfinished analysis is here: --resume carries on, --force begins again",
        progress.display()
    );
    let mut options = OpenOptions::new();
    // What was begun and is gone cannot be continued.
    options.write(true).truncate(false).create(!(args.resume && begun));
    let file = match options.create_new(!args.resume && !args.force).open(out) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(progress::exists(out));
        }
        file => file.with_context(|| out.display().to_string())?,
    };
    files::claim_data(&file, "another analysis is writing this file")
        .with_context(|| out.display().to_string())?;
    Ok(file)
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
    let both = |value: &dyn Fn(&Tally) -> String| tallies.each_ref().map(value).join("/");
    let accuracy = both(&|tally| mean(tally.mean_accuracy(), 0));
    let loss = both(&|tally| mean(tally.mean_loss(), 0));
    let [inaccuracies, mistakes, blunders] =
        [0, 1, 2].map(|kind| both(&|tally| tally.errors[kind].to_string()));
    let opening =
        opening.map_or_else(String::new, |Opening { eco, name }| format!(", {eco} {name}"));
    let [white, black] = names;
    format!(
        "{number:>4}  {white} - {black} {result}{opening}: accuracy {accuracy} %, loss {loss} cp, \
         {inaccuracies} ?!, {mistakes} ?, {blunders} ??"
    )
}

/// A mean with so many decimals, if there is one.
fn mean(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// A row per player, the most accurate first.
fn players_table(players: &BTreeMap<String, Tally>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["player", "games", "moves", "accuracy %", "loss (cp)", "?!", "?", "??"]);
    let mut players: Vec<_> = players.iter().collect();
    let accuracy = |tally: &Tally| tally.mean_accuracy().unwrap_or(-1.0);
    players.sort_by(|(_, a), (_, b)| accuracy(b).total_cmp(&accuracy(a)));
    for (name, tally) in players {
        let numbers = [
            tally.games.to_string(),
            tally.moves.to_string(),
            mean(tally.mean_accuracy(), 1),
            mean(tally.mean_loss(), 1),
        ];
        let errors = tally.errors.map(|count| count.to_string());
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let numbers = numbers.into_iter().chain(errors).map(right);
        table.add_row(std::iter::once(Cell::new(name)).chain(numbers));
    }
    table
}
