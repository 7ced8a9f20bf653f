//! Reads the file and what a rewrite made of it, and compares them byte by byte. No strategy: it
//! times nothing.

use std::fs::File;
use std::io::{self, Read};
use std::process::ExitCode;

use strategies::exit::Result;
use strategies::rewrite::{self, Args, Rewrite};

const ABOUT: &str = "whether DIR/copy has every byte of FILE plus one, and nothing else";

/// Bytes compared at a time.
const BLOCK: usize = 64 << 10;

fn main() -> ExitCode {
    rewrite::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut rewrite = Rewrite::start(args)?;
    let source = File::open(rewrite.path()).map_err(|cause| rewrite.cannot_open(&cause))?;
    let target = rewrite.open_target()?;
    rewrite.opened();
    loop {
        let offset = rewrite.bytes();
        let mut bytes =
            block(&source).map_err(|cause| rewrite.failed("read", Some(offset), &cause))?;
        let rewritten =
            block(&target.file).map_err(|cause| target.failed("read", Some(offset), &cause))?;
        let mut pairs = bytes.iter().zip(&rewritten);
        if let Some(at) = pairs.position(|(byte, new)| byte.wrapping_add(1) != *new) {
            return Err(target.wrong_at(offset + at as u64));
        }
        if bytes.is_empty() {
            return rewrite.finish(&target);
        }
        rewrite.add_one(&mut bytes)?;
    }
}

/// The next bytes of the file; less than a block only at its end.
fn block(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(BLOCK);
    file.take(BLOCK as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
