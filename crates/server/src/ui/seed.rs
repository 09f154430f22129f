//! The seed of generated values. A form contains it, so that generated values stay the same while
//! the user fills in the form.

use krm_template_server_core::status::{Result, Status};

/// Parses the hexadecimal seed from a form, or generates a new one.
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
    filled.map_err(|_| Status::internal("cannot generate random numbers"))?;
    Ok(seed)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
