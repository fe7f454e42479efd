#!/usr/bin/env python3
"""Screens many ideas for the search at once.

Each idea is a switch: a UCI option with one value that turns the idea off and one that turns it on.
The engine must be built with these options: `cargo build --release --features tune`. In each pair
of games, the switches of the first player are on or off at random, and the second player has the
opposite settings. Both play the same opening with both colours. A regression of the pairs' scores
on the switches then estimates the gain of each switch. Every pair gives information about every
switch, so 16 ideas need no more games than one.

    tests/screen.py play screen.csv --engine target/release/lancet --book book.epd \\
        --nodes 25000 --pairs 4500 --set rfp_least=30 rfp_worsening=0:28:3 lmr_cutoffs=684:0:0
    tests/screen.py tell screen.csv

A switch is NAME=OFF:ON:PRIOR. PRIOR is the expected gain in Elo. It is 60 % of the published gain
if at least two engines have the idea, and 0 if only one has it. `play` needs fastchess. If the run
is stopped, the same command continues it. `--set` sets an option for both players, for example to
turn on an idea that an earlier screen selected.

`tell` prints the measured gain of each switch with its standard error, and the posterior mean. The
posterior mean is a weighted mean of the measured gain and the prior. The true gains of such ideas
have a standard deviation of about 2.5 Elo. The weight of a measurement is 2.5^2 / (2.5^2 + e^2),
where e is its standard error. An idea is selected for a match if its posterior mean is above 0.7.
"""

import argparse
import concurrent.futures
import csv
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

SPREAD = 2.5  # standard deviation of the true gains of ideas, in Elo
SELECTED = 0.7  # posterior mean above which an idea is selected, in Elo


def play_pair(args, chance, options):
    """Plays one pair of games. `options` are the options of the first player and those of the
    second. Returns the score of the first player, from 0 to 2."""
    common = [f"option.{option}" for option in args.set]
    players = []
    for name, own in zip(("first", "second"), options):
        players += ["-engine", f"cmd={args.engine}", f"name={name}", *common]
        players += [f"option.{option}={value}" for option, value in own.items()]
    start = 1 + chance.randrange(sum(1 for _ in open(args.book)))
    with tempfile.TemporaryDirectory() as folder:
        command = [args.fastchess, *players]
        command += ["-each", "proto=uci", f"option.Hash={args.hash}"]
        if args.clock:
            # The engines measure time in nodes, so fastchess must not enforce its own clock.
            command += [f"tc={args.clock}", "timemargin=1000000", f"option.nodestime={args.nodestime}"]
        else:
            command += ["tc=inf", f"nodes={args.nodes}"]
        command += ["-openings", f"file={os.path.abspath(args.book)}", "format=epd", "order=sequential"]
        command += [f"start={start}", "-rounds", "1", "-games", "2", "-repeat", "-concurrency", "1"]
        command += ["-resign", "movecount=4", "score=600", "twosided=true"]
        command += ["-draw", "movenumber=34", "movecount=8", "score=15"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    games = re.findall(r"Finished game \d+ \((\w+) vs \w+\): (\S+) \{(.*)\}", run.stdout)
    if len(games) != 2 or any("illegal" in why or "disconnect" in why for _, _, why in games):
        raise RuntimeError(f"a pair was not completed:\n{run.stdout}{run.stderr}")
    white = {"1-0": 1, "1/2-1/2": 0.5, "0-1": 0}
    return sum(white[end] if first == "first" else 1 - white[end] for first, end, _ in games)


def read(path, head):
    """Returns the rows of a file of results, without the header. A new file gets `head` as its
    header."""
    rows = []
    if os.path.exists(path):
        with open(path, newline="") as file:
            rows = list(csv.reader(file))
    if rows and rows[0] != head:
        sys.exit(f"{path}: expected the header {head}, found {rows[0]}; choose another file")
    if not rows:
        with open(path, "w", newline="") as file:
            csv.writer(file).writerow(head)
    return rows[1:]


def play_pairs(args, head, prepare, learn=lambda number, score: None):
    """Plays the pairs that the file of results does not have yet, and adds them to it. `prepare`
    takes the number of a pair, and returns its random generator, the options of both players and
    the additional cells of its row. `learn` takes the number and the score of each pair, old or
    new."""
    done = set()
    for row in read(args.file, head):
        done.add(int(row[0]))
        learn(int(row[0]), float(row[1]))
    lock = threading.Lock()
    with open(args.file, "a", newline="") as file:
        writer = csv.writer(file)

        def work(number):
            with lock:
                chance, options, cells = prepare(number)
            score = play_pair(args, chance, options)
            with lock:
                learn(number, score)
                writer.writerow([number, score, *cells])
                file.flush()

        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for _ in pool.map(work, (n for n in range(args.pairs) if n not in done)):
                pass


def play(args):
    switches = []
    for text in args.switches:
        name, values = text.split("=")
        off, on, prior = values.split(":")
        switches.append((name, off, on, float(prior)))

    def prepare(number):
        chance = random.Random(f"{args.seed} {number}")
        signs = [chance.choice((-1, 1)) for _ in switches]
        options = [
            {name: on if sign * side > 0 else off for (name, off, on, _), sign in zip(switches, signs)}
            for side in (1, -1)
        ]
        return chance, options, signs

    play_pairs(args, ["pair", "score", *args.switches], prepare)
    tell(args)


def solve(matrix, right):
    """Returns the inverse of a symmetric matrix and the product of that inverse with `right`.
    Uses Gauss-Jordan elimination."""
    n = len(right)
    rows = [row[:] + [float(i == j) for j in range(n)] for i, row in enumerate(matrix)]
    for i in range(n):
        best = max(range(i, n), key=lambda j: abs(rows[j][i]))
        if abs(rows[best][i]) < 1e-9:
            sys.exit("too few pairs: some switches were always set together")
        rows[i], rows[best] = rows[best], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i])]
    inverse = [row[n:] for row in rows]
    return inverse, [sum(a * b for a, b in zip(row, right)) for row in inverse]


def estimate(n, signs, scores):
    """Returns the gain of each of `n` switches and its standard error, in Elo. `scores` are the
    scores of pairs, from 0 to 2."""
    count = len(signs)
    if count <= n:
        sys.exit(f"too few pairs: {count} for {n} switches")
    # The score of each pair in Elo, linearised at an even score.
    elo = [(score / 2 - 0.5) * 1600 / math.log(10) for score in scores]
    matrix = [[sum(row[i] * row[j] for row in signs) for j in range(n)] for i in range(n)]
    right = [sum(row[i] * y for row, y in zip(signs, elo)) for i in range(n)]
    inverse, effects = solve(matrix, right)
    rest = sum(
        (y - sum(effect * sign for effect, sign in zip(effects, row))) ** 2
        for row, y in zip(signs, elo)
    ) / (count - n)
    # A switch is on for one player and off for the other, so the effect is the full gain.
    return [(effect, math.sqrt(rest * inverse[i][i])) for i, effect in enumerate(effects)]


def tell(args):
    with open(args.file, newline="") as file:
        head, *rows = list(csv.reader(file))
    signs, scores = [[int(sign) for sign in row[2:]] for row in rows], [float(row[1]) for row in rows]
    found = estimate(len(head) - 2, signs, scores)
    print(f"{2 * len(rows)} games; gains in Elo, with standard errors\n")
    print(f"{'switch':34} {'prior':>6} {'measured':>16} {'posterior':>10}")
    for switch, (gain, error) in zip(head[2:], found):
        prior = float(switch.rsplit(":", 1)[1])
        weight = SPREAD**2 / (SPREAD**2 + error**2)
        mean = weight * gain + (1 - weight) * prior
        verdict = "select" if mean > SELECTED else ""
        print(f"{switch:34} {prior:6.1f} {gain:+9.1f} +/- {error:3.1f} {mean:+9.1f}  {verdict}")


def program(name):
    """Returns the absolute path of a program."""
    path = shutil.which(name)
    if path is None:
        raise argparse.ArgumentTypeError(f"cannot find the program '{name}'")
    return os.path.abspath(path)


def main(doc, play, tell, arguments):
    """Runs a script with the commands `play` and `tell`. `arguments` adds the arguments that only
    this script's `play` has."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    player = commands.add_parser("play", help="play games, or continue a run that was stopped")
    player.add_argument("file", help="results of the games, a CSV file")
    arguments(player)
    player.add_argument(
        "--engine", required=True, type=program, help="a build with the feature `tune`"
    )
    player.add_argument("--book", required=True, help="opening book, an EPD file")
    player.add_argument("--fastchess", default="fastchess", type=program, help="path of fastchess")
    player.add_argument("--nodes", type=int, default=25_000, help="nodes per move")
    player.add_argument("--pairs", type=int, default=4_500, help="number of pairs of games")
    player.add_argument("--clock", help="time control such as 2+0.02, to use instead of --nodes")
    player.add_argument("--nodestime", type=int, default=500, help="nodes per ms of --clock")
    player.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="set an option for both players; may be repeated",
    )
    player.add_argument("--hash", type=int, default=16, help="size of the hash table in MiB")
    player.add_argument("--jobs", type=int, default=os.cpu_count(), help="pairs in parallel")
    player.add_argument("--seed", default="1", help="seed of the random choices and openings")
    player.set_defaults(run=play)
    teller = commands.add_parser("tell", help="print the results")
    teller.add_argument("file", help="results of `play`")
    teller.set_defaults(run=tell)
    args = parser.parse_args()
    args.run(args)


def arguments(player):
    player.add_argument("switches", nargs="+", metavar="NAME=OFF:ON:PRIOR")


if __name__ == "__main__":
    main(__doc__, play, tell, arguments)
