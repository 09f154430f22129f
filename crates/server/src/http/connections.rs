//! The open connections, with limits for all together and for each client.
//!
//! A connection beyond a limit takes the place of the one that has been without a request for the
//! longest time. If all have requests, it may only ask for the health and the metrics.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::timeouts::Activity;
use krm_template_server_core::Limits;

/// The number of connections beyond the limits, for the health and the metrics.
const RESERVED: usize = 16;

/// The open connections.
pub(crate) struct Connections {
    most: usize,
    most_per_client: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    all: BTreeMap<u64, Entry>,
    /// The number of connections of each client.
    clients: BTreeMap<IpAddr, usize>,
}

struct Entry {
    client: IpAddr,
    activity: Arc<Activity>,
    is_reserved: bool,
}

/// An open connection, until it is dropped.
pub(crate) struct Connected {
    connections: Arc<Connections>,
    id: u64,
    was_reserved: bool,
}

impl Connections {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            most: limits.max_connections.get(),
            most_per_client: limits.max_connections_per_address.get(),
            open: Mutex::default(),
        })
    }

    /// Adds a connection. Returns `None` beyond the reserve.
    pub(crate) fn add(
        self: &Arc<Self>,
        address: IpAddr,
        activity: &Arc<Activity>,
    ) -> Option<Connected> {
        let client = client(address);
        let mut open = self.open();
        let is_reserved = loop {
            let is_over = open.of(client) >= self.most_per_client;
            if !is_over && open.all.len() < self.most {
                break false;
            }
            if !open.evict(|entry| !is_over || entry.client == client) {
                break true;
            }
        };
        if is_reserved && open.reserved() >= RESERVED {
            return None;
        }
        let id = open.next;
        open.next += 1;
        let activity = Arc::clone(activity);
        let entry = Entry { client, activity, is_reserved };
        open.all.insert(id, entry);
        *open.clients.entry(client).or_default() += 1;
        drop(open);
        let connections = Arc::clone(self);
        Some(Connected { connections, id, was_reserved: is_reserved })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connected {
    /// Returns `true` if the connection may only ask for the health and the metrics.
    pub(crate) fn is_reserved(&self) -> bool {
        if !self.was_reserved {
            return false;
        }
        let Connections { most, most_per_client, .. } = *self.connections;
        let mut open = self.connections.open();
        let Some(entry) = open.all.get(&self.id).filter(|entry| entry.is_reserved) else {
            return false;
        };
        // Other connections may have closed since.
        let is_reserved = open.all.len() > most || open.of(entry.client) > most_per_client;
        if let Some(entry) = open.all.get_mut(&self.id) {
            entry.is_reserved = is_reserved;
        }
        is_reserved
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.connections.open().remove(self.id);
    }
}

impl Open {
    fn of(&self, client: IpAddr) -> usize {
        self.clients.get(&client).copied().unwrap_or_default()
    }

    fn reserved(&self) -> usize {
        let entries = self.all.values();
        entries.filter(|entry| entry.is_reserved).count()
    }

    /// Closes the connection that has been idle for the longest time. Returns `false` if none is.
    fn evict(&mut self, is_candidate: impl Fn(&Entry) -> bool) -> bool {
        let idle = self.all.iter().filter(|(_, entry)| is_candidate(entry));
        let idle = idle.filter_map(|(id, entry)| Some((entry.activity.idle_since()?, *id)));
        let Some((_, id)) = idle.min() else {
            return false;
        };
        if let Some(entry) = self.remove(id) {
            entry.activity.evict();
        }
        true
    }

    fn remove(&mut self, id: u64) -> Option<Entry> {
        let entry = self.all.remove(&id)?;
        if let Some(count) = self.clients.get_mut(&entry.client) {
            *count -= 1;
            if *count == 0 {
                self.clients.remove(&entry.client);
            }
        }
        Some(entry)
    }
}

/// Returns the address of a client: the network of 64 bits for IPv6, in which a client can have any
/// number of addresses.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            const NETWORK: u128 = !0 << 64;
            Ipv6Addr::from_bits(address.to_bits() & NETWORK).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Program {
        #[command(flatten)]
        limits: Limits,
    }

    fn connections(most: &str, most_per_client: &str) -> Arc<Connections> {
        let arguments =
            ["server", "--max-connections", most, "--max-connections-per-address", most_per_client];
        Connections::new(&Program::parse_from(arguments).limits)
    }

    /// Returns whether a connection was closed.
    async fn is_evicted(activity: &Activity) -> bool {
        let evicted = activity.evicted();
        tokio::time::timeout(Duration::ZERO, evicted).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_connection_makes_room() {
        let connections = connections("2", "2");
        let [first, second, third] = [(); 3].map(|()| Activity::new());
        let address = IpAddr::from([10, 0, 0, 1]);
        let _first = connections.add(address, &first);
        let _second = connections.add(address, &second);
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(first.begin());
        let third = connections.add(address, &third);
        assert!(is_evicted(&second).await);
        assert!(!is_evicted(&first).await);
        assert!(third.is_some_and(|third| !third.is_reserved()));
    }

    #[tokio::test]
    async fn busy_connections_leave_a_reserve() {
        let connections = connections("3", "3");
        let address = IpAddr::from([10, 0, 0, 1]);
        let (mut open, mut requests) = (Vec::new(), Vec::new());
        for _ in 0..3 + RESERVED {
            let activity = Activity::new();
            requests.push(activity.begin());
            open.extend(connections.add(address, &activity));
        }
        let reserved = |open: &[Connected]| open.iter().filter(|one| one.is_reserved()).count();
        assert_eq!((open.len(), reserved(&open)), (3 + RESERVED, RESERVED));
        assert!(connections.add(address, &Activity::new()).is_none());
        // An idle connection of the reserve makes room in the reserve only.
        requests.pop();
        let next = connections.add(address, &Activity::new());
        assert!(next.is_some_and(|next| next.is_reserved()));
        open.drain(..3 + RESERVED - 3);
        assert_eq!(reserved(&open), 0);
    }

    #[tokio::test]
    async fn a_client_takes_places_only_from_itself() {
        let connections = connections("9", "1");
        let [other, old, new] = [(); 3].map(|()| Activity::new());
        let one = IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, 1]);
        let same = IpAddr::from([0x2001, 0xdb8, 0, 1, 7, 7, 7, 7]);
        let _other = connections.add(IpAddr::from([10, 0, 0, 1]), &other);
        let _open = [(one, &old), (same, &new)]
            .map(|(address, activity)| connections.add(address, activity));
        assert!(is_evicted(&old).await);
        assert!(!is_evicted(&other).await && !is_evicted(&new).await);
    }
}
