#!/usr/bin/env bash
# What a release passes. To be run on x86-64 Linux, on a machine that does nothing else.
#
#     tests/gate.sh [STEP...]     all of them by default; the first that fails ends the run
#
#     checks       .ci/run: format, lints, dependencies, tests, benchmark
#     hostile      100,000 random lines, 1,000 interleavings, 10,000 searches, a million delays
#     mates        2,000 mates, 100,000 nodes each: no wrong sign, no false distance
#     perft        every suite to 10 million nodes a position, by the rules and through the search
#     platforms    tests/platforms.sh: the same answers and counts under Windows, on ARM, on older processors
#     readme       the README's commands, as they are written there
#     compliance   fastchess --compliance
#     games        200 games at 0.2 s + 0.002 s: none lost on time, none ended by a fault
#     release      the files that a release page offers, with their checksums
#
# Needs what tests/platforms.sh needs, cargo-deny, the test data beside the checkout, and
# fastchess (FASTCHESS says where it is).
set -euo pipefail
cd "$(dirname "$0")/.."

FASTCHESS=$(realpath "$(command -v "${FASTCHESS:-fastchess}")" 2>/dev/null) || { echo 'no fastchess here: FASTCHESS=/path/to/fastchess' >&2; exit 2; }
STEPS=(checks hostile mates perft platforms readme compliance games release)
root=$PWD
lancet=$root/target/release/lancet
work=$(mktemp -d)
step=tools

finish() {
    local status=$?
    rm -rf "$work"
    [ "$status" = 0 ] || printf '\nNOT PASSED: %s\n' "$step" >&2
}
trap finish EXIT

# Nothing may be left out.
checks() {
    [ -d ../shared/data/syzygy ] || { echo 'no test data beside the checkout' >&2; return 1; }
    .ci/run | tee "$work/checks"
    ! grep '^NOT CHECKED' "$work/checks"
}

hostile() {
    local filter
    # One by one: a name that no test has any more is noticed.
    for filter in nothing_is_lost commands_at_any_time memory_stays_flat delays_never; do
        cargo test --locked --test suite -- --ignored --nocapture --test-threads 1 "$filter" | .ci/some
    done
}

mates() { cargo test --locked --test suite -- --ignored --nocapture announced_mates | .ci/some; }

perft() {
    local layer
    for layer in rules search; do
        "$lancet" perft --suite perft/*.epd --max-nodes 10000000 --threads "$(nproc)" --through "$layer"
    done
}

platforms() { PROFILE=release tests/platforms.sh --require; }

# In a folder with the games that the commands name, and the suites.
readme() {
    local line status
    cargo run --release <<<quit
    cargo install --locked --path . --root "$work" --target-dir target
    mkdir "$work/desk"
    cp src/tools/analyse/sample/games.pgn "$work/desk/"
    cp src/tools/analyse/sample/games.pgn "$work/desk/game.pgn"
    ln -s "$root/epd" "$root/perft" "$work/desk/"
    cd "$work/desk"
    export PATH=$work/bin:$PATH
    grep '^    setoption ' "$root/README.md" | lancet | tee said
    grep -q 'Load Hash: [0-9]* MiB from' said
    while read -r line; do
        printf '\n$ %s\n' "$line"
        status=0
        # What takes hours ends at one Ctrl-C, with its results; the rest ends by itself.
        timeout --foreground --preserve-status --signal INT 300 bash -c "$line" </dev/null >said 2>&1 || status=$?
        cat said
        case $line in
        *--hours*) [ "$status" = 130 ] && grep -q '^Interrupted' said || return 1 ;;
        *) [ "$status" = 0 ] || return 1 ;;
        esac
    done < <(grep '^    lancet ' "$root/README.md")
    cd "$root"
}

compliance() { (cd "$work" && "$FASTCHESS" --compliance "$lancet"); }

games() {
    grep -v Chess960 epd/bench.epd >"$work/openings.epd"
    # fastchess leaves its settings where it runs.
    (cd "$work" && "$FASTCHESS" -engine cmd="$lancet" name=one -engine cmd="$lancet" name=two \
        -each proto=uci tc=0.2+0.002 option.Hash=64 -openings file=openings.epd format=epd order=random \
        -rounds 100 -games 2 -repeat -recover -concurrency 1 -pgnout file=games.pgn)
    grep '^\[Termination ' "$work/games.pgn" | sort | uniq -c
    [ "$(grep -cE '^\[Termination "(normal|adjudication)"' "$work/games.pgn")" = 200 ]
}

release() {
    make release
    (cd dist && sha256sum --check SHA256SUMS && ls -l)
}

for name in "$@"; do
    if [[ " ${STEPS[*]} " != *" $name "* ]]; then
        echo "unknown step '$name': expected ${STEPS[*]}" >&2
        exit 2
    fi
done
[ $# -gt 0 ] || set -- "${STEPS[@]}"
step=build
cargo build --locked --release
for step in "$@"; do
    printf '\n=== %s\n' "$step"
    started=$SECONDS
    "$step"
    printf '=== %s passed in %d s\n' "$step" $((SECONDS - started))
done
printf '\nPASSED: %s\n' "$*"
