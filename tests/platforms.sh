#!/usr/bin/env bash
# Checks that Lancet behaves the same on Windows, 64-bit ARM and older processors as on this
# machine. Run it on x86-64 Linux. Programs for Windows run under Debian's wine, the others under
# qemu-user.
#
#     tests/platforms.sh [--require | --tools] [windows] [arm] [processors] [avx512] [release]
#
# By default, all parts except release run. Parts whose tools are missing are skipped with a notice,
# but with `--require` they fail. With `--tools`, the script only lists the missing tools.
#
# Parts and their tools:
#     windows      wine64, mingw-w64, script (util-linux), rustup target add x86_64-pc-windows-gnu
#     arm          qemu-user, rustup target add aarch64-unknown-linux-musl
#     processors   qemu-user
#     avx512       qemu-user; on a machine without AVX-512, also the tools of windows, to test the
#                  program for Windows
#     release      unzip, the tools of windows and arm, and the archives that `make release` builds
#
# The script tests development builds, which behave like release builds. PROFILE=release tests
# release builds.
set -euo pipefail
cd "$(dirname "$0")/.."

PROFILE=${PROFILE:-dev}
# Depth of the benchmark. In an emulator, the default depth takes minutes, but BENCH=7 takes only seconds.
BENCH=${BENCH:-}
WINE=$(command -v wine64 || echo /usr/lib/wine/wine64)
TARGET=x86_64-unknown-linux-gnu
work=$(mktemp -d)
failures=0
require=false
only_tools=false

finish() {
    # Ends the processes that wine leaves running.
    if [ -d "$work/prefix" ]; then
        WINEPREFIX=$work/prefix "${WINE%/*}/wineserver64" -k 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT

step() { printf '\n== %s\n' "$*"; }
fail() {
    printf 'FAILED: %s\n' "$*" >&2
    failures=$((failures + 1))
}
pass() { printf 'ok: %s\n' "$*"; }

# same NAME EXPECTED ACTUAL: checks that two texts are the same.
same() {
    if [ -n "$2" ] && [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1"
        diff <(printf '%s\n' "$2") <(printf '%s\n' "$3") | head -20 >&2 || true
    fi
}

# has NAME PATTERN TEXT: checks that a line of the text matches the pattern.
has() {
    if grep -Eq -- "$2" <<<"$3"; then
        pass "$1"
    else
        fail "$1: no '$2' in"
        printf '%s\n' "$3" | head -20 >&2
    fi
}

# has_tools TOOL...: checks that all tools are installed. target:TRIPLE is a target of rustup.
has_tools() {
    local tool missing=()
    for tool in "$@"; do
        case $tool in
        target:*) [ -d "$(rustc --print sysroot)/lib/rustlib/${tool#target:}" ] || missing+=("$tool") ;;
        *) command -v "$tool" >/dev/null || missing+=("$tool") ;;
        esac
    done
    [ ${#missing[@]} = 0 ] && return
    echo "NOT CHECKED, missing tools: ${missing[*]}"
    if $require; then failures=$((failures + 1)); fi
    return 1
}

# tools PART: checks that the tools of the part are installed.
tools() {
    case $1 in
    windows) has_tools "$WINE" x86_64-w64-mingw32-gcc target:x86_64-pc-windows-gnu ;;
    arm) has_tools qemu-aarch64 target:aarch64-unknown-linux-musl ;;
    processors | avx512) has_tools qemu-x86_64 ;;
    console) has_tools script ;;
    release) has_tools unzip ;;
    esac
}

has_avx512() { grep -qw avx512vl /proc/cpuinfo; }

# build TARGET PROCESSOR: builds the program and sets $built to its path.
build() {
    local suffix='' folder=$PROFILE
    [[ $1 == *windows* ]] && suffix=.exe
    [ "$PROFILE" = dev ] && folder=debug
    RUSTFLAGS="-C target-cpu=$2" cargo build --locked --quiet --profile "$PROFILE" --bin lancet --target "$1"
    built=$work/$1-$2$suffix
    cp "${CARGO_TARGET_DIR:-target}/$1/$folder/lancet$suffix" "$built"
}

# Removes the parts of an output that may differ: times, speed, the build, line endings.
without_times() {
    tr -d '\r' | sed -E 's/ (time|nps) [0-9]+//g; /^info string Lancet /d; /^info .*currmove/d'
}

# Extracts the node count from the output of the benchmark.
nodes() { tr -d '\r' | awk '/ nodes [0-9]+ nps$/ { print $1 }'; }

# talk COMMAND...: prints the program's output for a UCI dialogue that has the same output on every
# platform. Each search ends before the next command, as in a game.
talk() {
    "$@" 'setoption name Hash value 8' 'setoption name MultiPV value 2' 'position startpos moves e2e4 c7c5' \
        'go depth 8' 'setoption name MultiPV value 1' 'setoption name UCI_Chess960 value true' \
        'position fen bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9' 'go nodes 20000' d eval \
        'setoption name Threads value 0' 'go depth 3 nodes x' 'perft 3' xyzzy uci quit </dev/null 2>&1 | without_times
}

# compare NAME COMMAND...: checks that the program gives the same results as the native program.
compare() {
    local name=$1
    shift
    same "$name: dialogue" "$(talk "$native")" "$(talk "$@")"
    # shellcheck disable=SC2086 # an empty BENCH must not become an argument
    same "$name: benchmark" "$("$native" bench $BENCH 2>&1 | nodes)" "$("$@" bench $BENCH 2>&1 | tee >(tail -1 >&2) | nodes)"
    local suite=(epd epd/bk.epd --nodes 2000 --jobs 1)
    "$native" "${suite[@]}" --force --csv "$work/here.csv" >/dev/null
    "$@" "${suite[@]}" --force --csv "$out/there.csv" >/dev/null || fail "$name: epd"
    same "$name: epd" "$(solved "$work/here.csv")" "$(solved "$work/there.csv")"
    local games=(analyse src/tools/analyse/sample/games.pgn --nodes 500 --jobs 1)
    "$native" "${games[@]}" --out "$work/here.pgn" >/dev/null 2>&1
    "$@" "${games[@]}" --out "$out/there.pgn" >/dev/null 2>&1 || fail "$name: analyse"
    same "$name: analyse" "$(tr -d '\r' <"$work/here.pgn")" "$(tr -d '\r' <"$work/there.pgn")"
    rm -f "$work"/{here,there}.*
    local tables=('setoption name SyzygyPath value ../shared/data/syzygy' 'position fen 8/8/8/4k3/8/8/1R6/K5n1 w - - 0 1' 'go depth 6')
    if [ -d ../shared/data/syzygy ]; then
        same "$name: tablebases" "$("$native" "${tables[@]}" quit </dev/null | without_times)" \
            "$("$@" "${tables[@]}" quit </dev/null | without_times)"
    else
        echo "NOT CHECKED, $name: tablebases, no ../shared/data/syzygy"
    fi
    has "$name: threads" '^bestmove [a-h]' "$("$@" 'setoption name Threads value 3' 'go depth 8' quit </dev/null | tr -d '\r')"
    memory "$name" "$@"
}

# solved FILE: prints the columns of results that do not depend on time.
solved() { tr -d '\r' <"$1" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) keep[i] = $i !~ /time/ } { for (i = 1; i <= NF; i++) if (keep[i]) printf "%s,", $i; print "" }'; }

# memory NAME COMMAND...: sets a hash size that fits into memory, then one that does not.
memory() {
    local name=$1 text
    shift
    text=$("$@" 'setoption name Hash value 64' isready 'setoption name Hash value 1048576' isready 'go depth 5' quit </dev/null | tr -d '\r')
    has "$name: a hash table that is too large is refused with a message" 'not enough memory .*1048576 MiB; using an empty table of 64 MiB' "$text"
    has "$name: the engine still plays afterwards" '^bestmove [a-h]' "$text"
}

# comes FILE: waits until the file exists and is not empty, for a minute at most.
comes() {
    for _ in {1..600}; do
        [ ! -s "$1" ] || return 0
        sleep 0.1
    done
    fail "$1 did not appear within a minute"
}

# interrupt NAME COMMAND...: checks that Ctrl-C ends a long run and prints the results so far.
interrupt() {
    local name=$1 status=0 process
    shift
    # The file of an earlier part must not look like the output of this one.
    rm -f "$work/interrupted"
    # A shell without job control starts background jobs with Ctrl-C ignored.
    env --default-signal=INT "$@" epd epd/wac.epd --movetime 300 --jobs 1 >"$work/interrupted" 2>/dev/null </dev/null &
    process=$!
    comes "$work/interrupted"
    kill -INT "$process"
    wait "$process" || status=$?
    same "$name: Ctrl-C, exit status" 130 "$status"
    has "$name: Ctrl-C, results so far" '^Interrupted' "$(tr -d '\r' <"$work/interrupted")"
}

# Creates a wine prefix, and a folder for the programs.
wine_prefix() {
    [ -d "$work/program" ] && return
    mkdir "$work/program"
    # Rust's standard library gets random numbers from this library of Windows 10, which wine 8
    # lacks.
    cat >"$work/prng.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG length); /* RtlGenRandom */
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) { return SystemFunction036(bytes, (ULONG)length); }
C
    x86_64-w64-mingw32-gcc -shared -o "$work/program/bcryptprimitives.dll" "$work/prng.c" -ladvapi32
    export WINEPREFIX=$work/prefix WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe='
    "$WINE" wineboot --init >/dev/null 2>&1 || true
}

windows() {
    step 'Windows: x86_64-pc-windows-gnu under wine'
    tools windows || return 0
    build x86_64-pc-windows-gnu x86-64-v2
    wine_prefix
    cp "$built" "$work/program/lancet.exe"
    local exe=("$WINE" "$work/program/lancet.exe") text
    out="Z:${work//\//\\}"
    compare Windows "${exe[@]}"
    interrupt Windows "${exe[@]}"
    windows_paths "${exe[@]}"
    files_in_use
    text=$("${exe[@]}" d quit </dev/null)
    if [[ $text == *$'\e'* ]]; then fail 'Windows: escape sequences in a pipe'; else pass 'Windows: no colours in a pipe'; fi
    # Check the output of wine's console on a terminal. Wine 8 prints colour sequences as text, so
    # only check that they are there.
    if tools console; then
        has 'Windows: colours on a console' '48;5;[0-9]' "$(console)"
        has 'Windows: no colours with CLICOLOR=0' '8 +r +n +b +q +k +b +n +r' "$(CLICOLOR=0 console)"
    fi
}

console() {
    TERM=xterm script -qec "'$WINE' '$work/program/lancet.exe' d quit" /dev/null </dev/null | tr -d '\r'
}

# Sets options to Windows paths with spaces.
windows_paths() {
    local text nets=$work/prefix/drive_c/my\ nets
    mkdir -p "$nets"
    cp src/eval/nnue/default.nnue "$nets/x.nnue"
    text=$("$@" 'setoption name EvalFile value C:\my nets\x.nnue' 'setoption name Debug Log File value C:\my nets\log.txt' \
        'setoption name Hash File value C:\my nets\table.hash' 'go depth 6' 'setoption name Save Hash' \
        'setoption name Load Hash' 'setoption name SyzygyPath value C:\my nets;C:\nowhere' \
        'setoption name EvalFile value C:\my nets\y.nnue' 'go depth 6' quit </dev/null | tr -d '\r')
    has 'Windows: the table is saved' 'Save Hash: saved 16 MiB to C:\\my nets\\table.hash' "$text"
    has 'Windows: the table is loaded' 'Load Hash: loaded 16 MiB from C:\\my nets\\table.hash' "$text"
    has 'Windows: a missing network is named' 'C:\\my nets\\y.nnue' "$text"
    has 'Windows: a missing directory is named' 'C:\\nowhere' "$text"
    has 'Windows: the debug log is written' 'bestmove [a-h]' "$(cat "$nets/log.txt")"
    same 'Windows: no error names the existing network' 0 "$(grep -c 'x\.nnue' <<<"$text")"
}

# Checks that a file that another program has open is neither replaced nor lost.
files_in_use() {
    local text nets=$work/prefix/drive_c/my\ nets
    printf 'precious\r\n' >"$nets/held.csv"
    cat >"$work/hold.c" <<'C'
#include <windows.h>
int main(void) {
    HANDLE file = CreateFileA("C:\\my nets\\held.csv", GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    DWORD written;
    HANDLE sign = CreateFileA("C:\\my nets\\held", GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    if (file == INVALID_HANDLE_VALUE || !WriteFile(sign, "1", 1, &written, NULL)) return 1;
    CloseHandle(sign);
    Sleep(INFINITE);
}
C
    x86_64-w64-mingw32-gcc -o "$work/hold.exe" "$work/hold.c"
    "$WINE" "$work/hold.exe" &
    local holder=$! status=0
    comes "$nets/held"
    text=$("$WINE" "$work/program/lancet.exe" epd epd/bk.epd --nodes 100 --force --csv 'C:\my nets\held.csv' 2>&1 </dev/null) || status=$?
    kill "$holder" 2>/dev/null || true
    wait "$holder" 2>/dev/null || true
    has 'Windows: a file in use is named' 'cannot write .*held\.csv' "$text"
    if [ "$status" = 0 ]; then fail 'Windows: a file in use, exit status'; else pass 'Windows: a file in use, exit status'; fi
    same 'Windows: a file in use is unchanged' precious "$(tr -d '\r' <"$nets/held.csv")"
    same 'Windows: no unfinished file is left' 0 "$(find "$nets" -name '*.new' | wc -l)"
}

arm() {
    step 'ARM: aarch64-unknown-linux-musl under qemu'
    tools arm || return 0
    build aarch64-unknown-linux-musl generic
    local program=(qemu-aarch64 "$built")
    out=$work
    compare ARM "${program[@]}"
    interrupt ARM "${program[@]}"
    has 'ARM: --version names the architecture' '^lancet .*aarch64' "$("${program[@]}" --version)"
}

# starts NAME PROCESSOR PROGRAM: checks that the program runs on that processor.
starts() {
    has "$1 on $2" '^lancet [0-9]' "$(qemu-x86_64 -cpu "$2" "$3" --version 2>&1 || true)"
}

# refuses NAME PROCESSOR LACKING ADVICE COMMAND...: checks that the program names the missing
# instruction sets, gives the advice, and exits with status 1.
refuses() {
    local name=$1 processor=$2 lacking=$3 advice=$4 text status=0
    shift 4
    text=$("$@" uci 2>"$work/stderr" </dev/null | tr -d '\r') || status=$?
    same "$name on $processor: exit status" 1 "$status"
    has "$name on $processor: standard output" "^info string this processor lacks .*$lacking" "$text"
    has "$name on $processor: standard error" "^lancet: this processor lacks .*; $advice" "$(cat "$work/stderr")"
}

processors() {
    local level package filter
    for level in x86-64-v2 x86-64-v3; do
        step "Processors: the arithmetic tests of network and trainer, built for $level"
        while read -r package filter; do
            # cargo test succeeds even if a filter matches no test, so check that some ran.
            has "$level: tests of $package, $filter" '^test result: ok\. [1-9]' \
                "$(RUSTFLAGS="-C target-cpu=$level" cargo test --locked --package "$package" --lib --target $TARGET "$filter" 2>&1 </dev/null)"
        done <<<$'lancet eval::nnue\nlancet-train model::\nlancet-train optimiser::'
    done
    step 'Processors: builds for newer processors name the missing instruction sets'
    tools processors || return 0
    local source='build from source'
    starts x86-64-v2 Nehalem "$native"
    refuses x86-64-v2 core2duo popcnt "$source" qemu-x86_64 -cpu core2duo "$native"
    build $TARGET x86-64-v3
    starts x86-64-v3 Haswell "$built"
    refuses x86-64-v3 Nehalem 'avx avx2' 'use the x86-64-v2 build' qemu-x86_64 -cpu Nehalem "$built"
    refuses x86-64-v3 core2duo popcnt "$source" qemu-x86_64 -cpu core2duo "$built"
}

# qemu does not emulate AVX-512, so a build that needs it can only run on a machine that has it.
avx512() {
    step 'Processors without AVX-512, on Linux and Windows'
    # This part only checks whether the programs start, so development builds need no optimisation.
    local -x CARGO_PROFILE_DEV_OPT_LEVEL=0
    build $TARGET x86-64-v4
    if tools avx512; then
        refuses x86-64-v4 Haswell avx512f 'use the x86-64-v3 build' qemu-x86_64 -cpu Haswell "$built"
    fi
    if has_avx512; then
        has 'x86-64-v4 here' '^lancet [0-9]' "$("$built" --version)"
        return
    fi
    refuses x86-64-v4 'this machine' avx512f 'use the x86-64-' "$built"
    tools windows || return 0
    build x86_64-pc-windows-gnu x86-64-v4
    wine_prefix
    cp "$built" "$work/program/lancet-v4.exe"
    refuses x86-64-v4.exe 'this machine' avx512f 'use the x86-64-' "$WINE" "$work/program/lancet-v4.exe"
}

# Checks the archives of a release, and their programs as far as they can run here.
release() {
    step 'Release: the archives in dist'
    local archive name file suffix runner
    if ! tools release || ! tools windows || ! tools arm; then return 0; fi
    wine_prefix
    for archive in dist/lancet-*; do
        name=${archive##*/}
        case $name in
        *.zip) unzip -q "$archive" -d "$work" ;;
        *) tar -C "$work" -xzf "$archive" ;;
        esac
        name=${name%.zip} name=${name%.tar.gz}
        suffix='' runner=() out=$work
        case $name in
        *-windows-*)
            suffix=.exe runner=("$WINE") out="Z:${work//\//\\}"
            cp "$work/program/bcryptprimitives.dll" "$work/$name"
            ;;
        *-linux-arm64*) runner=(qemu-aarch64) ;;
        esac
        for file in LICENSE README.txt THIRD-PARTY.txt; do
            has "$name: $file" '[a-zA-Z]' "$(cat "$work/$name/$file")"
        done
        if [[ $name == *-authors ]]; then
            for file in lancet-lab lancet-train; do
                has "$name: $file" "^$file [0-9]" "$("${runner[@]}" "$work/$name/$file$suffix" --version | tr -d '\r')"
            done
        elif [[ $name != *-v4 ]] || has_avx512; then
            compare "$name" "${runner[@]}" "$work/$name/lancet$suffix"
        else
            echo "NOT CHECKED, $name: this processor lacks AVX-512"
        fi
        rm -r "${work:?}/$name"
    done
}

parts=()
for argument in "$@"; do
    case $argument in
    --require) require=true ;;
    --tools) only_tools=true ;;
    windows | arm | processors | avx512 | release) parts+=("$argument") ;;
    *)
        echo "unknown part '$argument': expected windows, arm, processors, avx512, release, --require or --tools" >&2
        exit 2
        ;;
    esac
done
[ ${#parts[@]} -gt 0 ] || parts=(windows arm processors avx512)
if $only_tools; then
    require=true
    if [[ " ${parts[*]} " == *' windows '* ]]; then parts+=(console); fi
    if [[ " ${parts[*]} " == *' avx512 '* ]] && ! has_avx512; then parts+=(windows); fi
    if [[ " ${parts[*]} " == *' release '* ]]; then parts+=(windows arm); fi
    for part in "${parts[@]}"; do tools "$part" || true; done
    [ "$failures" = 0 ]
    exit
fi
step 'Native program'
build $TARGET x86-64-v2
native=$built
"$native" --version
for part in "${parts[@]}"; do "$part"; done
step "$failures failed"
[ "$failures" = 0 ]
