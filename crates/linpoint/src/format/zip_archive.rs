//! Opens zip archives: every file in one is an input of its own.

use std::io::{self, Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::input::{Content, Packing, Visit, read_all, unpack};
use crate::engine::Budget;
use crate::error::Error;

/// Deflate never shrinks by more than this factor, so the entries of an archive that exceeds it share their bytes.
const MOST_GROWTH: u64 = 1100;

/// Hands every file of the archive to `visit`. Files may be compressed once more, but archives within archives are not opened.
pub(super) fn open(name: &str, bytes: &[u8], budget: &Budget, visit: &mut Visit<'_>) {
    let mut archive = match ZipArchive::new(Cursor::new(bytes)) {
        Ok(archive) => archive,
        Err(error) => return visit(name, None, Err(broken(&error))),
    };
    let allowed = (bytes.len() as u64).saturating_mul(MOST_GROWTH);
    let mut unpacked = 0;
    for index in 0..archive.len() {
        let shown = match archive.name_for_index(index) {
            Some(Ok(inside)) => format!("{name}:{inside}"),
            Some(Err(_)) | None => name.to_owned(),
        };
        let entry = match archive.by_index(index) {
            Ok(entry) => entry,
            Err(error) => {
                visit(&shown, None, Err(broken(&error)));
                continue;
            }
        };
        // What the Finder of macOS adds is no history.
        if !entry.is_file() || shown.contains(":__MACOSX/") {
            continue;
        }
        let size = entry.size();
        // One byte more than announced is enough to see that an entry is longer.
        let content = read_all(
            entry.take(size.saturating_add(1)),
            Packing::Compressed,
            budget,
        );
        unpacked += content.as_ref().map_or(0, |content| content.len() as u64);
        if unpacked > allowed {
            let reason = "the archive is a zip bomb: its entries share their bytes";
            return visit(&shown, None, Err(Error::malformed(reason)));
        }
        let content = content.and_then(|content| match content.len() as u64 == size {
            true => unpack(Box::new(content.as_slice()))
                .and_then(|(stream, _, packing)| read_all(stream, packing, budget)),
            false => Err(Error::malformed(
                "the entry is not as long as the archive says",
            )),
        });
        visit(&shown, None, content.map(Content::Bytes));
    }
}

fn broken(error: &ZipError) -> Error {
    let reason = match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            "it is encrypted: unpack it, and give the files instead".to_owned()
        }
        ZipError::UnsupportedArchive(reason) => {
            format!("it is not read ({reason}): unpack the archive, and give the files instead")
        }
        ZipError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the archive is cut off".to_owned()
        }
        other => format!("the archive is broken: {other}"),
    };
    Error::malformed(reason)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::error::ErrorKind;

    fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            let options =
                SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
            writer.start_file(*name, options).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn open_all(bytes: &[u8], budget: &Budget) -> Vec<(String, Result<Vec<u8>, Error>)> {
        let mut all = Vec::new();
        open("a.zip", bytes, budget, &mut |name, _, content| {
            let bytes = content.map(|content| match content {
                Content::Bytes(bytes) => bytes,
                _ => panic!("an entry is bytes"),
            });
            all.push((name.to_owned(), bytes));
        });
        all
    }

    #[test]
    fn every_file_is_an_input() {
        let bytes = zip(&[
            ("x/one.txt", b"1"),
            ("__MACOSX/x", b"junk"),
            ("two.txt", b"22"),
        ]);
        let mut all = open_all(&bytes, &Budget::default()).into_iter();
        let (name, content) = all.next().unwrap();
        assert_eq!(
            (name.as_str(), content.unwrap()),
            ("a.zip:x/one.txt", b"1".to_vec())
        );
        let (name, content) = all.next().unwrap();
        assert_eq!(
            (name.as_str(), content.unwrap()),
            ("a.zip:two.txt", b"22".to_vec())
        );
        assert!(all.next().is_none());
        assert!(open_all(&zip(&[]), &Budget::default()).is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let bytes = zip(&[("one.txt", b"one one one one one")]);
        for cut in [4, bytes.len() / 2, bytes.len() - 1] {
            let (_, content) = open_all(&bytes[..cut], &Budget::default()).remove(0);
            assert_eq!(content.unwrap_err().kind(), ErrorKind::Malformed);
        }
        // Bit 0 of the flags says that an entry is encrypted, in the local header and in the directory.
        let mut encrypted = bytes.clone();
        let directory = bytes.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
        encrypted[6] |= 1;
        encrypted[directory + 8] |= 1;
        let (_, content) = open_all(&encrypted, &Budget::default()).remove(0);
        assert_eq!(
            content.unwrap_err().to_string(),
            "it is encrypted: unpack it, and give the files instead"
        );
        let mut damaged = bytes;
        damaged[40] ^= 0xff;
        let (_, content) = open_all(&damaged, &Budget::default()).remove(0);
        assert!(content.is_err());
    }

    #[test]
    fn a_bomb_hits_the_limit_of_memory() {
        let bytes = zip(&[("zeros", &vec![0; 64 << 20])]);
        assert!(bytes.len() < 1 << 20);
        let budget = Budget::new(None, Some(1 << 20));
        let (_, content) = open_all(&bytes, &budget).remove(0);
        assert_eq!(content.unwrap_err().kind(), ErrorKind::Limit);
    }

    #[test]
    fn entries_that_share_bytes_are_a_bomb() {
        // All entries of the directory point to the first one.
        let mut bytes = zip(&[("0", &vec![0; 8 << 20])]);
        let directory = bytes.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
        let end = bytes
            .windows(4)
            .rposition(|at| at == b"PK\x05\x06")
            .unwrap();
        let record = bytes[directory..end].to_vec();
        let mut records = Vec::new();
        for name in b'1'..=b'9' {
            let mut copy = record.clone();
            copy[46] = name;
            records.extend(copy);
        }
        let added = records.len() as u32;
        bytes.splice(end..end, records);
        let end = end + added as usize;
        bytes[end + 8..end + 10].copy_from_slice(&10u16.to_le_bytes());
        bytes[end + 10..end + 12].copy_from_slice(&10u16.to_le_bytes());
        let size = (record.len() as u32 + added).to_le_bytes();
        bytes[end + 12..end + 16].copy_from_slice(&size);
        let all = open_all(&bytes, &Budget::default());
        let (_, last) = all.last().unwrap();
        assert!(last.is_err(), "{} entries were read", all.len());
    }
}
