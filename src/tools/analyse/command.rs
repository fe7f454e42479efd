//! The command `lancet analyse`: files, progress and messages.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Seek as _, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use indicatif::ProgressBar;
use shakmaty::{Color, Move};

use super::{
    annotate::{self, Findings},
    chart::{self, Chart, Point},
    evaluate::{self, Evaluation, Evaluator, Interrupted},
    html, join,
    judge::{Error, Tally},
    openings::{Opening, Openings},
    progress::{self, Done, Progress, Task},
};
use crate::{
    chess::{
        notation,
        pgn::{self, Game, Item, Nag, read::Games},
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
        page, say, table,
    },
};

/// Annotate games with evaluations, mistakes, better lines, openings and accuracy
///
/// Reads games one at a time, so files may be of any size. They may be compressed with gzip or
/// Zstandard, or come from a pipe. Without --out, the games of NAME.pgn go to NAME-annotated.pgn in
/// the same folder. --out is required with several files, standard input, --shard or --join.
///
/// If several limits are given, a search ends at the first one that it reaches. If none of
/// --movetime, --nodes and --depth is given, each position gets half a second. With one job, one
/// thread and --nodes, the result is the same every time.
///
/// Every move except checkmate gets an evaluation such as [%eval 0.35], from White's point of view.
/// A move that lowers the winning chances by at least 5 percentage points is marked ?!. At least 10
/// points give ?, and at least 15 give ??. The better line is added as a variation. The engine's
/// own choice is never marked, and null moves (--) are not judged. A mark that the game already has
/// is kept, and the picture and the page show it too. The counts of errors use Lancet's own
/// judgement only.
///
/// Everything else in the file is kept, with these exceptions. Symbols such as += become NAGs such
/// as $14, and repeated ones are dropped. Outside variations, older [%eval] comments are replaced.
/// What an earlier run of Lancet added is replaced too. Other commands such as [%clk] move into the
/// comment with the evaluation. Lines that begin with %, comments between games, and results inside
/// variations are dropped. Moves such as Ng8-f6 are rewritten in standard algebraic notation (SAN),
/// with correct check and mate signs.
///
/// The tags Annotator, ECO and Opening are added if missing. The Annotator tag of an earlier run of
/// Lancet is replaced. The tags WhiteAccuracy and BlackAccuracy are the mean accuracy of the
/// player's moves, from 0 to 100. WhiteAverageLoss and BlackAverageLoss are the mean loss of a move
/// in centipawns, with every score limited to 10 pawns.
///
/// Winning chances and accuracy follow the curves described at <https://lichess.org/page/accuracy>.
/// Opening names are from lichess-org/chess-openings, CC0. A game with an illegal move or another
/// error is broken. Such a game is reported with its line number and left out. If only a tag is
/// broken, the tag is left out.
///
/// Ctrl-C, a kill signal or a power failure loses at most the game being analysed. To continue, run
/// the same command with --resume. If the games came through a pipe, send the same games again.
///
/// --shard K/N analyses every N-th game of all files together, starting with game K, so that a job
/// runner can divide a collection between machines. --join combines the parts. Each part ends with
/// a line such as `% end of shard 2/8, games: 17`, which lets --join check that the part is
/// complete and in the right place. Programs that read PGN ignore this line. With one job, one
/// thread and --nodes, the joined file is identical to that of a single run.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = r"Examples:
  lancet analyse games.pgn                     # writes games-annotated.pgn
  lancet analyse games.pgn --html games.html   # also writes a page with boards
  lancet analyse *.pgn --out annotated.pgn --nodes 200000 --jobs 4 --svg DIR
  lancet analyse games.pgn --out annotated.pgn --nodes 200000 --resume
  zstdcat database.pgn.zst | lancet analyse - --out annotated.pgn

  With GNU parallel, here on all cores. Its option --sshlogin adds machines,
  and --resume-failed repeats failed jobs:
    parallel --joblog jobs.log lancet analyse games.pgn --nodes 200000 \
      --shard {}/100 --out part-{}.pgn --resume --lenient ::: $(seq 100)
    lancet analyse --join $(seq -f part-%g.pgn 100) --out annotated.pgn

  With Slurm. Tasks that were killed and requeued continue where they stopped:
    sbatch --wait --array=1-100 --requeue --wrap 'lancet analyse games.pgn \
      --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT --nodes 200000 \
      --out part-$SLURM_ARRAY_TASK_ID.pgn --resume --lenient'
    lancet analyse --join $(seq -f part-%g.pgn 100) --out annotated.pgn

Files:
  ANNOTATED.pgn            the games
  ANNOTATED.pgn.progress   the progress of the run; removed at the end
  PAGE.html                a web page with the games, in one file; arrow keys,
                           Home and End move through the game, `f` flips the
                           board
  DIR/0001-White-Black.svg the evaluation of each game

Exit status:
  0    when all games were annotated, or if --resume found a complete output
  1    if a file could not be used, or exists and --force was not given, or if
       memory or threads did not suffice
  2    if a game was broken and --lenient was not given, or if the command line
       was wrong
  130  after Ctrl-C (a second Ctrl-C quits at once)")]
pub struct Args {
    /// PGN files, which may be compressed (.gz, .zst); `-` is standard input
    #[arg(required = true, value_name = "GAMES.pgn")]
    files: Vec<PathBuf>,
    /// File to write [default: NAME-annotated.pgn beside NAME.pgn]
    #[arg(long, value_name = "ANNOTATED.pgn")]
    out: Option<PathBuf>,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    workers: Workers,
    /// Continue an unfinished run with the same settings
    #[arg(long)]
    resume: bool,
    /// Replace output files that exist
    #[arg(long, conflicts_with = "resume")]
    force: bool,
    /// Analyse every N-th game, starting with game K, to divide the games between machines
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Combine the files that the shards wrote, which must be given in order
    #[arg(long, conflicts_with_all = ["resume", "shard", "svg", "html"])]
    join: bool,
    /// Draw the evaluation of each game as a picture in this directory
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Write the games as a web page
    #[arg(long, value_name = "PAGE.html")]
    html: Option<PathBuf>,
    /// Hash table size for each job, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = tools::hash_size)]
    hash: usize,
    #[command(flatten)]
    tables: Tables,
    /// Ignore broken games in the exit status
    #[arg(long)]
    lenient: bool,
}

/// Maximum number of characters of a player's name in a picture.
const LONGEST_NAME: usize = 30;
/// Time for a position if no option limits the search.
const DEFAULT_MOVETIME: Duration = Duration::from_millis(500);

impl Args {
    fn part(&self) -> Shard {
        self.shard.unwrap_or(Shard::WHOLE)
    }

    fn limits(&self) -> Limits {
        self.effort.limits(DEFAULT_MOVETIME)
    }

    /// Describes the limits of a search in words.
    fn limits_text(&self) -> String {
        let limits = self.limits();
        let time = limits.movetime.map(|time| format!("{} ms", time.as_millis()));
        let nodes = limits.nodes.map(|nodes| format!("{nodes} nodes"));
        let depth = limits.depth.map(|depth| format!("depth {depth}"));
        let parts: Vec<String> = [time, nodes, depth].into_iter().flatten().collect();
        format!("{} a position", parts.join(", "))
    }

    /// Describes in words the settings that determine the result, except the files.
    fn settings(&self) -> Vec<String> {
        let tables = self.tables.syzygy.as_deref().map(|paths| format!(", tablebases {paths}"));
        let (hash, threads, tables) = (self.hash, self.workers.threads, tables.unwrap_or_default());
        let engine = format!("hash {hash} MiB, threads {threads}{tables}");
        let lancet = format!("Lancet {}", env!("CARGO_PKG_VERSION"));
        let page = self.html.as_ref().map(|path| format!("page {}", path.display()));
        let page = page.unwrap_or_else(|| "no page".to_owned());
        vec![self.limits_text(), engine, format!("shard {}", self.part()), lancet, page]
    }

    /// Returns the path of the output file.
    fn out(&self) -> anyhow::Result<PathBuf> {
        match (&self.out, &self.files[..]) {
            (Some(out), _) if out == Path::new(STANDARD_INPUT) => {
                bail!("--out: expected a file; games cannot be written to standard output")
            }
            (Some(out), _) => Ok(out.clone()),
            (None, [one])
                if one != Path::new(STANDARD_INPUT) && !self.join && self.shard.is_none() =>
            {
                Ok(tools::beside(one, "-annotated.pgn"))
            }
            _ => bail!("--out is required with --join, --shard, several files or standard input"),
        }
    }

    /// Returns the value of the tag Annotator.
    fn annotator(&self) -> String {
        format!("Lancet {}, {}", env!("CARGO_PKG_VERSION"), self.limits_text())
    }
}

/// Runs the command `lancet analyse`. Its help describes the exit status.
///
/// # Errors
///
/// If a file cannot be read or written, an earlier run had other settings, or memory or threads do
/// not suffice.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let out = match args.out() {
        Ok(out) => out,
        Err(error) => return Ok(tools::unusable(&error)),
    };
    if args.join {
        let games = join::join(&args.files, &out, args.force)?;
        say(format_args!("{} joined", notation::counted(games, "game")));
        tools::say_written([&out]);
        return Ok(ExitCode::SUCCESS);
    }
    if args.resume && is_finished(&out) {
        check_finished(args, &out)?;
        say(format_args!("{} is already complete", out.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = Interrupt::by_ctrl_c("Ctrl-C will lose the game being analysed");
    let mut analysis = Analysis::open(args, &out, &interrupt)?;
    let ended = analysis.all();
    if ended.is_err() && analysis.progress.done.written == 0 {
        // No game was written, so there is no run to resume.
        analysis.progress.remove()?;
    }
    let interrupted = match ended {
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

/// A file that grows game by game. It is removed if it stays empty.
struct Output {
    path: PathBuf,
    file: File,
}

impl Output {
    /// If `resumed`, opens the file of the earlier run. Otherwise creates a file, and replaces an
    /// existing one only if it is empty or --force is given.
    fn open(path: &Path, args: &Args, resumed: bool) -> anyhow::Result<Output> {
        let is_empty = fs::metadata(path).is_ok_and(|old| old.is_file() && old.len() == 0);
        let may_replace = resumed || args.force || is_empty;
        let mut options = OpenOptions::new();
        options.write(true).truncate(false).create(!resumed);
        let file = match options.create_new(!may_replace).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bail!(
                "{}: the file exists; use --force to replace it (--resume is for unfinished \
                 analyses)",
                path.display()
            ),
            file => file.with_context(|| path.display().to_string())?,
        };
        files::claim_data(&file, "another analysis is writing this file")
            .with_context(|| path.display().to_string())?;
        Ok(Output { path: path.to_owned(), file })
    }

    /// Truncates the file to the length that the progress file records.
    fn cut(&mut self, length: u64) -> anyhow::Result<()> {
        let mut cut = || {
            let whole = self.file.metadata()?.len() >= length;
            ensure!(whole, "the file is shorter than its .progress file says");
            self.file.set_len(length)?;
            Ok(self.file.seek(SeekFrom::End(0))?)
        };
        cut().map(drop).with_context(|| self.path.display().to_string())
    }

    /// Appends text. Returns the number of bytes.
    fn write(&mut self, text: &str) -> anyhow::Result<u64> {
        let written = journal::append(&mut self.file, text.as_bytes());
        let written = written.and_then(|()| self.file.sync_data());
        written.with_context(|| self.path.display().to_string())?;
        Ok(text.len() as u64)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.file.metadata().is_ok_and(|file| file.is_file() && file.len() == 0) {
            // An error here cannot be reported.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The state of a running analysis.
struct Analysis<'a> {
    args: &'a Args,
    evaluator: Evaluator<'a>,
    openings: Openings,
    /// The output; left unchanged until the first game has been read.
    out: Output,
    page: Option<Output>,
    /// Whether pictures may replace others.
    may_replace: bool,
    progress: Progress,
    /// Whether the lines about games have been explained.
    explained: bool,
    bar: ProgressBar,
}

impl<'a> Analysis<'a> {
    /// Opens the input and output files.
    fn open(args: &'a Args, out: &Path, interrupt: &'a Interrupt) -> anyhow::Result<Analysis<'a>> {
        let size = |path: &PathBuf| {
            let size = input::size(path).with_context(|| path.display().to_string())?;
            ensure!(size != Some(0), "{}: no games", path.display());
            anyhow::Ok((path.clone(), size.unwrap_or(0)))
        };
        let files = args.files.iter().map(size).collect::<anyhow::Result<_>>()?;
        let task = Task { files, settings: args.settings() };
        // Everything that may fail comes first, before there is anything to resume.
        let mut engines = tools::engines(args.workers.jobs, args.hash, args.workers.threads)?;
        args.tables.open_for(&mut engines);
        if let Some(dir) = &args.svg {
            fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        let path = progress::path(out);
        let (begun, resumed) = (path.exists(), args.resume && path.exists());
        let page = args.html.as_deref();
        // `Output::open` itself checks whether the files exist, so that no other run can create
        // them between the check and the opening.
        files::check_outputs([out, &path].into_iter().chain(page), &args.files, |_| true)?;
        ensure!(
            args.resume || args.force || !begun,
            "{}: found an unfinished analysis; use --resume to continue it, --force to start again",
            path.display()
        );
        let out = Output::open(out, args, resumed)?;
        let page = page.map(|page| Output::open(page, args, resumed)).transpose()?;
        let progress =
            if resumed { Progress::load(path, task)? } else { Progress::new(path, task) };
        let mut analysis = Analysis {
            args,
            evaluator: Evaluator { engines, limits: args.limits(), interrupt },
            openings: Openings::default(),
            out,
            page,
            may_replace: args.force || resumed,
            explained: false,
            bar: progress_bar(&progress.task.files),
            progress,
        };
        if resumed {
            analysis.begin()?;
        }
        Ok(analysis)
    }

    /// Truncates the outputs to the lengths that the progress file records.
    fn begin(&mut self) -> anyhow::Result<()> {
        self.out.cut(self.progress.done.bytes)?;
        self.page.as_mut().map_or(Ok(()), |page| page.cut(self.progress.done.page))?;
        self.progress.begin()
    }

    /// Analyses all remaining games of this shard.
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
                // Check here too: games of other shards and broken games are skipped without a
                // search.
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
                // Broken games are reported by the shard to which the next usable game belongs.
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

    /// Analyses and writes one game, which takes up `span` of the bytes of all files.
    fn game(
        &mut self,
        mut game: Game,
        (start, moves): &(Position, Vec<Option<Move>>),
        span: Range<u64>,
    ) -> anyhow::Result<()> {
        let number = self.progress.done.usable;
        let positions = evaluate::positions(start, moves);
        let total = positions.len() as u64;
        let names = tools::players(&game);
        let path =
            |dir: &PathBuf| dir.join(format!("{number:04}-{}.svg", tools::players_in_path(&game)));
        let path = self.args.svg.as_ref().map(path);
        files::check_outputs(path.as_deref(), &[], |_| self.may_replace)?;
        annotate::tidy(&mut game.main, start);
        let tick = |done: usize| {
            self.bar.set_position(span.start + (span.end - span.start) * done as u64 / total);
            self.bar.set_message(format!("game {number}, position {done}/{total}"));
        };
        tick(0);
        let reached = |index| evaluate::game(&positions, moves, index);
        let mut evaluations = self.evaluator.evaluate(positions.len(), &reached, &tick)?;
        self.lengthen(&positions, moves, &mut evaluations)?;

        let findings = Findings::new(&positions, moves, &evaluations);
        let opening = self.openings.find(&positions);
        findings.annotate(&mut game, opening, &self.args.annotator());
        let ply = annotate::ply(start);
        if let Some(path) = path {
            let svg = picture(&game, &findings, opening, ply).svg();
            files::replace(&path, svg.as_bytes()).with_context(|| path.display().to_string())?;
        }
        let mut tallies = Color::ALL.map(|color| findings.tally(color));
        if let Some(page) = &mut self.page {
            let players = names.iter().zip(&tallies).map(|(name, tally)| player_row(name, tally));
            let element = html::shown(&game, &findings, players.collect()).element()?;
            let done = &mut self.progress.done.page;
            let head = if *done == 0 { page::PAGE } else { "" };
            *done += page.write(&[head, &element].concat())?;
        }
        self.progress.done.bytes += self.out.write(&pgn::write::write(&game, ply))?;
        self.progress.done.written += 1;
        // A player who plays both sides counts as having played one game.
        tallies[1].games = u64::from(names[0] != names[1]);
        for (name, tally) in names.iter().zip(&tallies) {
            self.progress.add(name, *tally);
        }
        let line = game_line(number, &names, &game.result(), opening, &tallies);
        let is_first = !std::mem::replace(&mut self.explained, true);
        self.bar.suspend(|| {
            if is_first {
                say("White's number is before the slash, Black's after it.");
            }
            say(line);
        });
        Ok(())
    }

    /// Extends the better lines of fewer than four plies, unless the score is a mate. Such lines
    /// occur because a search may end before it has a longer PV.
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

    /// Prints the summary, and removes the progress file if the analysis is complete.
    fn finish(&mut self, interrupted: bool) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        if !self.progress.is_begun() {
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
            say(format_args!("\nInterrupted after {games}; use --resume to continue."));
            return Ok(());
        }
        if let Some(shard) = self.args.shard {
            self.out.write(&join::end(shard, written))?;
        }
        self.progress.remove()?;
        if written > 0 {
            let Args { html, svg, .. } = self.args;
            tools::say_written([&self.out.path].into_iter().chain(html).chain(svg));
        }
        Ok(())
    }
}

/// Returns whether this output is complete. An empty file is not, because a run may have created it
/// and stopped.
fn is_finished(out: &Path) -> bool {
    let written = fs::metadata(out).is_ok_and(|out| out.len() > 0);
    written && !progress::path(out).exists()
}

/// Checks that a complete output has the games that this command would write, in their order. Its
/// first Annotator tag must not be that of a Lancet with other settings. The page and the directory
/// of pictures must exist.
fn check_finished(args: &Args, out: &Path) -> anyhow::Result<()> {
    let name = || out.display().to_string();
    files::check_outputs([out], &args.files, |_| true)?;
    let mut written = Games::new(Input::open(out).with_context(name)?);
    let mut next_written =
        || anyhow::Ok(written.next_game().with_context(name)?.and_then(Result::ok));
    let first = next_written()?;
    // An empty shard has only its last line.
    let is_empty = |shard| fs::read(out).is_ok_and(|text| text == join::end(shard, 0).as_bytes());
    match first.as_ref().and_then(|game| game.tag("Annotator")) {
        None if args.shard.is_some_and(is_empty) => {}
        None => bail!("{}: cannot resume; the file is not an analysis", out.display()),
        Some(other) if other.starts_with("Lancet ") && other != args.annotator() => bail!(
            "{}: the file was written by {other}, not by {}; use --force to start again",
            out.display(),
            args.annotator()
        ),
        Some(_) => {}
    }
    // The same start position and moves: annotations leave them as they are.
    let line = |game: &Game| annotate::replay(game).ok().map(|(start, moves)| (start.key(), moves));
    // Without games, there is no page.
    let page = args.html.as_ref().filter(|_| first.is_some());
    let mut expected = first;
    let mut usable = 0;
    for path in &args.files {
        let name = || path.display().to_string();
        let mut games = Games::new(Input::open(path).with_context(name)?);
        while let Some(game) = games.next_game().with_context(name)? {
            let Some(ours) = game.ok().as_ref().and_then(line) else { continue };
            usable += 1;
            if args.part().has(usable - 1) {
                ensure!(
                    expected.as_ref().and_then(line) == Some(ours),
                    "{}: cannot resume; the file is a complete analysis, but not of these games: \
                     game {usable} is missing; use --force to start again",
                    out.display()
                );
                expected = next_written()?;
            }
        }
    }
    ensure!(
        expected.is_none(),
        "{}: cannot resume; the file is a complete analysis of more games than these; use --force \
         to start again",
        out.display()
    );
    if let Some(missing) = page.into_iter().chain(&args.svg).find(|path| !path.exists()) {
        bail!(
            "{}: the analysis is complete, but {} does not exist; use --force to start again",
            out.display(),
            missing.display()
        );
    }
    Ok(())
}

/// Creates a progress bar on standard error that counts the bytes of all files. It is a spinner if
/// one of the files is a pipe, and hidden if standard error is not a terminal.
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

fn picture(game: &Game, findings: &Findings, opening: Option<Opening>, ply: usize) -> Chart {
    let subtitle =
        opening.map_or_else(String::new, |Opening { eco, name }| format!("{eco} {name}"));
    let [white, black] = tools::players(game);
    let players = [(white, Color::White), (black, Color::Black)].map(|(name, color)| {
        let tally = findings.tally(color);
        let (accuracy, loss) = (mean(tally.mean_accuracy(), 1), mean(tally.mean_loss(), 0));
        let name = chart::shorten(&name, LONGEST_NAME);
        format!("{name}: accuracy {accuracy} %, average loss {loss} cp")
    });
    let point = |(i, evaluation): (usize, &Evaluation)| {
        let (score, pawns) = (evaluation.white, notation::pawns(evaluation.white));
        let Some(before) = i.checked_sub(1) else {
            return Point { score, text: format!("Start {pawns}"), ..Point::default() };
        };
        let (node, error) = (&game.main.moves[before], findings.error(before));
        // Use the sign in the game: it may be an annotator's own mark or that of the error.
        let sign = Item::judgement(&node.items).and_then(Nag::sign).unwrap_or_default();
        let is_error = matches!(sign, "?!" | "?" | "??") || error.is_some();
        let san = format!("{}{sign}", node.san);
        let is_blunder = sign == "??" || error == Some(Error::Blunder);
        Point {
            score,
            text: format!("{}{san} {pawns}", notation::number(&findings.positions[before])),
            sign: is_error.then_some(sign),
            label: is_blunder.then_some(san),
        }
    };
    let points = findings.evaluations.iter().enumerate().map(point).collect();
    Chart { title: tools::title(game), subtitle, players, ply, points }
}

/// Returns the row about a player on the page.
fn player_row(name: &str, tally: &Tally) -> Vec<String> {
    let means = [mean(tally.mean_accuracy(), 1), mean(tally.mean_loss(), 0)];
    let errors = tally.errors.map(|count| count.to_string());
    [name.to_owned()].into_iter().chain(means).chain(errors).collect()
}

/// Returns the line that reports a finished game.
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
        "{number:>4}  {white} - {black} {result}{opening} - accuracy {accuracy} %, loss {loss} cp, \
         {inaccuracies} ?!, {mistakes} ?, {blunders} ??"
    )
}

/// Formats a mean with this number of decimals, or `-` if there is none.
fn mean(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// Returns a table with a row for each player, the most accurate first.
fn players_table(players: &BTreeMap<String, Tally>) -> String {
    let mut players: Vec<_> = players.iter().collect();
    let accuracy = |tally: &Tally| tally.mean_accuracy().unwrap_or(-1.0);
    players.sort_by(|(_, a), (_, b)| accuracy(b).total_cmp(&accuracy(a)));
    let row = |(name, tally): (&String, &Tally)| {
        let [games, moves] = [tally.games, tally.moves].map(|count| count.to_string());
        let [accuracy, loss] = [tally.mean_accuracy(), tally.mean_loss()].map(|x| mean(x, 1));
        let errors = tally.errors.map(|count| count.to_string());
        [vec![name.clone(), games, moves, accuracy, loss], errors.into()].concat()
    };
    let header = ["player", "games", "moves", "accuracy %", "loss (cp)", "?!", "?", "??"];
    table(&header, 1.., players.into_iter().map(row))
}
