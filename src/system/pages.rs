//! Zeroed memory in huge pages, and prefetching, for the tables of the search. Apart from the
//! network's SIMD code and the calls of the C library in `files`, this is the only module with
//! `unsafe`. (`guard.rs` also has it, but is not a module.)
//!
//! A probe of a table in ordinary pages usually misses the TLB as well as the cache.
//! `src/search/HISTORY.md` gives the measured gain of huge pages.
//!
//! On machines with several NUMA nodes, the system places a page near the thread that touches it
//! first. The table is zeroed in chunks, by as many threads as a search uses. Each thread takes the
//! next free chunk, so the pages are spread over the nodes of these threads. Each search thread
//! touches its own histories and accumulators first. The effect of this placement has not been
//! measured, because no machine with several NUMA nodes was available.
#![allow(unsafe_code)]

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::Mutex,
};

use bytemuck::Zeroable;
use memmap2::{MmapMut, MmapRaw};

use crate::system::sync::{lock, unpoisoned};

/// A slice of `T`, initially zeroed, in huge pages if the system grants them.
#[derive(Debug)]
pub struct Pages<T> {
    memory: MmapRaw,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Zeroable> Pages<T> {
    /// Allocates `len` zeroed elements. Returns `None` if there is not enough memory.
    pub fn new(len: usize) -> Option<Pages<T>> {
        // Mappings are aligned to pages of at least 4 KiB.
        const { assert!(align_of::<T>() <= 4096) };
        let bytes = len.checked_mul(size_of::<T>())?.max(1);
        let memory = MmapMut::map_anon(bytes).ok()?;
        // Ignore errors: without huge pages, the program is only slower.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Some(Pages { memory: memory.into(), len, kind: PhantomData })
    }

    /// Zeroes the memory, starting with chunk `from`, on at most `threads` threads, including this
    /// one. This makes the system provide the memory now instead of at the first use of each page.
    ///
    /// Stops when `go_on` returns `false`, and then returns the first chunk that is not zeroed yet.
    /// To continue, pass that chunk as `from`; start with 0.
    pub fn zero(
        &mut self,
        threads: usize,
        from: usize,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<usize> {
        // SAFETY: `self` owns the mapping, and `&mut self` makes the access exclusive.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr(), self.memory.len()) };
        let chunks = Mutex::new(bytes.chunks_mut(CHUNK).enumerate().skip(from));
        let work = || {
            // The lock is released before the chunk is zeroed.
            while let Some((_, chunk)) = go_on().then(|| lock(&chunks).next()).flatten() {
                chunk.fill(0);
            }
        };
        std::thread::scope(|scope| {
            let helpers = threads.min(self.len * size_of::<T>() / CHUNK).saturating_sub(1);
            for _ in 0..helpers {
                // If the system refuses another thread, the existing threads do the work.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        unpoisoned(chunks.into_inner()).next().map(|(number, _)| number)
    }
}

/// Bytes zeroed between two calls of `go_on`. Zeroing them takes some milliseconds.
const CHUNK: usize = 16 << 20;

impl<T: Zeroable> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `self` owns the private mapping, never remaps it, and gives out no other
        // references to it. It is aligned for `T` and holds `len` elements (`new` checks both). It
        // was zeroed at first, and zeroes are a valid `T`. Shared writes go through `&T`, that is,
        // through the atomics in `T`. `MmapRaw` gives a pointer to the mapping; that of `MmapMut`
        // comes from a `&[u8]`, through which nothing may be written.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.len) }
    }
}

impl<T: Zeroable> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.len) }
    }
}

/// Returns whether the system grants an allocation of `bytes`. It may still run out of memory when
/// they are used.
pub fn is_available(bytes: usize) -> bool {
    bytes == 0 || MmapMut::map_anon(bytes).is_ok()
}

/// Prefetches the cache line of `place`, which will be read soon.
#[inline]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint; it changes nothing and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the same.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{place}]",
            place = in(reg) std::ptr::from_ref(place),
            options(nostack, readonly, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}
