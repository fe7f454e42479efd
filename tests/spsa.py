#!/usr/bin/env python3
"""Tunes the search constants in games, by SPSA (J. C. Spall, 1992) with fishtest's schedule.

In each iteration, all constants move up or down at random for the first player, and the other way
for the second. The two play one pair of games, and the constants then move a little towards the
side that scored more. The engine must be built with `cargo build --release --features tune`. Its
UCI command `spsa` lists the constants with their ranges and steps. A step is the size of the
perturbation at the end of the run (fishtest's c_end).

    tests/spsa.py play spsa.csv --engine target/release/lancet --book book.epd \\
        --nodes 40000 --pairs 6000 --skip optimism_most
    tests/spsa.py tell spsa.csv

`play` needs fastchess. If the run is stopped, the same command continues it. `--pairs` is the
length of the whole run and determines the schedule. The openings, the directions and the rounding
depend only on --seed and the number of the pair.

`tell` prints the constants with their old and new values, and by how many steps they have moved.
"""

import csv
import math
import random
import subprocess
import sys

from screen import main, play_pairs

ALPHA, GAMMA = 0.602, 0.101  # exponents of the schedule, as in fishtest
START = 0.1  # the schedule's constant A, as a share of all iterations


class Run:
    """The constants during a run. The texts of `constants` are NAME=VALUE:MIN:MAX:STEP."""

    def __init__(self, constants, pairs, rate, seed):
        self.constants, self.values = [], []
        for text in constants:
            name, numbers = text.split("=")
            value, *limits = map(float, numbers.split(":"))
            self.constants.append((name, *limits))
            self.values.append(value)
        self.pairs, self.rate, self.seed = pairs, rate, seed

    def directions(self, k):
        """Returns the random generator of iteration `k`, and the direction of each constant."""
        chance = random.Random(f"{self.seed} {k}")
        return chance, [chance.choice((-1, 1)) for _ in self.values]

    def perturbation(self, k):
        """Returns the perturbation in iteration `k`, in steps."""
        return (self.pairs / (k + 1)) ** GAMMA

    def options(self, k):
        """Returns the random generator and the options of both players. Values are rounded at
        random, so that steps below 1 have an effect."""
        chance, signs = self.directions(k)
        players = []
        for side in (1, -1):
            own = {}
            for (name, least, most, step), value, sign in zip(self.constants, self.values, signs):
                value += side * sign * step * self.perturbation(k)
                own[name] = math.floor(min(max(value, least), most) + chance.random())
            players.append(own)
        return chance, players

    def update(self, k, score):
        """Moves the constants after a pair in which the first player scored `score`, from 0 to
        2."""
        _, signs = self.directions(k)
        start = START * self.pairs
        rate = self.rate * ((start + self.pairs) / (start + k + 1)) ** ALPHA / self.perturbation(k)
        for i, ((_, least, most, step), sign) in enumerate(zip(self.constants, signs)):
            moved = self.values[i] + sign * rate * step * 2 * (score - 1)
            self.values[i] = min(max(moved, least), most)


def play(args):
    command = [args.engine, "spsa", "quit"]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    constants = {}
    for line in listed.splitlines():
        name, _, value, least, most, step, _ = line.split(", ")
        constants[name] = f"{name}={value}:{least}:{most}:{step}"
    for name in args.skip:
        if constants.pop(name, None) is None:
            sys.exit(f"--skip {name}: {args.engine} has no such constant")
    # Without a clock, the constants of the clock have no effect.
    texts = [text for name, text in constants.items() if args.clock or not name.startswith("clock_")]
    run = Run(texts, args.pairs, args.rate, args.seed)
    head = ["pair", "score", f"{args.seed} {args.pairs} {args.rate}", *texts]
    play_pairs(args, head, lambda k: (*run.options(k), []), run.update)
    tell(args)


def tell(args):
    with open(args.file, newline="") as file:
        head, *rows = list(csv.reader(file))
    seed, pairs, rate = head[2].rsplit(" ", 2)
    run = Run(head[3:], int(pairs), float(rate), seed)
    before = list(run.values)
    for k, score in rows:
        run.update(int(k), float(score))
    print(f"{len(rows)} of {pairs} pairs\n")
    print(f"{'constant':24} {'old':>6} {'new':>6} {'steps':>6}")
    for (name, *_, step), old, new in zip(run.constants, before, run.values):
        print(f"{name:24} {old:6.0f} {new:6.0f} {(new - old) / step:+6.1f}")


def arguments(player):
    player.add_argument("--rate", type=float, default=0.005, help="learning rate at the end")
    player.add_argument(
        "--skip", nargs="*", default=[], metavar="NAME", help="constants that stay as they are"
    )


if __name__ == "__main__":
    main(__doc__, play, tell, arguments)
