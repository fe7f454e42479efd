//! The instruction sets of x86-64 processors: which there are, which of them this
//! build uses, and which the processor has.
//!
//! Compiled three times: with the library, with `build.rs`, and with `guard.rs`,
//! which asks before anything else runs. Hence `core` only, and no panics: the third
//! has nothing to call.

/// A register that the instruction `cpuid` answers in.
#[derive(Clone, Copy, Debug)]
enum Register {
    Eax,
    Ebx,
    Ecx,
    Edx,
}
use Register::{Eax, Ebx, Ecx, Edx};

/// A set of instructions.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// As in rustc's `target_feature`.
    pub name: &'static str,
    /// The lowest level of x86-64 (2 to 4) that has it; 0 if none has.
    level: u8,
    /// Where `cpuid` tells: leaf and subleaf, register, bit.
    leaf: (u32, u32),
    register: Register,
    bit: u8,
    /// Registers that the operating system has to save: bits of XCR0.
    state: u64,
}

const fn feature(
    name: &'static str,
    level: u8,
    leaf: (u32, u32),
    register: Register,
    bit: u8,
    state: u64,
) -> Feature {
    Feature { name, level, leaf, register, bit, state }
}

/// Leaf of features, of extended features (two parts), of AMD's extensions, of `xsave`'s forms.
const BASIC: (u32, u32) = (1, 0);
const EXTENDED: (u32, u32) = (7, 0);
const EXTENDED_1: (u32, u32) = (7, 1);
const AMD: (u32, u32) = (0x8000_0001, 0);
const XSAVE: (u32, u32) = (0xd, 1);

/// Bits of XCR0: the registers xmm and ymm; besides, the mask registers and zmm.
const YMM: u64 = 0b110;
const ZMM: u64 = 0b1110_0110;

/// What compilers use by themselves or crates ask for, in order of the levels (System V
/// ABI, AMD64 supplement, section 3.1.1; bits: Intel SDM, volume 2A, CPUID).
#[rustfmt::skip]
pub const FEATURES: [Feature; 51] = [
    feature("cmpxchg16b",         2, BASIC,      Ecx, 13, 0),
    feature("popcnt",             2, BASIC,      Ecx, 23, 0),
    feature("sse3",               2, BASIC,      Ecx, 0,  0),
    feature("ssse3",              2, BASIC,      Ecx, 9,  0),
    feature("sse4.1",             2, BASIC,      Ecx, 19, 0),
    feature("sse4.2",             2, BASIC,      Ecx, 20, 0),
    feature("avx",                3, BASIC,      Ecx, 28, YMM),
    feature("avx2",               3, EXTENDED,   Ebx, 5,  YMM),
    feature("bmi1",               3, EXTENDED,   Ebx, 3,  0),
    feature("bmi2",               3, EXTENDED,   Ebx, 8,  0),
    feature("f16c",               3, BASIC,      Ecx, 29, YMM),
    feature("fma",                3, BASIC,      Ecx, 12, YMM),
    feature("lzcnt",              3, AMD,        Ecx, 5,  0),
    feature("movbe",              3, BASIC,      Ecx, 22, 0),
    feature("xsave",              3, BASIC,      Ecx, 27, 0),
    feature("avx512f",            4, EXTENDED,   Ebx, 16, ZMM),
    feature("avx512bw",           4, EXTENDED,   Ebx, 30, ZMM),
    feature("avx512cd",           4, EXTENDED,   Ebx, 28, ZMM),
    feature("avx512dq",           4, EXTENDED,   Ebx, 17, ZMM),
    feature("avx512vl",           4, EXTENDED,   Ebx, 31, ZMM),
    feature("adx",                0, EXTENDED,   Ebx, 19, 0),
    feature("aes",                0, BASIC,      Ecx, 25, 0),
    feature("avx512bf16",         0, EXTENDED_1, Eax, 5,  ZMM),
    feature("avx512bitalg",       0, EXTENDED,   Ecx, 12, ZMM),
    feature("avx512fp16",         0, EXTENDED,   Edx, 23, ZMM),
    feature("avx512ifma",         0, EXTENDED,   Ebx, 21, ZMM),
    feature("avx512vbmi",         0, EXTENDED,   Ecx, 1,  ZMM),
    feature("avx512vbmi2",        0, EXTENDED,   Ecx, 6,  ZMM),
    feature("avx512vnni",         0, EXTENDED,   Ecx, 11, ZMM),
    feature("avx512vp2intersect", 0, EXTENDED,   Edx, 8,  ZMM),
    feature("avx512vpopcntdq",    0, EXTENDED,   Ecx, 14, ZMM),
    feature("avxifma",            0, EXTENDED_1, Eax, 23, YMM),
    feature("avxneconvert",       0, EXTENDED_1, Edx, 5,  YMM),
    feature("avxvnni",            0, EXTENDED_1, Eax, 4,  YMM),
    feature("avxvnniint16",       0, EXTENDED_1, Edx, 10, YMM),
    feature("avxvnniint8",        0, EXTENDED_1, Edx, 4,  YMM),
    feature("gfni",               0, EXTENDED,   Ecx, 8,  0),
    feature("pclmulqdq",          0, BASIC,      Ecx, 1,  0),
    feature("rdrand",             0, BASIC,      Ecx, 30, 0),
    feature("rdseed",             0, EXTENDED,   Ebx, 18, 0),
    feature("sha",                0, EXTENDED,   Ebx, 29, 0),
    feature("sha512",             0, EXTENDED_1, Eax, 0,  YMM),
    feature("sm3",                0, EXTENDED_1, Eax, 1,  YMM),
    feature("sm4",                0, EXTENDED_1, Eax, 2,  YMM),
    feature("sse4a",              0, AMD,        Ecx, 6,  0),
    feature("tbm",                0, AMD,        Ecx, 21, 0),
    feature("vaes",               0, EXTENDED,   Ecx, 9,  YMM),
    feature("vpclmulqdq",         0, EXTENDED,   Ecx, 10, YMM),
    feature("xsavec",             0, XSAVE,      Eax, 1,  0),
    feature("xsaveopt",           0, XSAVE,      Eax, 0,  0),
    feature("xsaves",             0, XSAVE,      Eax, 3,  0),
];

/// What every x86-64 processor has: nobody needs to ask for it.
pub const BASELINE: [&str; 3] = ["fxsr", "sse", "sse2"];

/// A set of [`FEATURES`], by their places in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(pub u64);

impl Features {
    /// Those that `is_in` accepts.
    pub fn select(is_in: impl Fn(&Feature) -> bool) -> Features {
        let bits = FEATURES.iter().zip(0..).map(|(feature, i)| u64::from(is_in(feature)) << i);
        Features(bits.fold(0, |all, bit| all | bit))
    }

    /// A set as `build.rs` writes it, in hexadecimal.
    pub const fn read(text: &str) -> Features {
        match u64::from_str_radix(text, 16) {
            Ok(bits) => Features(bits),
            Err(_) => panic!("not a set of features"),
        }
    }

    /// Those of this processor.
    #[cfg(target_arch = "x86_64")]
    pub fn of_this_processor() -> Features {
        Features::select(is_here)
    }

    /// Those that `other` lacks.
    pub const fn without(self, other: Features) -> Features {
        Features(self.0 & !other.0)
    }

    /// Their entries in the table.
    pub fn iter(self) -> impl Iterator<Item = &'static Feature> {
        FEATURES.iter().zip(0..).filter(move |(_, i)| self.0 >> i & 1 == 1).map(|(f, _)| f)
    }

    /// The highest level of x86-64 that asks for nothing else, 1 to 4.
    pub fn level(self) -> u8 {
        let lacking = Features(!0).without(self);
        let above = lacking.iter().map(|feature| feature.level).filter(|&level| level > 0).min();
        above.map_or(4, |level| level - 1)
    }

    /// Those that no level up to `level` has.
    pub fn above(self, level: u8) -> Features {
        self.without(Features::select(|feature| (1..=level).contains(&feature.level)))
    }
}

/// Has the processor this, and does the operating system save its registers?
#[cfg(target_arch = "x86_64")]
fn is_here(feature: &Feature) -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    let (leaf, subleaf) = feature.leaf;
    // An answer for a leaf beyond the last one means nothing.
    if __cpuid(leaf & 0x8000_0000).eax < leaf || __cpuid_count(leaf, 0).eax < subleaf && leaf == 7 {
        return false;
    }
    let answer = __cpuid_count(leaf, subleaf);
    let bits = match feature.register {
        Eax => answer.eax,
        Ebx => answer.ebx,
        Ecx => answer.ecx,
        Edx => answer.edx,
    };
    bits >> feature.bit & 1 == 1 && feature.state & !saved_state() == 0
}

/// XCR0: the registers that the operating system saves.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn saved_state() -> u64 {
    use core::arch::x86_64::__cpuid;
    const OSXSAVE: u32 = 1 << 27;
    if __cpuid(1).ecx & OSXSAVE == 0 {
        return 0;
    }
    // SAFETY: the system has switched `xsave` on, so the processor has the instruction,
    // and XCR0 exists.
    unsafe { xcr0() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "xsave")]
#[allow(unsafe_code)]
fn xcr0() -> u64 {
    // SAFETY: enabled above; register 0 exists wherever the instruction does.
    unsafe { core::arch::x86_64::_xgetbv(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_build_on_each_other() {
        let up_to = |level| Features::select(|feature| (1..=level).contains(&feature.level));
        assert_eq!(Features(0).level(), 1);
        for level in 2..=4 {
            let all = up_to(level);
            assert_eq!(all.level(), level);
            assert_eq!(all.above(level), Features(0));
            assert_eq!(all.above(level - 1), all.without(up_to(level - 1)));
            for feature in all.iter().filter(|feature| feature.level == level) {
                let fewer = all.without(Features::select(|other| other.name == feature.name));
                assert_eq!(fewer.level(), level - 1, "{}", feature.name);
            }
        }
        assert_eq!(Features::read("3f").iter().count(), 6);
        assert_eq!(Features::read("3f").level(), 2);
    }

    /// This build runs, so the processor has what it was compiled for; and the guard
    /// asks for all of it.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn all_that_is_compiled_in_is_known_and_here() {
        let here = Features::of_this_processor();
        let level: u8 = env!("LANCET_LEVEL").strip_prefix("x86-64-v").unwrap().parse().unwrap();
        assert!(here.level() >= level);
        for name in env!("LANCET_INSTRUCTIONS").split_whitespace() {
            assert!(here.iter().any(|feature| feature.name == name), "{name}");
        }
    }

    /// The kernel's names differ for some.
    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn the_kernel_sees_the_same_processor() {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let line = text.lines().find(|line| line.starts_with("flags")).unwrap();
        let flags: Vec<_> = line.split_whitespace().collect();
        let here = Features::of_this_processor();
        for feature in &FEATURES {
            let name = match feature.name {
                "cmpxchg16b" => "cx16",
                "sse3" => "pni",
                "lzcnt" => "abm",
                "sha" => "sha_ni",
                "avxvnni" => "avx_vnni",
                "avxifma" => "avx_ifma",
                "avxneconvert" => "avx_ne_convert",
                "avxvnniint8" => "avx_vnni_int8",
                "avxvnniint16" => "avx_vnni_int16",
                name => &name.replace('.', "_"),
            };
            // Later sets of AVX-512 are written with an underscore.
            let later = name.replace("avx512", "avx512_");
            let expected = flags.contains(&name) || flags.contains(&&*later);
            // Kernels hide it where it is faulty (Zen 5, AMD-SB-7055, 2025).
            if name == "rdseed" && !expected {
                continue;
            }
            let found = here.iter().any(|other| other.name == feature.name);
            assert_eq!(found, expected, "{name}");
        }
    }
}
