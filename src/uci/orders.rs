//! Carries out the [orders of a person](super::terminal): plays a game on the board, with Lancet as
//! an opponent, and saves and loads games.

use std::{
    io::{BufReader, Write},
    path::Path,
    time::Duration,
};

use anyhow::{Context as _, bail};
use vampirc_uci::{UciFen, UciMessage};

use super::{
    Dialogue, THINKING, Task, TaskGuard,
    extension::Extension,
    person,
    setup::Setup,
    show,
    terminal::{self, Order},
};
use crate::{
    chess::{lines, notation, pgn::read::Games, position::Game},
    engine::Job,
    play::{
        limits::Limits,
        report::{self, Silent},
        signals::Signals,
        strength::SKILL_RANGE,
    },
    system::{files, sync::lock},
    tools::{self, analyse::annotate, explain},
};

/// Answer to orders that would continue a game that is over.
const OVER: &str = "the game is over; 'new' starts another";

/// Thinking time for one of Lancet's moves, or for a hint.
const THINKING_TIME: Duration = Duration::from_secs(1);

impl<'a, W: Write + Send> Dialogue<'a, W> {
    /// Carries out a person's line if it is an order, and reports a misspelt order or command.
    /// Returns whether the dialogue goes on, or `None` for any other line.
    pub(super) fn order(&mut self, line: &[u8]) -> Option<bool> {
        let answering = self.awaits_answer();
        let line = lines::decode(line);
        let said = match terminal::parse(&line, self.setup.game().position()) {
            Ok(None) => Some(terminal::unknown(&line)?),
            Ok(Some(Order::Exit)) => return Some(self.line(b"quit")),
            Ok(Some(order)) => {
                self.carry_out_order(order, answering).err().map(|error| format!("{error:#}"))
            }
            Err(error) => Some(error.to_string()),
        };
        said.iter().for_each(|text| self.output.say(text));
        Some(true)
    }

    /// Returns whether this order needs a new game, because the current one is over.
    fn needs_new_game(&self, order: &Order) -> bool {
        let resigned = self.person.resigned(&self.setup).is_some();
        match order {
            // Moves may follow repetitions or fifty quiet moves: players need not claim the draw.
            Order::Moves(_) | Order::Redo(_) => resigned,
            Order::Play(_) | Order::Resign => resigned || self.setup.game().ending().is_some(),
            _ => false,
        }
    }

    /// Returns whether Lancet is still thinking about its move. If the move is known, plays it on
    /// the board, unless the position has changed meanwhile.
    pub(super) fn awaits_answer(&mut self) -> bool {
        // This must come first: a task that has ended has stored its move.
        let answering = self.is_answering();
        let answer = lock(&self.shared.answer).take();
        if let Some((key, m)) = answer
            && self.setup.game().position().key() == key
        {
            self.setup.play(m);
        }
        answering
    }

    fn carry_out_order(&mut self, order: Order, answering: bool) -> anyhow::Result<()> {
        let changes =
            !matches!(order, Order::ListMoves | Order::Board | Order::Help(_) | Order::Save(_));
        if changes && answering {
            bail!(THINKING);
        }
        if self.needs_new_game(&order) {
            bail!(OVER);
        }
        match order {
            Order::Moves(words) => self.play_words(&words)?,
            Order::Fen(fen) => {
                if self.set_up(Some(UciFen(fen)), Vec::new(), &[]) {
                    self.go_on();
                }
            }
            Order::Undo(count) => self.take_back(count)?,
            Order::Redo(count) => {
                if (0..count).map_while(|_| self.setup.redo()).count() == 0 {
                    bail!("nothing to redo");
                }
                if self.is_lancets_turn() {
                    self.setup.redo();
                }
                self.go_on();
            }
            Order::ListMoves => self.list_moves(),
            Order::Board => self.show_board(),
            Order::Flip => {
                self.person.turned = !self.person.turned;
                self.show_board();
            }
            Order::New => {
                self.carry_out_message(UciMessage::UciNewGame, Extension::default());
                self.set_up(None, Vec::new(), &[]);
                self.go_on();
            }
            Order::Resign => self.resign(),
            // `order` handles it.
            Order::Exit => {}
            Order::Play(color) => {
                let color = color.unwrap_or(self.setup.game().position().turn());
                self.person.lancet = Some(color);
                let name = notation::color_name(color);
                self.output
                    .say(&format!("Lancet plays {name}; 'play off' lets you play both sides"));
                self.answer();
            }
            Order::StopPlaying => {
                self.person.lancet = None;
                self.output.say("Lancet plays neither side; 'play' lets it play the side to move");
            }
            Order::Level(rating) => self.set_level(rating),
            Order::Hint => {
                if self.setup.game().position().legal_moves().is_empty() {
                    bail!("there is no legal move");
                }
                self.hint();
            }
            Order::Save(path) => {
                self.save(&path).with_context(|| format!("save: {}", path.display()))?;
            }
            Order::Load(path) => {
                self.load(&path).with_context(|| format!("load: {}", path.display()))?;
            }
            Order::Help(None) => {
                self.output.line(terminal::MOVES);
                self.lines(&show::table(terminal::ORDERS, None));
                self.lines(&show::help(None));
            }
            Order::Help(name) => self.lines(&show::table(terminal::ORDERS, name)),
        }
        Ok(())
    }

    fn play_words(&mut self, words: &[String]) -> anyhow::Result<()> {
        // If one move is wrong, none is played.
        let mut setup = self.setup.clone();
        for word in words {
            let position = setup.game().position();
            let m = notation::read_any_move(position, word)?;
            setup.play(m);
        }
        self.setup = setup;
        self.go_on();
        Ok(())
    }

    /// Takes moves back. In a game against Lancet, goes back until it is the person's turn, but
    /// does not take back Lancet's first move of the game.
    fn take_back(&mut self, count: usize) -> anyhow::Result<()> {
        let mut taken = self.setup.undo(count);
        if taken > 0 && self.is_lancets_turn() && self.setup.undo(1) == 0 {
            self.setup.redo();
            taken -= 1;
        }
        if taken == 0 {
            bail!("nothing to undo");
        }
        self.person.resigned = None;
        self.show_board();
        Ok(())
    }

    /// Continues the game from the current position: lets Lancet answer, or shows the board.
    fn go_on(&mut self) {
        if !self.answer() {
            self.show_board();
        }
    }

    /// Resigns for the person, or for the side to move if Lancet plays neither side.
    fn resign(&mut self) {
        let position = self.setup.game().position();
        let loser = self.person.lancet.map_or(position.turn(), |lancet| !lancet);
        self.person.resigned = Some((loser, position.key(), self.setup.moves().len()));
        let [loser, winner] = [loser, !loser].map(notation::color_name);
        self.output.say(&format!("{loser} resigns, {winner} wins; 'new' starts another game"));
    }

    fn is_lancets_turn(&self) -> bool {
        self.person.lancet == Some(self.setup.game().position().turn())
    }

    fn list_moves(&self) {
        let position = self.setup.game().position();
        let mut moves: Vec<String> =
            position.legal_moves().iter().map(|&m| notation::san(position, m)).collect();
        moves.sort_unstable();
        let mut row = String::new();
        for word in moves {
            if !row.is_empty() && row.len() + 1 + word.len() > person::width() {
                self.output.line(&std::mem::take(&mut row));
            }
            row = if row.is_empty() { word } else { format!("{row} {word}") };
        }
        self.output.line(if row.is_empty() { "There is no legal move." } else { &row });
    }

    fn show_board(&self) {
        self.lines(&show::board_and_state(self.setup.game(), self.person.below()));
    }

    fn set_level(&mut self, rating: Option<u32>) {
        if let Some(rating) = rating {
            if !self.set_option("UCI_Elo", Some(&rating.to_string())) {
                return;
            }
            self.output.say(&format!(
                "Lancet plays like a person rated {rating}; 'level full' returns to full strength"
            ));
        } else {
            self.set_option("Skill Level", Some(&SKILL_RANGE.end().to_string()));
            self.output.say("Lancet plays at full strength");
        }
        self.set_option("UCI_LimitStrength", Some(&rating.is_some().to_string()));
        // `set_option` has cleared the level.
        self.person.level = rating;
    }

    /// Lets Lancet answer, if it is its turn and the game is not over. Returns whether it does.
    fn answer(&mut self) -> bool {
        let game = self.setup.game();
        let turn = self.is_lancets_turn() && game.ending().is_none();
        if turn {
            let (output, shared, below) = (self.output, self.shared, self.person.below());
            self.think(Task::Answer, move |mut game, outcome, guard| {
                let Some(m) = outcome.best else { return };
                let root = game.position().clone();
                // Store the move before printing it, because the person's next order begins by
                // playing it on the board.
                *lock(&shared.answer) = Some((root.key(), m));
                drop(guard);
                game.play(m);
                output.line(&person::announced("Lancet plays", &root, m));
                let board = show::board_and_state(&game, below);
                board.iter().for_each(|line| output.line(line));
            });
        }
        turn
    }

    /// Shows what Lancet would play at full strength, and why.
    fn hint(&mut self) {
        let output = self.output;
        self.think(Task::Search, move |game, outcome, guard| {
            drop(guard);
            let Some(m) = outcome.best else { return };
            output.line(&person::announced("Hint:", game.position(), m));
            explain::sentence(&game, &outcome.info).iter().for_each(|text| output.say(text));
        });
    }

    /// Searches, and passes the outcome to `tell`. A [`Task::Answer`] is searched at the level that
    /// the person has set, and other tasks at full strength.
    fn think(
        &mut self,
        task: Task,
        tell: impl FnOnce(Game, report::Outcome, TaskGuard) + Send + 'a,
    ) {
        let (game, analyse) = (self.setup.game().clone(), task != Task::Answer);
        let limits = Limits { movetime: Some(THINKING_TIME), analyse, ..Limits::default() };
        self.start(task, Signals::default(), move |engine, signals, guard| {
            let job = Job { game, limits, signals };
            let outcome = engine.go(&job, &Silent);
            tell(job.game, outcome, guard);
        });
    }

    /// Saves the game. Does not overwrite files unless this dialogue has saved them.
    fn save(&mut self, path: &Path) -> anyhow::Result<()> {
        if !self.person.saved.contains(path) {
            files::refuse_existing(path)?;
        }
        files::replace(path, self.person.text(&self.setup).as_bytes())?;
        self.person.saved.insert(path.to_owned());
        let moves = notation::counted(self.setup.moves().len(), "half-move");
        self.output.say(&format!("saved {moves} to {}", path.display()));
        Ok(())
    }

    /// Loads the first game of a file, up to its last move.
    fn load(&mut self, path: &Path) -> anyhow::Result<()> {
        let mut games = Games::new(BufReader::new(files::open_regular(path)?));
        let read = games.next_game();
        if let Some(warning) = games.warning() {
            self.output.say(&format!("load: {}:{warning}", path.display()));
        }
        let game = read?.context("the file contains no game")??;
        let (start, moves) = annotate::replay(&game)?;
        let mut setup = Setup::from(Game::from(start));
        for m in moves {
            setup.play(m.context("a game with null moves cannot be loaded")?);
        }
        let players = tools::players(&game);
        let are_known = players.iter().any(|name| name != "?");
        let players = if are_known { players.join(" - ") + ", " } else { String::new() };
        let moves = notation::counted(setup.moves().len(), "half-move");
        self.output.say(&format!("loaded {players}{moves}"));
        self.person.forget();
        self.person.lancet = None;
        self.person.loaded = Some((game, setup.moves().to_vec()));
        self.setup = setup;
        self.show_board();
        Ok(())
    }
}
