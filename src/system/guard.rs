//! Checks at startup that the processor has the instruction sets that this program uses. If not,
//! the program ends with a message instead of crashing with an illegal instruction.
//!
//! This file is not a module of the crate, because the rest of the program, `main` included, uses
//! those instruction sets. `build.rs` compiles this file for the oldest processors, into a separate
//! object. Linux and Windows call `check` before `main`, because `BEFORE_MAIN` is in a section for
//! such functions. Other systems, and architectures other than x86-64, have no check. The file uses
//! `core` only and must not panic, because no panic handler is linked to it.
#![no_std]
// The C runtime calls this code, and it calls the C library.
#![allow(unsafe_code)]

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv, CpuidResult};

/// An instruction set: its name, the lowest x86-64 level that has it (0 if none has), the index of
/// its CPUID register in [`registers`], and its bit there.
type Set = (&'static str, usize, usize, u8);

/// The level that the rest of the program was compiled for, and its instruction sets.
static NEEDED: (usize, &[Set]) = include!(concat!(env!("OUT_DIR"), "/needed.rs"));

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array.00101"))]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
static BEFORE_MAIN: extern "C" fn() = check;

unsafe extern "C" {
    #[cfg_attr(windows, link_name = "_write")]
    fn write(file: i32, bytes: *const u8, length: usize) -> isize;
    fn _exit(code: i32) -> !;
    #[cfg(not(windows))]
    fn getenv(name: *const u8) -> *const u8;
}

extern "C" fn check() {
    let here = registers();
    let lacking = || {
        NEEDED.1.iter().filter(move |(_, _, register, bit)| {
            here.get(*register).is_none_or(|bits| bits >> bit & 1 == 0)
        })
    };
    if lacking().next().is_none() {
        return;
    }
    // The processor of an emulator such as valgrind may lack instruction sets that the program is
    // compiled for but never executes.
    #[cfg(not(windows))]
    // SAFETY: the name ends in a zero byte, and only one thread exists yet.
    if unsafe { !getenv(c"LANCET_ANY_PROCESSOR".as_ptr().cast()).is_null() } {
        return;
    }
    // The highest level, up to that of the build, whose instruction sets the processor has.
    let level =
        lacking().filter_map(|(_, level, ..)| level.checked_sub(1)).fold(NEEDED.0, usize::min);
    let advice = match level {
        4 => "; use the x86-64-v4 build\n",
        3 => "; use the x86-64-v3 build\n",
        2 => "; use the x86-64-v2 build\n",
        _ => "; build from source on this machine: cargo build --release\n",
    };
    // Standard error is for the user, standard output for a GUI.
    for (file, beginning) in [(2, "lancet: "), (1, "info string ")] {
        say(file, beginning);
        say(file, "this processor lacks instructions that this build uses:");
        for (name, ..) in lacking() {
            say(file, " ");
            say(file, name);
        }
        say(file, advice);
    }
    // SAFETY: the program has not started anything that must be cleaned up.
    unsafe { _exit(1) }
}

fn say(file: i32, text: &str) {
    // SAFETY: the pointer and length are those of `text`. Errors are ignored, because they cannot
    // be reported.
    unsafe { write(file, text.as_ptr(), text.len()) };
}

/// Returns the CPUID registers of this processor, in the order of the table in `build.rs`. The bits
/// of AVX and AVX512F are cleared if the operating system does not support them.
fn registers() -> [u32; 7] {
    const AMD: u32 = 0x8000_0001;
    // If the operating system does not save the registers ymm or zmm, programs cannot use the
    // instruction sets that need them. It is enough to clear AVX or AVX512F, because every build
    // for such a set also needs these.
    const AVX: u32 = 1 << 28;
    const AVX512F: u32 = 1 << 16;
    const OSXSAVE: u32 = 1 << 27;
    const YMM: u64 = 0b110;
    const ZMM: u64 = 0b1110_0110;
    // CPUID returns meaningless values for leaves beyond the last one.
    let none = CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };
    let basic = __cpuid(1).ecx;
    let seven = if __cpuid(0).eax >= 7 { __cpuid_count(7, 0) } else { none };
    let second = if seven.eax >= 1 { __cpuid_count(7, 1) } else { none };
    let amd = if __cpuid(0x8000_0000).eax >= AMD { __cpuid(AMD) } else { none };
    // XCR0: the registers that the operating system saves. SAFETY: if the operating system has
    // enabled `xsave` (OSXSAVE), the processor has the instruction and the register.
    let saved = if basic & OSXSAVE == 0 { 0 } else { unsafe { _xgetbv(0) } };
    let avx = if saved & YMM == YMM { 0 } else { AVX };
    let avx512f = if saved & ZMM == ZMM { 0 } else { AVX512F };
    [basic & !avx, seven.ebx & !avx512f, seven.ecx, seven.edx, second.eax, second.edx, amd.ecx]
}
