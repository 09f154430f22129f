//! The records of the stores: each one carries its key, in a file its revision, and a checksum.
//!
//! The checksum is a CRC-32 (`crc32fast`) of everything behind it. It detects every flipped bit and
//! every damaged run of up to 32 bits. The key is in the record so that damage to the index cannot
//! show a value under another key, and so that records are found in a file without an index.

use super::types::Revision;

/// The first bytes of each record. They are not UTF-8, so a text that is stored never has them.
const MAGIC: [u8; 8] = *b"\xf5krmrec\x02";

/// The length of a record without its key and value.
const HEAD: usize = MAGIC.len() + 4 + 1 + 8 + 8 + 4 + 4;

/// The meaning of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An object, with its value.
    Object = 1,
    /// An object whose value was lost to damage.
    Lost = 2,
    /// An event: a key was created.
    Created = 3,
    /// An event: a key was updated, with its value before.
    Updated = 4,
    /// An event: a key was deleted, with its last value.
    Deleted = 5,
    /// The revision of the last change. Has no key.
    Last = 6,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::Object, Self::Lost, Self::Created, Self::Updated, Self::Deleted, Self::Last];
}

/// A record, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'r> {
    pub(super) kind: Kind,
    pub(super) revision: Revision,
    /// The time of an event, in seconds since 1970.
    pub(super) seconds: i64,
    pub(super) key: &'r str,
    pub(super) value: &'r [u8],
}

impl<'r> Record<'r> {
    pub(super) const fn last(revision: Revision) -> Self {
        Self { kind: Kind::Last, revision, seconds: 0, key: "", value: &[] }
    }

    /// Returns a record of a value in etcd, which has revisions of its own.
    #[cfg(feature = "etcd")]
    pub(super) const fn in_etcd(key: &'r str, value: &'r [u8]) -> Self {
        Self { kind: Kind::Object, revision: 0, seconds: 0, key, value }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
        let mut out = Vec::with_capacity(HEAD + self.key.len() + self.value.len());
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[0; 4]);
        out.push(self.kind as u8);
        out.extend_from_slice(&self.revision.to_le_bytes());
        out.extend_from_slice(&self.seconds.to_le_bytes());
        out.extend_from_slice(&length(self.key.as_bytes()));
        out.extend_from_slice(&length(self.value));
        out.extend_from_slice(self.key.as_bytes());
        out.extend_from_slice(self.value);
        let checksum = out.get(MAGIC.len() + 4..).map_or(0, crc32fast::hash);
        if let Some(place) = out.get_mut(MAGIC.len()..MAGIC.len() + 4) {
            place.copy_from_slice(&checksum.to_le_bytes());
        }
        out
    }

    /// Decodes a record of exactly these bytes, or returns `None` if it is damaged.
    pub(super) fn decode(bytes: &'r [u8]) -> Option<Self> {
        let (record, length) = Self::begin(bytes)?;
        (length == bytes.len()).then_some(record)
    }

    /// Decodes the record that the bytes begin with. Returns its length, too.
    fn begin(bytes: &'r [u8]) -> Option<(Self, usize)> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (checksum, checked) = rest.split_first_chunk::<4>()?;
        let (kind, rest) = checked.split_first()?;
        let (revision, rest) = rest.split_first_chunk::<8>()?;
        let (seconds, rest) = rest.split_first_chunk::<8>()?;
        let (key, rest) = rest.split_first_chunk::<4>()?;
        let (value, rest) = rest.split_first_chunk::<4>()?;
        let length = |length: &[u8; 4]| usize::try_from(u32::from_le_bytes(*length)).ok();
        let (key, rest) = rest.split_at_checked(length(key)?)?;
        let (value, _) = rest.split_at_checked(length(value)?)?;
        let length = HEAD + key.len() + value.len();
        let checked = bytes.get(MAGIC.len() + 4..length)?;
        if crc32fast::hash(checked) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let kind = Kind::ALL.into_iter().find(|known| *known as u8 == *kind)?;
        let record = Self {
            kind,
            revision: u64::from_le_bytes(*revision),
            seconds: i64::from_le_bytes(*seconds),
            key: std::str::from_utf8(key).ok()?,
            value,
        };
        Some((record, length))
    }
}

/// Calls `found` with each whole record in the bytes of a file, in any state of its index.
pub(super) fn scan(bytes: &[u8], mut found: impl FnMut(Record<'_>)) {
    let mut rest = bytes;
    while let Some(at) = memchr::memmem::find(rest, &MAGIC) {
        let here = rest.get(at..).unwrap_or_default();
        let next = match Record::begin(here) {
            Some((record, length)) => {
                found(record);
                length
            }
            None => MAGIC.len(),
        };
        rest = here.get(next..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: Record<'_> =
        Record { kind: Kind::Updated, revision: 7, seconds: -1, key: "/t/ä", value: b"value" };

    #[test]
    fn no_record_with_a_flipped_bit_is_read() {
        let bytes = RECORD.encode();
        assert_eq!(Record::decode(&bytes), Some(RECORD));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::decode(&flipped), None, "bit {bit}");
        }
        for end in 0..bytes.len() {
            assert_eq!(Record::decode(&bytes[..end]), None, "{end} bytes");
        }
        let longer = [&bytes[..], b"x"].concat();
        assert_eq!(Record::decode(&longer), None);
    }

    #[test]
    fn records_are_found_among_other_bytes() {
        let record = RECORD.encode();
        let cut = &record[..record.len() - 1];
        let text = [&b"\xf5krm"[..], &record, cut, &record, &MAGIC].concat();
        let mut found = 0;
        scan(&text, |record| {
            assert_eq!(record, RECORD);
            found += 1;
        });
        assert_eq!(found, 2);
    }
}
