//! Zeroed memory in huge pages, and prefetching: what the table needs from the
//! machine. Besides the network's SIMD and a signal that `files` ignores, the only module
//! with `unsafe`.
//!
//! A probe of a table in ordinary pages mostly misses the TLB as well as the
//! cache: `src/search/HISTORY.md` has the worth of huge pages.
//!
//! On machines with several memory nodes a page lies near the thread that touched
//! it first. The table is zeroed in pieces, each by whichever search thread comes
//! next: its pages are spread over the nodes that the threads run on. Histories and
//! accumulators are touched first by the thread that searches with them. None of the
//! machines at hand had more than one node: this is by construction, not measured.
#![allow(unsafe_code)]

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::Mutex,
};

use bytemuck::Zeroable;
use memmap2::MmapMut;

use crate::system::sync::{lock, unpoisoned};

/// A slice of `T`, all bits zero at first, in huge pages where the system
/// grants them.
#[derive(Debug)]
pub struct Pages<T> {
    memory: MmapMut,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Zeroable> Pages<T> {
    /// `len` zeroed elements; `None` if there is not enough memory.
    pub fn new(len: usize) -> Option<Pages<T>> {
        // Maps are aligned to pages of at least 4 KiB.
        const { assert!(align_of::<T>() <= 4096) };
        let bytes = len.checked_mul(size_of::<T>())?.max(1);
        let memory = MmapMut::map_anon(bytes).ok()?;
        // A wish: without huge pages everything works, only slower.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Some(Pages { memory, len, kind: PhantomData })
    }

    /// Zeroes everything on `threads` threads (this one included), which makes the
    /// system provide the memory now instead of at the first use of each page. Ends
    /// early when `go_on` says no; the rest then stays as it was, and the first chunk of it
    /// is returned: call again with that for `from`, which is 0 to begin with.
    pub fn zero(
        &mut self,
        threads: usize,
        from: usize,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<usize> {
        let chunks = Mutex::new(self.memory.chunks_mut(CHUNK).enumerate().skip(from));
        let work = || {
            // Taken in a statement of its own: the lock is not held while zeroing.
            while let Some((_, chunk)) = go_on().then(|| lock(&chunks).next()).flatten() {
                chunk.fill(0);
            }
        };
        std::thread::scope(|scope| {
            let helpers = threads.min(self.len * size_of::<T>() / CHUNK).saturating_sub(1);
            for _ in 0..helpers {
                // Where there is no room for another thread, fewer do it.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        unpoisoned(chunks.into_inner()).next().map(|(number, _)| number)
    }
}

/// Bytes zeroed between two looks at whether to go on: some milliseconds' work.
const CHUNK: usize = 16 << 20;

impl<T: Zeroable> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the map is private, owned by `self` and never remapped or
        // handed out otherwise; it is aligned for `T`, holds `len` elements
        // (both checked in `new`), and began as zeroes, which are a valid `T`.
        // Writes go through `&T` only, that is through `T`'s own atomics.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.len) }
    }
}

impl<T: Zeroable> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.len) }
    }
}

/// Would the system grant so many bytes? It may still be short of them later.
pub fn is_available(bytes: usize) -> bool {
    bytes == 0 || MmapMut::map_anon(bytes).is_ok()
}

/// Asks for the cache line of `place`, which will be read soon.
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
