//! Asks the processor, before anything else runs, whether it has the instructions that
//! this program uses, and ends with a message instead of an illegal instruction.
//!
//! Not a module: the rest of the program, `main` included, is compiled for those very
//! instructions. `build.rs` compiles this file for the oldest processors, into an object of
//! its own, which the linker puts where Linux and Windows look for what runs before `main`.
//! On other systems, and on other processors than x86-64, nothing is asked. `core` only, and
//! no panics: there is nothing to call.
#![no_std]
// Called from outside of Rust, and calls the system's library.
#![allow(unsafe_code)]

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv, CpuidResult};

/// An instruction set: its name, the level of x86-64 that begins to have it (0: none), and
/// the register of [`registers`] and the bit in it that tell of it.
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
    // Emulators such as valgrind lack instructions that are compiled for, but never met.
    #[cfg(not(windows))]
    // SAFETY: the name ends in a zero, and only one thread is there yet.
    if unsafe { !getenv(c"LANCET_ANY_PROCESSOR".as_ptr().cast()).is_null() } {
        return;
    }
    // The highest level that lacks nothing.
    let level =
        lacking().filter_map(|(_, level, ..)| level.checked_sub(1)).fold(NEEDED.0, usize::min);
    let advice = match level {
        4 => "; take the build x86-64-v4\n",
        3 => "; take the build x86-64-v3\n",
        2 => "; take the build x86-64-v2\n",
        _ => "; build from source on this machine: cargo build --release\n",
    };
    // People read standard error, programs that speak UCI standard output.
    for (file, beginning) in [(2, "lancet: "), (1, "info string ")] {
        say(file, beginning);
        say(file, "this processor lacks instructions that this build uses:");
        for (name, ..) in lacking() {
            say(file, " ");
            say(file, name);
        }
        say(file, advice);
    }
    // SAFETY: nothing has begun that would have to be ended first.
    unsafe { _exit(1) }
}

fn say(file: i32, text: &str) {
    // SAFETY: so many bytes are there to be read. Nobody is left to be told when they cannot
    // be written.
    unsafe { write(file, text.as_ptr(), text.len()) };
}

/// What this processor answers in the registers of the table in `build.rs`.
fn registers() -> [u32; 7] {
    const AMD: u32 = 0x8000_0001;
    // Where the operating system saves no registers ymm or zmm, the instruction sets that use
    // them are lacking, whatever the processor has. Each is compiled for together with these.
    const AVX: u32 = 1 << 28;
    const AVX512F: u32 = 1 << 16;
    const OSXSAVE: u32 = 1 << 27;
    const YMM: u64 = 0b110;
    const ZMM: u64 = 0b1110_0110;
    // An answer for a leaf beyond the last one means nothing.
    let none = CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };
    let basic = __cpuid(1).ecx;
    let seven = if __cpuid(0).eax >= 7 { __cpuid_count(7, 0) } else { none };
    let second = if seven.eax >= 1 { __cpuid_count(7, 1) } else { none };
    let amd = if __cpuid(0x8000_0000).eax >= AMD { __cpuid(AMD) } else { none };
    // XCR0: the registers that the operating system saves.
    // SAFETY: where it has switched `xsave` on, the processor has the instruction, and the
    // register exists.
    let saved = if basic & OSXSAVE == 0 { 0 } else { unsafe { _xgetbv(0) } };
    let avx = if saved & YMM == YMM { 0 } else { AVX };
    let avx512f = if saved & ZMM == ZMM { 0 } else { AVX512F };
    [basic & !avx, seven.ebx & !avx512f, seven.ecx, seven.edx, second.eax, second.edx, amd.ecx]
}
