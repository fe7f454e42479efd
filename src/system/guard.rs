//! Asks the processor, before anything else runs, whether it has the instructions that
//! this program uses, and ends with a message instead of an illegal instruction.
//!
//! Not a module: the rest of the program, `main` included, is compiled for those very
//! instructions. `build.rs` compiles this file for the oldest processors, into an object of
//! its own, which the linker puts where Linux and Windows look for what runs before `main`.
//! On other systems, and on other processors than x86-64, nothing is asked.
#![no_std]
// Called from outside of Rust, and calls the system's library.
#![allow(unsafe_code)]

#[path = "processor.rs"]
#[allow(dead_code, reason = "the rest is for the library")]
mod processor;

use processor::Features;

/// What the rest of the program was compiled for.
const NEEDED: Features = Features::read(env!("LANCET_NEEDS"));

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

/// Has whoever starts the program said that the instructions will do? Emulators such as
/// valgrind lack some that are compiled for, but never met.
#[cfg(not(windows))]
fn is_trusted() -> bool {
    // SAFETY: the name ends in a zero, and only one thread is there yet.
    unsafe { !getenv(c"LANCET_ANY_PROCESSOR".as_ptr().cast()).is_null() }
}

#[cfg(windows)]
fn is_trusted() -> bool {
    false
}

extern "C" fn check() {
    let here = Features::of_this_processor();
    let lacking = NEEDED.without(here);
    if lacking == Features(0) || is_trusted() {
        return;
    }
    // People read standard error, programs that speak UCI standard output.
    for (file, beginning) in [(2, "lancet: "), (1, "info string ")] {
        let mut text = Text { bytes: [0; 2048], length: 0 };
        text.push(beginning);
        explain(&mut text, lacking, here.level());
        text.write(file);
    }
    // SAFETY: nothing has begun that would have to be ended first.
    unsafe { _exit(1) }
}

fn explain(text: &mut Text, lacking: Features, level: u8) {
    text.push("this processor lacks instructions that this build uses:");
    for feature in lacking.iter() {
        text.push(" ");
        text.push(feature.name);
    }
    text.push(match level {
        4 => "; take the build x86-64-v4\n",
        3 => "; take the build x86-64-v3\n",
        2 => "; take the build x86-64-v2\n",
        _ => "; build from source on this machine: cargo build --release\n",
    });
}

/// A text without memory to allocate; what does not fit is left out.
struct Text {
    bytes: [u8; 2048],
    length: usize,
}

impl Text {
    fn push(&mut self, text: &str) {
        for (to, from) in self.bytes.iter_mut().skip(self.length).zip(text.bytes()) {
            *to = from;
            self.length += 1;
        }
    }

    fn write(&self, file: i32) {
        // SAFETY: so many bytes are there to be read. Nobody is left to be told when
        // they cannot be written.
        unsafe { write(file, self.bytes.as_ptr(), self.length) };
    }
}
