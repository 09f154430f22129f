//! Random bytes that a form carries: generated values are derived from them, so that they stay the
//! same while a person fills in the form.

use crate::status::{Result, Status};

/// The bytes that a form sent as digits, or new ones.
pub(super) fn of(text: &str) -> Result<[u8; 32]> {
    let mut seed = [0; 32];
    let digits: Vec<u8> = text.bytes().filter_map(digit).collect();
    if text.len() == 64 && digits.len() == 64 {
        for (byte, pair) in seed.iter_mut().zip(digits.chunks(2)) {
            *byte = pair.iter().fold(0, |byte, digit| byte << 4 | digit);
        }
        return Ok(seed);
    }
    let filled = getrandom::fill(&mut seed);
    filled.map_err(|_| Status::internal("the system gives no random numbers"))?;
    Ok(seed)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
