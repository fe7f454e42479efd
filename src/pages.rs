//! Zeroed memory in huge pages, and prefetching: what the table needs from the
//! machine. Besides the network's SIMD the only place with `unsafe`.
//!
//! A probe of a table in ordinary pages mostly misses the TLB as well as the
//! cache; the table's share of the search's time fell from 17 % to 9 % in huge
//! pages (perf, bench, 16 MiB).
#![allow(unsafe_code)]

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    time::Duration,
};

use bytemuck::Zeroable;
use memmap2::MmapMut;

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
    #[must_use]
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

    /// Lets the system provide the memory now instead of at the first use of each
    /// page, from the first page on, as far as it gets in `time`.
    pub fn populate(&self, time: Duration) {
        #[cfg(target_os = "linux")]
        {
            const STEP: usize = 16 << 20;
            let start = std::time::Instant::now();
            for offset in (0..self.memory.len()).step_by(STEP) {
                let step = STEP.min(self.memory.len() - offset);
                let advice = memmap2::Advice::PopulateWrite;
                // Older systems cannot, and then it is at the first use.
                if self.memory.advise_range(advice, offset, step).is_err()
                    || start.elapsed() >= time
                {
                    return;
                }
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = time;
    }
}

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
#[must_use]
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
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
