#!/usr/bin/env bash
# Runs the tests that a release must pass. Run it on x86-64 Linux, on a quiet machine. It takes
# about two and a half hours on two cores.
#
#     tests/gate.sh [STEP...]     by default all steps; stops at the first step that fails
#
#     checks       .ci/run: format, lints, dependencies, tests, packaging, benchmark
#     hostile      100,000 random lines of input; 1,000 bursts of commands; constant memory over
#                  10,000 searches; in the lab, a million pairs of a random game tree and a window;
#                  12,200 mutated files of seven kinds, read without root privileges
#     mates        2,000 mates, 100,000 nodes each: no announced mate is for the wrong side or
#                  shorter than the known distance
#     sentences    the sentences of explain for 500 positions, checked by the rules, tablebases and
#                  other searches
#     perft        all suites: counts of up to 10 million nodes by the rules, of up to one million
#                  through the search, and of up to 100,000 through the network
#     platforms    tests/platforms.sh: the same output and node counts on Windows, ARM and older
#                  processors
#     readme       the `lancet` commands and the Python example in the README, as written there
#     compliance   fastchess --compliance
#     games        200 games at 0.2 s + 0.002 s: no loss on time, no crash
#     release      the archives of a release: their checksums, and that their engines give the same
#                  results as the native program
#
# Requirements. The script first checks those of the chosen steps:
#     - the requirements of tests/platforms.sh and .ci/release
#     - cargo-deny
#     - the Git history with its 'Bench:' lines
#     - the test data next to the checkout
#     - python-chess, for the example in the README
#     - fastchess, https://github.com/Disservin/fastchess, on the PATH or at $FASTCHESS
set -euo pipefail
cd "$(dirname "$0")/.."

FASTCHESS=$(realpath "$(command -v "${FASTCHESS:-fastchess}")" 2>/dev/null) || FASTCHESS=
STEPS=(checks hostile mates sentences perft platforms readme compliance games release)
root=$PWD
lancet=$(realpath -m "${CARGO_TARGET_DIR:-target}")/release/lancet
work=$(mktemp -d)
step=tools

finish() {
    local status=$?
    rm -rf "$work"
    [ "$status" = 0 ] || printf '\nNOT PASSED: %s\n' "$step" >&2
}
trap finish EXIT

# tools STEP...: lists the missing requirements of these steps. For 'platforms', tests/platforms.sh
# lists them.
tools() {
    local missing=0
    lacks() { echo "missing: $*" >&2; missing=1; }
    for name in "$@"; do
        case $name in
        checks | hostile | mates | sentences | platforms | release)
            [ -d ../shared/data/syzygy ] || lacks 'the test data next to the checkout (../shared/data)'
            ;;&
        checks | release)
            git log -1 --grep='^Bench: ' --format=%H | grep -q . || lacks "history with 'Bench:' lines (run 'git fetch --unshallow')"
            ;;&
        checks)
            if ! cargo deny --version >/dev/null 2>&1; then
                lacks "cargo-deny (run 'cargo install --locked cargo-deny')"
            elif ! .ci/advisories; then
                lacks "the advisory database: 'cargo deny fetch db' failed"
            fi
            ;;
        compliance | games) [ -n "$FASTCHESS" ] || lacks "fastchess, for '$name': set FASTCHESS=/path/to/fastchess" ;;
        platforms) tests/platforms.sh --tools || lacks 'the tools listed above' ;;
        release)
            for tool in make zip; do
                command -v "$tool" >/dev/null || lacks "$tool, for the release"
            done
            .ci/guided --tools || lacks 'llvm-profdata, for the release'
            tests/platforms.sh --tools release || lacks 'the tools listed above'
            ;;
        readme) python3 -c 'import chess.engine' || lacks "python-chess (run 'pip install chess')" ;;
        esac
    done
    [ "$missing" = 0 ]
}

# A check that was skipped fails the gate.
checks() {
    .ci/run | tee "$work/checks"
    ! grep '^NOT CHECKED' "$work/checks"
}

hostile() {
    local filter
    # Run the filters one by one, so that a filter that matches no test fails.
    for filter in nothing_is_lost commands_at_any_time memory_stays_flat delays_never hostile_files; do
        cargo test --locked --workspace --test suite -- --ignored --nocapture --test-threads 1 "$filter" | .ci/some
    done
}

mates() { cargo test --locked --test suite -- --ignored --nocapture announced_mates | .ci/some; }

sentences() { cargo test --locked --test suite -- --ignored --nocapture what_is_said | .ci/some; }

perft() {
    local layer
    for layer in rules:10000000 search:1000000 network:100000; do
        "$lancet" perft --suite perft/*.epd --max-nodes "${layer#*:}" --threads "$(nproc)" \
            --through "${layer%:*}"
    done
}

platforms() { PROFILE=release tests/platforms.sh --require; }

# Runs the commands in a folder with the suites and the games that the commands name.
readme() {
    local line status commands
    # The first command starts the engine and is run here. The second runs the tests, as the step
    # 'checks' does.
    commands=$(grep '^    cargo ' README.md)
    [ "$(wc -l <<<"$commands")" = 2 ]
    bash -c "$(head -1 <<<"$commands")" <<<quit
    cargo install --locked --path . --root "$work" --target-dir "${lancet%/release/lancet}"
    mkdir "$work/desk"
    cp src/tools/analyse/sample/games.pgn "$work/desk/"
    cp src/tools/analyse/sample/games.pgn "$work/desk/game.pgn"
    ln -s "$root/epd" "$root/perft" "$work/desk/"
    cd "$work/desk"
    export PATH=$work/bin:$PATH
    {
        grep '^    setoption ' "$root/README.md"
        echo 'setoption name Load Hash'
    } | lancet | tee said
    grep -q 'Load Hash: loaded [0-9]* MiB from' said
    while read -r line; do
        printf '\n$ %s\n' "$line"
        status=0
        # One Ctrl-C ends a command that takes hours, and it then prints its results. The others end
        # by themselves. Ctrl-C is ignored if this script runs in the background, so `env` resets it.
        timeout --foreground --preserve-status --signal INT 300 \
            env --default-signal=INT bash -c "$line" </dev/null >said 2>&1 || status=$?
        cat said
        case $line in
        *--hours*) [ "$status" = 130 ] && grep -q '^Interrupted' said || return 1 ;;
        *) [ "$status" = 0 ] || return 1 ;;
        esac
    done < <(grep '^    lancet ' "$root/README.md")
    [ -n "${status-}" ] # at least one command ran
    cd "$root"
    # The example prints three lines with scores, and a move.
    sed -n '/^    import chess$/,/^[^ ]/s/^    //p' README.md | sed "s|target/release/lancet|$lancet|" >"$work/example.py"
    python3 "$work/example.py" | tee "$work/example"
    [ "$(wc -l <"$work/example")" = 4 ]
}

compliance() { (cd "$work" && "$FASTCHESS" --compliance "$lancet"); }

games() {
    grep -v Chess960 epd/bench.epd >"$work/openings.epd"
    # fastchess writes its settings to the current directory.
    (cd "$work" && "$FASTCHESS" -engine cmd="$lancet" name=one -engine cmd="$lancet" name=two \
        -each proto=uci tc=0.2+0.002 option.Hash=64 -openings file=openings.epd format=epd order=random \
        -rounds 100 -games 2 -repeat -recover -concurrency 1 -pgnout file=games.pgn)
    grep '^\[Termination ' "$work/games.pgn" | sort | uniq -c
    [ "$(grep -cE '^\[Termination "(normal|adjudication)"' "$work/games.pgn")" = 200 ]
}

release() {
    make release
    (cd dist && sha256sum --check SHA256SUMS && ls -l)
    PROFILE=release tests/platforms.sh --require release
}

for name in "$@"; do
    if [[ " ${STEPS[*]} " != *" $name "* ]]; then
        echo "unknown step '$name': expected one of: ${STEPS[*]}" >&2
        exit 2
    fi
done
[ $# -gt 0 ] || set -- "${STEPS[@]}"
tools "$@"
step=build
cargo build --locked --release
for step in "$@"; do
    printf '\n=== %s\n' "$step"
    started=$SECONDS
    "$step"
    printf '=== %s passed in %d s\n' "$step" $((SECONDS - started))
done
printf '\nPASSED: %s\n' "$*"
