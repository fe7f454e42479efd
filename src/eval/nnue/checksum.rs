//! The magic number, version and hash of a network file. The build script includes this file to
//! check the built-in network, so it must not use other modules.

/// First bytes of a network file.
pub(super) const MAGIC: &[u8; 8] = b"LANCETNN";
/// Version of the format, bytes 8 to 11.
pub(super) const VERSION: u32 = 1;
/// Bytes before the provenance text.
pub(super) const HEADER: usize = 44;
/// Offset of the hash in the header, in bytes.
pub(super) const HASH_AT: usize = 36;

/// Returns the FNV-1a hash of all bytes of a file except those of the hash itself.
///
/// # Panics
///
/// If `bytes` is shorter than the header.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let (before, rest) = bytes.split_at(HASH_AT);
    fnv1a(before.iter().chain(&rest[HEADER - HASH_AT..]))
}

/// Returns the 64-bit FNV-1a hash of these bytes.
pub fn fnv1a<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
