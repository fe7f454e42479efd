//! Where a network file keeps its hash, and how that is computed. The build
//! script includes this file to check the network that goes into the program:
//! nothing here may need another module.

/// First bytes of a network file.
pub(super) const MAGIC: &[u8; 8] = b"LANCETNN";
/// Version of the format, bytes 8 to 11.
pub(super) const VERSION: u32 = 1;
/// Bytes before the provenance text.
pub(super) const HEADER: usize = 44;
/// Where in the header the hash is.
pub(super) const HASH_AT: usize = 36;

/// FNV-1a over all bytes of a file but those of the hash itself. `bytes` must
/// hold a whole header.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let (before, rest) = bytes.split_at(HASH_AT);
    fnv1a(before.iter().chain(&rest[HEADER - HASH_AT..]))
}

/// The hash function FNV-1a with 64 bits.
pub fn fnv1a<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
