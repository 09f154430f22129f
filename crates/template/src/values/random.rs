//! Sources of random numbers: the system, or a secret seed.

use hkdf::Hkdf;
use sha2::Sha256;

/// A source of random numbers.
pub trait Random {
    /// A number from 0 to `bound - 1`, each equally likely. `bound` is at least 1.
    ///
    /// # Errors
    /// If there is no randomness; the text gives the reason.
    fn below(&mut self, bound: u32) -> Result<u32, String>;
}

/// Randomness from the operating system: different every time, as secrets should be.
#[derive(Default)]
pub struct SystemRandom {
    /// Integers that nothing has drawn yet. Asking for each one takes long.
    left: Vec<u32>,
}

/// The number of integers that are asked for at once.
const AT_ONCE: usize = 64;

impl SystemRandom {
    fn next_integer(&mut self) -> Result<u32, String> {
        if self.left.is_empty() {
            let mut bytes = [0; 4 * AT_ONCE];
            getrandom::fill(&mut bytes).map_err(no_randomness)?;
            let (integers, _) = bytes.as_chunks();
            self.left.extend(integers.iter().copied().map(u32::from_ne_bytes));
        }
        self.left.pop().ok_or_else(|| "the system gave none".to_owned())
    }
}

impl Random for SystemRandom {
    fn below(&mut self, bound: u32) -> Result<u32, String> {
        uniform(bound, || self.next_integer())
    }
}

fn no_randomness(error: getrandom::Error) -> String {
    format!("the system gives no random numbers: {error}")
}

/// The number of bytes of a random seed.
pub(crate) const SEED: usize = 32;

/// A secret for a [`SeededRandom`], from the system.
pub(crate) fn random_seed() -> Result<[u8; SEED], String> {
    let mut seed = [0; SEED];
    getrandom::fill(&mut seed).map_err(no_randomness)?;
    Ok(seed)
}

/// Randomness derived from a secret: the same every time for one parameter of one instance of a
/// template in one scope, and not to be guessed without the secret.
///
/// The derivation never changes, because values that run in clusters depend on it:
///
/// ```text
/// key      = HKDF-SHA256-Extract(salt = "krm-template/generate/v1", input = seed)
/// field(x) = the number of bytes of x as a 64-bit big-endian integer, then x in UTF-8
/// block(n) = HKDF-SHA256-Expand(key, length = 32, info =
/// field(template) field(instance) field(parameter), field(scope) unless that is empty,
/// and n as a 64-bit big-endian integer)
/// stream   = block(0) block(1) block(2) …
/// ```
///
/// The stream is read as 32-bit big-endian integers. A number below `bound` is the next integer
/// modulo `bound`, after skipping integers that are not below the largest multiple of `bound` that
/// is at most 2³². It picks from the characters of a class in the order the class first mentions
/// them.
pub struct SeededRandom {
    /// `None` if the seed is empty: anyone could compute the values.
    key: Option<Hkdf<Sha256>>,
    info: Vec<u8>,
    next_block: u64,
    block: [u8; BLOCK],
    /// How many bytes of `block` were read.
    read: usize,
}

/// The bytes that one HKDF-SHA256-Expand of a [`SeededRandom`] gives: one output of the hash.
const BLOCK: usize = 32;

impl SeededRandom {
    /// The stream of one parameter of one instance of a template in a scope, which may be empty.
    /// With an empty `seed` every draw is an error.
    #[must_use]
    pub fn new(seed: &[u8], scope: &str, template: &str, instance: &str, parameter: &str) -> Self {
        let mut info = Vec::new();
        let scope = Some(scope).filter(|scope| !scope.is_empty());
        for field in [template, instance, parameter].into_iter().chain(scope) {
            info.extend((field.len() as u64).to_be_bytes());
            info.extend(field.as_bytes());
        }
        Self {
            key: (!seed.is_empty()).then(|| Hkdf::new(Some(b"krm-template/generate/v1"), seed)),
            info,
            next_block: 0,
            block: [0; BLOCK],
            read: BLOCK,
        }
    }

    fn next_integer(&mut self) -> Result<u32, String> {
        if self.read == BLOCK {
            self.fill_block()?;
        }
        let unread = self.block.get(self.read..).and_then(<[u8]>::first_chunk);
        let bytes = unread.ok_or("the seeded stream ended")?;
        self.read += bytes.len();
        Ok(u32::from_be_bytes(*bytes))
    }

    fn fill_block(&mut self) -> Result<(), String> {
        let key = self.key.as_ref().ok_or("the secret seed is empty")?;
        key.expand_multi_info(&[&self.info, &self.next_block.to_be_bytes()], &mut self.block)
            .map_err(|error| format!("the seeded stream ended: {error}"))?;
        self.next_block += 1;
        self.read = 0;
        Ok(())
    }
}

impl Random for SeededRandom {
    fn below(&mut self, bound: u32) -> Result<u32, String> {
        uniform(bound, || self.next_integer())
    }
}

/// The first of the integers from `next` that lies in a whole multiple of `bound`, modulo `bound`:
/// a plain modulo would make small numbers likelier.
fn uniform(bound: u32, mut next: impl FnMut() -> Result<u32, String>) -> Result<u32, String> {
    let bound = bound.max(1);
    // 2³² modulo `bound`: so many integers at the upper end are in no whole multiple.
    let incomplete = (u32::MAX % bound + 1) % bound;
    loop {
        let integer = next()?;
        if integer <= u32::MAX - incomplete {
            return Ok(integer % bound);
        }
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::{Random, SeededRandom, SystemRandom, uniform};
    use crate::values::generate::expression;

    #[test]
    fn the_system_gives_another_value_every_time() {
        let [first, second] =
            [(); 2].map(|()| expression(r"[\w]{40}", &mut SystemRandom::default()));
        assert_ne!(first, second);
    }

    /// Known answers, computed with Python's `hmac` and `hashlib` from the derivation in the
    /// documentation of [`SeededRandom`]. They must never change.
    #[track_caller]
    fn check_seeded(names: [&str; 3], expected: &str) {
        check_scoped("", names, expected);
    }

    #[track_caller]
    fn check_scoped(scope: &str, [template, instance, parameter]: [&str; 3], expected: &str) {
        let mut random = SeededRandom::new(b"a secret seed", scope, template, instance, parameter);
        let value = expression(r"user-[a-z0-9]{8}/[\w]{24}", &mut random);
        assert_eq!(value.as_deref(), Ok(expected));
    }

    #[test]
    fn a_seed_gives_the_same_value_for_ever() {
        check_seeded(["mongodb", "prod", "PASSWORD"], "user-gkwymjk3/5mNRBEU6kHUJbiiMmoQCo5zy");
        check_seeded(["mongodb", "prod", "USER"], "user-vii2ydfw/WrxEBIkRL_fqfq0_gUeI9ffz");
        check_seeded(["mongödb", "", "PASSWORD"], "user-3223rud4/mgo22_NzD6zS5HV1YSa7RqNr");
    }

    #[test]
    fn names_that_join_to_the_same_text_give_different_values() {
        check_seeded(["mongodb", "prodP", "ASSWORD"], "user-nrdo5tdz/HT4g8j0c3N_xDBpgoMUod4rI");
        check_seeded(["mongodbp", "rod", "PASSWORD"], "user-5644h8xi/gfgN3sB0goPbG2GkWv8bIpt6");
    }

    #[test]
    fn a_scope_gives_other_values_and_joins_with_no_name() {
        let names = ["mongodb", "prod", "PASSWORD"];
        check_scoped("team-a/shop", names, "user-skcwn9l1/zoTIbtxc6Wqq0yWNziAVJCEN");
        check_scoped("team-b/shop", names, "user-5jqgnrhc/dAFs1V_lCH04E68hfjKCTWYw");
        check_seeded(
            ["mongodb", "prod", "PASSWORDteam-a/shop"],
            "user-7uevwro3/chW42ka5rDi3vsqXRsPDS_DB",
        );
    }

    #[test]
    fn a_seeded_number_is_never_cut_to_size_by_bias() {
        let mut random = SeededRandom::new(b"a secret seed", "", "mongodb", "prod", "PASSWORD");
        let drawn: Vec<_> = (0..4).map(|_| random.below((1 << 31) + 1).unwrap()).collect();
        assert_eq!(drawn, [608_337_978, 1_804_901_532, 1_519_602_276, 1_563_481_090]);
    }

    #[test]
    fn a_seeded_stream_is_longer_than_one_hkdf_output() {
        let mut random = SeededRandom::new(b"a secret seed", "", "mongodb", "prod", "PASSWORD");
        let value = expression(&"[a-z]{255}".repeat(40), &mut random).unwrap();
        let digest: [u8; 32] = Sha256::digest(value).into();
        assert!(digest.starts_with(&0x3a04_e584_8e51_e459_u64.to_be_bytes()));
    }

    #[test]
    fn an_empty_seed_gives_no_value() {
        let mut random = SeededRandom::new(b"", "", "t", "i", "P");
        let error = expression("[a-z]{8}", &mut random).unwrap_err();
        assert_eq!(error.message, "cannot generate a value: the secret seed is empty");
    }

    #[test]
    fn integers_in_an_incomplete_multiple_are_drawn_again() {
        let draw = |bound, integers: &[u32]| {
            let mut integers = integers.iter().copied();
            uniform(bound, || integers.next().ok_or("none left".to_owned()))
        };
        assert_eq!(draw(3, &[u32::MAX, 5]), Ok(2));
        assert_eq!(draw(3, &[u32::MAX - 1]), Ok(2));
        assert_eq!(draw(1, &[u32::MAX]), Ok(0));
        assert_eq!(draw(2, &[u32::MAX]), Ok(1));
        assert_eq!(draw(u32::MAX, &[u32::MAX, 7]), Ok(7));
        assert_eq!(draw(10, &[u32::MAX - 5]), Err("none left".to_owned()));
        assert_eq!(draw(10, &[u32::MAX - 6]), Ok(9));
    }
}
