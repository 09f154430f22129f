//! A cache with a bounded size and lifetime.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The SHA-256 of a request, which may be secret or long.
pub(crate) type Key = [u8; 32];

/// Cached values, bounded in number and age.
#[derive(Debug)]
pub(crate) struct Cache<V> {
    lifetime: Duration,
    capacity: usize,
    state: Mutex<State<V>>,
}

#[derive(Debug)]
struct State<V> {
    values: BTreeMap<Key, (Instant, V)>,
    /// The times of the insertions, oldest first.
    order: VecDeque<(Instant, Key)>,
}

impl<V: Clone> Cache<V> {
    pub(crate) const fn new(lifetime: Duration, capacity: usize) -> Self {
        let state = State { values: BTreeMap::new(), order: VecDeque::new() };
        Self { lifetime, capacity, state: Mutex::new(state) }
    }

    /// Returns the value of a key, if it has not expired.
    pub(crate) fn get(&self, key: &Key, now: Instant) -> Option<V> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, value) = state.values.get(key)?;
        (now.duration_since(*since) < self.lifetime).then(|| value.clone())
    }

    /// Removes a value.
    pub(crate) fn remove(&self, key: &Key) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.values.remove(key);
    }

    /// Inserts a value, and removes expired values and the oldest ones beyond the capacity.
    pub(crate) fn put(&self, key: Key, value: V, now: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.values.insert(key, (now, value));
        state.order.push_back((now, key));
        while let Some(&(since, key)) = state.order.front() {
            let is_old = now.duration_since(since) >= self.lifetime;
            if !is_old && state.order.len() <= self.capacity {
                break;
            }
            state.order.pop_front();
            // A value that was inserted again is newer than its first entry in `order`.
            if state.values.get(&key).is_some_and(|(newest, _)| *newest == since) {
                state.values.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cache, Key};
    use std::time::Duration;
    use tokio::time::Instant;

    const fn key(number: u8) -> Key {
        [number; 32]
    }

    #[test]
    fn forgets_after_its_lifetime_and_beyond_its_capacity() {
        let cache = Cache::new(Duration::from_secs(10), 2);
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let both = |now| (cache.get(&key(1), now), cache.get(&key(2), now));
        cache.put(key(1), 'a', start);
        cache.put(key(2), 'b', after(6));
        cache.put(key(1), 'c', after(6));
        assert_eq!(both(after(6)), (Some('c'), Some('b')));
        assert_eq!(both(after(12)), (Some('c'), Some('b')));
        cache.put(key(3), 'd', after(12));
        assert_eq!(both(after(12)), (Some('c'), None), "the oldest goes");
        assert_eq!(cache.get(&key(3), after(21)), Some('d'));
        assert_eq!(cache.get(&key(3), after(22)), None);
    }
}
