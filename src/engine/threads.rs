//! Search threads, one per `Memory`, and the vote on their results. Their stacks are large enough
//! for any search.

use std::{
    hint::black_box,
    io,
    panic::resume_unwind,
    sync::{
        RwLock,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread::{self, Scope, ScopedJoinHandle},
    time::{Duration, Instant},
};

use crate::{
    chess::{position::Game, score::is_decisive},
    play::report::{Bound, Note},
    search::{Memory, Shared, Worker, root::SearchResult},
    system::{pages, stdio::complain},
};

/// Stack of a search thread, in bytes. `MAX_PLY` nodes need a few kilobytes each, and debug builds
/// several times as much.
pub const STACK_SIZE: usize = 16 << 20;
/// Memory that a thread needs besides its stack to start, in bytes. A generous estimate.
const SPARE: usize = 1 << 20;

/// Starts `f` on a thread of `scope` with a stack large enough for a search.
///
/// # Errors
///
/// If the system refuses another thread.
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    f: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    // A thread that gets its stack but no other memory would abort the program.
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(STACK_SIZE + SPARE)?;
    drop(black_box(room));
    let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_SIZE);
    builder.spawn_scoped(scope, f)
}

/// Runs these jobs, each on a thread with a stack large enough for a search, and waits for them. If
/// the system refuses a thread, the remaining jobs are not started, and a message on standard error
/// says so. Therefore the jobs must take their work from a common source, so that the jobs that
/// were started do all of it.
///
/// # Errors
///
/// If the system refuses the first thread.
///
/// # Panics
///
/// If a job panics.
pub fn all<F: FnOnce() + Send>(name: &str, jobs: impl IntoIterator<Item = F>) -> io::Result<()> {
    thread::scope(|scope| {
        for (number, job) in jobs.into_iter().enumerate() {
            match spawn(scope, name, job) {
                Ok(_) => {}
                Err(error) => {
                    let text = format!("cannot start a thread: {error}");
                    if number == 0 {
                        return Err(io::Error::new(error.kind(), text));
                    }
                    complain(text);
                    break;
                }
            }
        }
        Ok(())
    })
}

/// Runs `f` on a thread with a stack large enough for a search, and waits for it.
///
/// # Errors
///
/// If the system refuses another thread.
///
/// # Panics
///
/// If `f` panics.
pub fn run<T: Send>(name: &str, f: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = spawn(scope, name, f)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Longest time for which the first thread waits for the results of the others if time limits the
/// search (a clock or `movetime`). They check the stop flag every 64 nodes, but on a busy machine
/// they may not be running.
const PATIENCE: Duration = Duration::from_millis(5);

/// Searches with one thread per memory (Lazy SMP) and passes the results to `decide`. The result of
/// the first thread, which is the calling thread, comes first. `decide` may be called while some
/// helper threads are still running.
pub(super) fn search<T>(
    shared: &Shared,
    memories: &mut [Memory],
    game: &Game,
    decide: impl FnOnce(&[SearchResult]) -> T,
) -> T {
    let (first, others) = memories.split_at_mut(1);
    // The threads wait until all have been created. Hundreds of searching threads would leave this
    // one no time, and their page faults would keep it from mapping more stacks.
    let gate = &RwLock::new(());
    let closed = gate.write();
    let (sender, found) = mpsc::channel();
    thread::scope(|scope| {
        let mut helpers = Vec::with_capacity(others.len());
        for (memory, thread) in others.iter_mut().zip(1..) {
            let (arrival, arrived) = mpsc::channel::<()>();
            let sender = sender.clone();
            let run = move || {
                let worker = Worker::new(shared, memory, thread, game);
                drop(arrival);
                drop(gate.read());
                // A result that comes too late is ignored.
                let _ = sender.send(worker.run());
            };
            let spawned = memory_to_spare().and_then(|()| spawn(scope, "search", run));
            match spawned {
                Ok(handle) => {
                    // Wait for its allocations before the next check of the free memory.
                    let _ = arrived.recv();
                    helpers.push(handle);
                }
                Err(error) => {
                    shared.reporter.note(&Note::Thread { number: thread, error: &error });
                    break;
                }
            }
        }
        drop((closed, sender));
        let done = Done(&shared.done);
        let mut results = vec![Worker::new(shared, &mut first[0], 0, game).run()];
        drop(done);
        let deadline = shared.budget.map(|_| Instant::now() + PATIENCE);
        while let Some(result) = receive(&found, deadline) {
            results.push(result);
        }
        results.sort_by_key(|result| result.thread);
        let decision = decide(&results);
        for helper in helpers {
            // A panic of a helper has been reported, and the decision did not need its result.
            let _ = helper.join();
        }
        decision
    })
}

/// Returns the next result of a helper; `None` if there are no more, or after the deadline.
fn receive(found: &Receiver<SearchResult>, deadline: Option<Instant>) -> Option<SearchResult> {
    let Some(deadline) = deadline else { return found.recv().ok() };
    found.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

/// A guard that tells the helpers that the first thread has ended, even if it panics. Only the
/// first thread watches the clock.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Checks that eight stacks of memory (128 MiB) are free: one for the thread, the rest for its heap
/// and as a reserve. The program survives a refused stack, but a failed small allocation aborts it.
/// Therefore stacks must never take the last memory.
///
/// # Errors
///
/// If there is not enough memory.
fn memory_to_spare() -> io::Result<()> {
    if pages::is_available(8 * STACK_SIZE) {
        Ok(())
    } else {
        Err(io::ErrorKind::OutOfMemory.into())
    }
}

/// Returns the index of the result to play from. Each thread votes for its move. The weight of a
/// vote is its depth in plies times (its lead over the worst score, at most 1000 centipawns, plus
/// 14), similar to Stockfish's vote. If either of two scores is decisive, the better score wins
/// without a vote. A move that fails low has no vote. A move that fails high counts with its lower
/// bound.
pub(super) fn vote(results: &[SearchResult]) -> usize {
    let best = |i: usize| &results[i].moves[0];
    let voters = || (0..results.len()).filter(|&i| best(i).bound != Bound::Upper);
    let Some(mut chosen) = voters().next() else { return 0 };
    let worst = voters().map(|i| best(i).score).min().unwrap_or(0);
    let weight = |i: usize| {
        i64::from((best(i).score - worst).clamp(0, 1000) + 14) * i64::from(results[i].depth)
    };
    let votes =
        |i: usize| -> i64 { voters().filter(|&j| best(j).m == best(i).m).map(weight).sum() };
    for i in voters().skip(1) {
        let better = if is_decisive(best(chosen).score) || is_decisive(best(i).score) {
            best(i).score > best(chosen).score
        } else {
            votes(i) > votes(chosen) || (votes(i) == votes(chosen) && weight(i) > weight(chosen))
        };
        if better {
            chosen = i;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chess::{position::Position, score::MATE},
        search::root,
    };

    /// At least two thirds of the requested stack are usable.
    #[test]
    fn a_search_thread_has_its_stack() {
        let sum = run("test", || {
            let bytes = std::hint::black_box([1_u8; STACK_SIZE / 3 * 2]);
            bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>()
        });
        assert_eq!(sum.unwrap(), STACK_SIZE / 3 * 2);
    }

    #[test]
    fn a_panic_propagates_to_the_caller() {
        let panicked = std::panic::catch_unwind(|| run("test", || resume_unwind(Box::new(42))));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&42));
    }

    /// Returns the index chosen from these results: depth, index of the best move in the start
    /// position's list, its score and bound type.
    fn elected(found: &[(u32, usize, i32, Bound)]) -> usize {
        let results: Vec<SearchResult> = found
            .iter()
            .map(|&(depth, place, score, bound)| {
                let mut moves = root::moves(&Position::default(), &[]);
                moves.swap(0, place);
                (moves[0].score, moves[0].bound) = (score, bound);
                SearchResult {
                    thread: place,
                    depth,
                    reported: depth,
                    moves,
                    stability: Default::default(),
                    no_mate: false,
                }
            })
            .collect();
        vote(&results)
    }

    #[test]
    fn threads_vote() {
        use Bound::{Exact, Lower, Upper};
        // Depth counts, then the score. The first thread wins ties.
        assert_eq!(elected(&[(10, 0, 20, Exact)]), 0);
        assert_eq!(elected(&[(10, 0, 20, Exact), (10, 1, 20, Exact)]), 0);
        assert_eq!(elected(&[(10, 0, 20, Exact), (12, 1, 20, Exact)]), 1);
        assert_eq!(elected(&[(10, 0, 20, Exact), (10, 1, 30, Exact)]), 1);
        // Two threads that agree outvote a deeper thread. The deeper of the two is chosen.
        let three = [(13, 1, 20, Exact), (10, 2, 20, Exact), (11, 2, 20, Exact)];
        assert_eq!(elected(&three), 2);
        // A fail high counts with its score. A fail low has no vote.
        assert_eq!(elected(&[(10, 0, 20, Exact), (10, 1, 30, Lower)]), 1);
        assert_eq!(elected(&[(10, 0, 20, Lower), (10, 1, 10, Exact)]), 0);
        assert_eq!(elected(&[(10, 0, -20, Upper), (9, 1, -90, Exact)]), 1);
        assert_eq!(elected(&[(10, 0, -20, Upper), (9, 1, 90, Upper)]), 0);
        // A fail low does not affect the weight of the other votes.
        let lost = [(10, 0, 20, Exact), (10, 1, 30, Exact), (9, 2, -MATE, Upper)];
        assert_eq!(elected(&lost), 1);
        // The shortest mate wins, however few threads found it. Any score beats being mated.
        let mates = [(20, 0, MATE - 9, Exact), (20, 0, MATE - 9, Exact), (8, 1, MATE - 5, Exact)];
        assert_eq!(elected(&mates), 2);
        assert_eq!(elected(&[(9, 0, 8 - MATE, Exact), (8, 1, -500, Exact)]), 1);
        assert_eq!(elected(&[(9, 0, -500, Exact), (20, 1, 8 - MATE, Exact)]), 0);
    }
}
