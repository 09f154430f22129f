//! The queue of instances: which one is worked on next, and when it is worked on again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::store::{Cause, Outcome, Stop, prefix};
use krm_template_server_core::Group;

/// The first and the last delay before a failed step is tried again. It doubles each time.
const DELAYS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(10));

/// The delay before an instance that changed during its step is worked on again.
const PAUSE: Duration = Duration::from_secs(1);

/// The parts of a written instance on which its next step depends.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) group: Group,
    /// Its uid, generation and whether it is being deleted.
    pub(super) version: String,
    /// The stored Templates that it names.
    pub(super) templates: Vec<String>,
    pub(super) is_ready: bool,
}

/// An instance in the queue.
#[derive(Debug)]
pub(super) struct Entry {
    seen: Seen,
    /// When it is worked on next, and why.
    due: Option<(Instant, Cause)>,
    /// The number of failed steps in a row.
    failures: u32,
}

/// All instances by their keys, in the order in which they are due.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: BTreeMap<String, Entry>,
    /// The instances that are worked on now.
    active: BTreeSet<String>,
    /// The others whose time has come.
    due: BTreeSet<(Instant, String)>,
    /// The others with a later time.
    later: BTreeSet<(Instant, String)>,
    /// The number of instances by group, and by whether they are ready.
    counts: BTreeMap<(Group, bool), usize>,
}

impl Queue {
    /// Takes a written instance. The status does not count.
    pub(super) fn write(&mut self, key: &str, seen: Seen, now: Instant) {
        let entry = match self.remove(key) {
            Some(old) if old.seen.version == seen.version => Entry { seen, ..old },
            _ => Entry { seen, due: Some((now, Cause::Change)), failures: 0 },
        };
        self.insert(key, entry);
    }

    /// Removes all instances of a group but the `known` ones.
    pub(super) fn retain<T>(&mut self, group: Group, known: &BTreeMap<String, T>) {
        let prefix = prefix(group);
        let keys = self.entries.range(prefix.clone()..).map(|(key, _)| key);
        let keys = keys.take_while(|key| key.starts_with(&prefix));
        let gone: Vec<String> = keys.filter(|key| !known.contains_key(*key)).cloned().collect();
        for key in gone {
            self.remove(&key);
        }
    }

    /// Makes the instances due that name a stored Template: with a `name`, only those of this one
    /// in its namespace.
    pub(super) fn touch(&mut self, name: Option<(&str, &str)>, now: Instant) {
        let mut prefix = prefix(Group::Krm);
        if let Some((namespace, _)) = name {
            prefix.push_str(namespace);
            prefix.push('/');
        }
        let all = self.entries.range(prefix.clone()..);
        let all = all.take_while(|(key, _)| key.starts_with(&prefix));
        let named = all.filter(|(_, entry)| match name {
            Some((_, name)) => entry.seen.templates.iter().any(|one| one == name),
            None => !entry.seen.templates.is_empty(),
        });
        let keys: Vec<String> = named.map(|(key, _)| key.clone()).collect();
        for key in keys {
            if let Some(old) = self.remove(&key) {
                let due = Some((now, Cause::Change));
                self.insert(&key, Entry { due, failures: 0, ..old });
            }
        }
    }

    /// Returns the next instance that is due, and begins its step.
    pub(super) fn next(&mut self, now: Instant) -> Option<(String, Cause)> {
        self.queued(now);
        let (_, key) = self.due.pop_first()?;
        let (_, cause) = self.entries.get_mut(&key)?.due.take()?;
        self.active.insert(key.clone());
        Some((key, cause))
    }

    /// Returns the number of instances that are due.
    pub(super) fn queued(&mut self, now: Instant) -> usize {
        while self.later().is_some_and(|at| at <= now) {
            self.due.extend(self.later.pop_first());
        }
        self.due.len()
    }

    /// Returns when the next instance will be due.
    pub(super) fn later(&self) -> Option<Instant> {
        self.later.first().map(|(at, _)| *at)
    }

    /// Returns the number of instances of a group that are ready, or are not.
    pub(super) fn count(&self, group: Group, is_ready: bool) -> usize {
        self.counts.get(&(group, is_ready)).copied().unwrap_or_default()
    }

    /// Ends a step of an instance, and sets when the next one is due. Returns the result for the
    /// metrics.
    pub(super) fn end(
        &mut self,
        key: &str,
        outcome: &Result<Outcome, Stop>,
        resync: Duration,
        now: Instant,
    ) -> &'static str {
        self.active.remove(key);
        let again = |delay, cause| Some((now + delay, cause));
        let failures = self.entries.get(key).map_or(0, |entry| entry.failures);
        let (result, failures, due) = match outcome {
            Ok(Outcome::Done) if resync.is_zero() => ("done", 0, None),
            Ok(Outcome::Done) => ("done", 0, again(jittered(resync), Cause::Change)),
            Ok(Outcome::Gone) => ("done", 0, None),
            Ok(Outcome::Again(delay)) => ("waiting", failures, again(*delay, Cause::Poll)),
            Ok(Outcome::Failed) | Err(Stop::Store(_)) => {
                ("failed", failures.saturating_add(1), again(back_off(failures), Cause::Change))
            }
            Err(Stop::Changed) => ("changed", failures, again(PAUSE, Cause::Change)),
        };
        if let Some(old) = self.remove(key) {
            if old.due.is_some() {
                // It has changed meanwhile.
                self.insert(key, old);
            } else if !matches!(outcome, Ok(Outcome::Gone)) {
                self.insert(key, Entry { due, failures, ..old });
            }
        }
        result
    }

    fn insert(&mut self, key: &str, entry: Entry) {
        if let Some((at, _)) = entry.due.filter(|_| !self.active.contains(key)) {
            self.later.insert((at, key.to_owned()));
        }
        *self.counts.entry((entry.seen.group, entry.seen.is_ready)).or_default() += 1;
        self.entries.insert(key.to_owned(), entry);
    }

    /// Removes an instance. A running step continues.
    pub(super) fn remove(&mut self, key: &str) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        if let Some((at, _)) = entry.due {
            let place = (at, key.to_owned());
            let _ = self.later.remove(&place) || self.due.remove(&place);
        }
        if let Some(count) = self.counts.get_mut(&(entry.seen.group, entry.seen.is_ready)) {
            *count -= 1;
        }
        Some(entry)
    }
}

/// Returns the delay after a failed step.
fn back_off(failures: u32) -> Duration {
    let delay = DELAYS.0.saturating_mul(2_u32.saturating_pow(failures));
    jittered(delay.min(DELAYS.1))
}

/// Returns a duration that differs from the given one by at most a tenth.
fn jittered(duration: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    let share = f64::from(random) / f64::from(u32::MAX);
    duration.mul_f64(0.2f64.mul_add(share, 0.9))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> String {
        format!("{}shop/{name}", prefix(Group::Krm))
    }

    fn seen(version: &str) -> Seen {
        let templates = vec!["web".to_owned()];
        Seen { group: Group::Krm, version: version.to_owned(), templates, is_ready: false }
    }

    #[test]
    fn delays_double_up_to_a_bound() {
        for (failures, expected) in (0..).zip([5, 10, 20, 40, 80, 160, 320, 600, 600]) {
            let (delay, expected) = (back_off(failures), Duration::from_secs(expected));
            assert!(delay >= expected.mul_f64(0.9) && delay <= expected.mul_f64(1.1), "{delay:?}");
        }
    }

    #[test]
    fn an_instance_that_changes_during_its_step_is_due_again() {
        let (mut queue, now, resync) = (Queue::default(), Instant::now(), Duration::ZERO);
        let web = key("web");
        queue.write(&web, seen("1"), now);
        assert_eq!(queue.next(now), Some((web.clone(), Cause::Change)));
        queue.write(&web, seen("1"), now);
        assert_eq!((queue.next(now), queue.later()), (None, None));
        queue.write(&web, seen("2"), now);
        assert_eq!(queue.next(now), None);
        queue.end(&web, &Ok(Outcome::Gone), resync, now);
        assert_eq!(queue.next(now), Some((web.clone(), Cause::Change)));
        queue.end(&web, &Ok(Outcome::Again(PAUSE)), resync, now);
        assert_eq!((queue.next(now), queue.later()), (None, Some(now + PAUSE)));
        assert_eq!(queue.next(now + PAUSE), Some((web.clone(), Cause::Poll)));
        queue.end(&web, &Ok(Outcome::Done), resync, now);
        assert_eq!((queue.later(), queue.count(Group::Krm, false)), (None, 1));
    }

    #[test]
    fn instances_that_were_deleted_unseen_do_not_count() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for name in ["a", "b", "c"] {
            queue.write(&key(name), seen("1"), now);
        }
        queue.write(&key("c"), Seen { is_ready: true, ..seen("1") }, now);
        assert_eq!((queue.count(Group::Krm, true), queue.count(Group::Krm, false)), (1, 2));
        queue.retain(Group::OpenShift, &BTreeMap::<String, bool>::new());
        queue.retain(Group::Krm, &BTreeMap::from([(key("b"), true)]));
        assert_eq!((queue.count(Group::Krm, true), queue.count(Group::Krm, false)), (0, 1));
        assert_eq!((queue.queued(now), queue.entries.len()), (1, 1));
        assert_eq!(queue.next(now).unwrap().0, key("b"));
        queue.end(&key("b"), &Ok(Outcome::Gone), Duration::ZERO, now);
        assert_eq!((queue.count(Group::Krm, false), queue.entries.len()), (0, 0));
    }

    #[test]
    fn a_changed_template_makes_its_instances_due() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for (name, templates) in [("a", vec!["web"]), ("b", vec![]), ("c", vec!["db", "web"])] {
            let templates = templates.into_iter().map(str::to_owned).collect();
            queue.write(&key(name), Seen { templates, ..seen("1") }, now);
        }
        let mut touched = |name: Option<(&str, &str)>| {
            while let Some((key, _)) = queue.next(now) {
                queue.end(&key, &Ok(Outcome::Done), Duration::ZERO, now);
            }
            queue.touch(name, now);
            queue.queued(now)
        };
        assert_eq!(touched(Some(("shop", "db"))), 1);
        assert_eq!(touched(Some(("shop", "web"))), 2);
        assert_eq!(touched(Some(("sho", "web"))), 0);
        assert_eq!(touched(None), 2);
    }

    #[test]
    fn ten_thousand_instances_are_queued_at_once() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for index in 0..10_000_usize {
            queue.write(&key(&format!("web-{index}")), seen("1"), now);
            if index < 5 {
                queue.next(now);
            }
            assert_eq!(queue.queued(now), index.saturating_sub(4));
            assert_eq!(queue.count(Group::Krm, false), index + 1);
        }
    }
}
