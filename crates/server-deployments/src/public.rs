//! Public IP addresses.
//!
//! Source: the IANA special-purpose address registries (RFC 6890).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 networks that are not public: the address and the prefix length.
const SPECIAL_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    // Multicast, reserved, broadcast.
    ([224, 0, 0, 0], 3),
];

/// IPv6 networks in [`GLOBAL_V6`] that are not public.
const SPECIAL_V6: &[([u16; 2], u32)] = &[
    // Includes Teredo, which embeds IPv4 addresses.
    ([0x2001, 0], 23),
    ([0x2001, 0x0db8], 32),
    // 6to4, which embeds IPv4 addresses.
    ([0x2002, 0], 16),
    ([0x3fff, 0], 20),
];

/// The IPv6 network of global unicast addresses.
const GLOBAL_V6: ([u16; 2], u32) = ([0x2000, 0], 3);

/// Returns `true` if an address is globally reachable.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|&network| has_v4(network, address)),
        IpAddr::V6(address) => {
            has_v6(GLOBAL_V6, address)
                && !SPECIAL_V6.iter().any(|&network| has_v6(network, address))
        }
    }
}

fn has_v4((network, bits): ([u8; 4], u32), address: Ipv4Addr) -> bool {
    let difference = Ipv4Addr::from(network).to_bits() ^ address.to_bits();
    difference.leading_zeros() >= bits
}

fn has_v6(([first, second], bits): ([u16; 2], u32), address: Ipv6Addr) -> bool {
    let network = Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0);
    let difference = network.to_bits() ^ address.to_bits();
    difference.leading_zeros() >= bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(addresses: &[&str], expected: bool) {
        for address in addresses {
            let parsed: IpAddr = address.parse().unwrap();
            assert_eq!(is_public(parsed), expected, "{address}");
        }
    }

    #[test]
    fn addresses_of_the_internet_are_public() {
        check(
            &[
                "1.1.1.1",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2606:4700::1111",
                "2001:4860:4860::8888",
                "2001:db7:ffff::",
            ],
            true,
        );
    }

    #[test]
    fn other_addresses_are_not_public() {
        check(
            &[
                "0.0.0.0",
                "10.1.2.3",
                "100.64.0.1",
                "100.127.255.255",
                "127.0.0.1",
                "169.254.169.254",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.8",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::1",
                "::ffff:1.1.1.1",
                "64:ff9b::1.1.1.1",
                "100::1",
                "2001::1",
                "2001:1ff:ffff::",
                "2001:db8::1",
                "2002:7f00:1::",
                "3fff::1",
                "4000::1",
                "fc00::1",
                "fd12:3456::1",
                "fe80::1",
                "ff02::1",
            ],
            false,
        );
    }
}
