//! Compresses the schemas and rules for the program.
#![expect(clippy::disallowed_methods, reason = "these are files of the crate")]

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=data");
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    for name in ["schemas.txt", "rules.txt", "relations.txt"] {
        let mut text = fs::read(Path::new("data").join(name))?;
        if name == "rules.txt" {
            text.extend(fs::read("data/more-rules.txt")?);
        }
        let packed = miniz_oxide::deflate::compress_to_vec(&text, 10);
        fs::write(Path::new(&out).join(name), packed)?;
    }
    Ok(())
}
