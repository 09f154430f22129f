//! A file as a backend of `redb` that stays as it is: what is written is kept in memory.
//!
//! `redb` writes to each file that it opens, and repairs it if it can. A damaged file must stay as
//! it is until its owner decides what to do with it.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

/// The size of the blocks that are kept, in bytes.
const BLOCK: usize = 4096;

#[derive(Debug)]
pub(super) struct Overlay {
    file: File,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    length: u64,
    /// The end of the part of the file that is still visible.
    visible: u64,
    written: BTreeMap<u64, Box<[u8; BLOCK]>>,
}

impl Overlay {
    /// Opens a file that no other process uses.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another process uses the file"),
            TryLockError::Error(error) => error,
        })?;
        let length = file.metadata()?.len();
        let state = State { length, visible: length, written: BTreeMap::new() };
        Ok(Self { file, state: Mutex::new(state) })
    }

    /// Reads the whole file.
    pub(super) fn bytes(&self) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.len()?).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        self.read(0, &mut bytes)?;
        Ok(bytes)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns a block as it is now. What is behind the end of the file is zero.
    fn block(&self, file: &File, start: u64) -> io::Result<Box<[u8; BLOCK]>> {
        if let Some(block) = self.written.get(&start) {
            return Ok(block.clone());
        }
        let mut block = Box::new([0; BLOCK]);
        let length = self.visible.saturating_sub(start);
        let length = usize::try_from(length).unwrap_or(BLOCK).min(BLOCK);
        if let Some(part) = block.get_mut(..length) {
            file.read_exact_at(part, start)?;
        }
        Ok(block)
    }

    /// Calls `each` with the blocks of a range: the start of the block, the place of its part in
    /// the range, and the place of that part in the block.
    fn blocks(
        offset: u64,
        length: usize,
        mut each: impl FnMut(u64, usize, usize, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut done = 0;
        while done < length {
            let at = offset + done as u64;
            let inside = usize::try_from(at % BLOCK as u64).unwrap_or(0);
            let part = (BLOCK - inside).min(length - done);
            each(at - inside as u64, done, inside, part)?;
            done += part;
        }
        Ok(())
    }
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.state();
        let end = offset.checked_add(out.len() as u64);
        if end.is_none_or(|end| end > state.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        State::blocks(offset, out.len(), |start, done, inside, part| {
            let block = state.block(&self.file, start)?;
            if let (Some(to), Some(from)) =
                (out.get_mut(done..done + part), block.get(inside..inside + part))
            {
                to.copy_from_slice(from);
            }
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.state();
        state.length = len;
        state.visible = state.visible.min(len);
        state.written.retain(|start, _| *start < len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        State::blocks(offset, data.len(), |start, done, inside, part| {
            let mut block = state.block(&self.file, start)?;
            if let (Some(from), Some(to)) =
                (data.get(done..done + part), block.get_mut(inside..inside + part))
            {
                to.copy_from_slice(from);
            }
            state.written.insert(start, block);
            Ok(())
        })
    }
}
