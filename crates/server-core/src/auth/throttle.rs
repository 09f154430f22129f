//! Slowing down clients that guess tokens.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The number of wrong tokens of a peer that are answered at once.
const FREE: u32 = 10;

/// The interval between the answers to further ones.
const INTERVAL: Duration = Duration::from_secs(1);

/// The longest delay of an answer. Requests at the same time do not add up beyond it.
const MAX_DELAY: Duration = Duration::from_secs(10);

/// The maximum number of peers that are distinguished. Others share one entry.
const MAX_PEERS: usize = 4_096;

/// The entry that peers share if there are too many.
const OTHERS: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// The times at which the answers to the wrong tokens of each peer end, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<BTreeMap<IpAddr, Instant>>);

impl Throttle {
    /// Counts a wrong token of a peer, and returns the delay of its answer.
    pub(super) fn delay(&self, peer: IpAddr, now: Instant) -> Duration {
        let free = INTERVAL * FREE;
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut peer = network(peer);
        if !peers.contains_key(&peer) && peers.len() >= MAX_PEERS {
            peers.retain(|_, end| *end > now);
            if peers.len() >= MAX_PEERS {
                peer = OTHERS;
            }
        }
        let end = peers.entry(peer).or_insert(now);
        *end = ((*end).max(now) + INTERVAL).min(now + free + MAX_DELAY);
        end.duration_since(now).saturating_sub(free)
    }
}

/// Returns the network of a peer, which may have many addresses of IPv6.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let bits = address.to_bits() >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from_bits(bits))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(number: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(number))
    }

    #[test]
    fn a_peer_guesses_one_token_a_second() {
        let throttle = Throttle::default();
        let start = Instant::now();
        let mut now = start;
        for _ in 0..2_000 {
            now += throttle.delay(peer(1), now);
        }
        let free = u64::from(FREE);
        assert_eq!((now - start).as_secs(), 2_000 - free);
        assert_eq!(throttle.delay(peer(2), now), Duration::ZERO);
        let later = now + INTERVAL * (FREE + 1);
        assert_eq!(throttle.delay(peer(1), later), Duration::ZERO, "forgotten");
    }

    #[test]
    fn tokens_at_the_same_time_wait_for_a_bounded_time() {
        let throttle = Throttle::default();
        let now = Instant::now();
        let delays: Vec<Duration> = (0..100).map(|_| throttle.delay(peer(1), now)).collect();
        assert_eq!(delays.iter().filter(|delay| delay.is_zero()).count(), 10);
        assert_eq!(delays.iter().filter(|delay| **delay == MAX_DELAY).count(), 81);
    }

    #[test]
    fn addresses_of_one_network_and_peers_beyond_the_limit_share_their_delays() {
        let throttle = Throttle::default();
        let now = Instant::now();
        for number in 0..FREE {
            let own = Ipv6Addr::new(0xfd00, 0, 0, 7, 0, 0, 0, u16::try_from(number).unwrap());
            assert!(throttle.delay(own.into(), now).is_zero());
        }
        let other = Ipv6Addr::new(0xfd00, 0, 0, 7, 1, 2, 3, 4);
        assert_eq!(throttle.delay(other.into(), now), INTERVAL);

        let throttle = Throttle::default();
        for number in 0..6_000 {
            throttle.delay(peer(number + 1), now);
        }
        assert!(throttle.0.lock().unwrap().len() <= MAX_PEERS + 1);
        assert_eq!(throttle.delay(peer(7_000), now), MAX_DELAY);
        let later = now + INTERVAL * FREE + MAX_DELAY;
        assert_eq!(throttle.delay(peer(7_000), later), Duration::ZERO);
    }
}
