//! `BufReader`: lseek(2), then read(2) into its buffer; neither where the buffer has the bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::process::ExitCode;

use strategies::args::{Flag, Size};
use strategies::buffer;
use strategies::exit::Result;
use strategies::seek::{self, Args, Seek, Source};

const ABOUT: &str = "Rust's BufReader, a stream with seeks: seek_relative() and fill_buf()";

const BUFFER: Flag = Flag {
    name: "buffer",
    value: "SIZE",
    help: "of the stream, 8KiB by default (as BufReader::new has it): 4096, 64KiB, 1MiB",
};

fn main() -> ExitCode {
    seek::main(env!("CARGO_BIN_NAME"), ABOUT, &[BUFFER], run)
}

fn run(args: &Args) -> Result<()> {
    let Size(size) = args.line.get(BUFFER.name)?.unwrap_or(Size(8 << 10));
    let mut seek = Seek::start(args)?;
    // BufReader aborts where it can't allocate.
    buffer::check(size, seek.path())?;
    let file = File::open(seek.path()).map_err(|cause| seek.cannot_open(&cause))?;
    let reader = BufReader::with_capacity(size, file);
    seek.prepare(args)?;
    let mut stream = Stream {
        reader,
        position: 0,
    };
    seek.visit("lseek or read", &mut stream)
}

struct Stream {
    reader: BufReader<File>,
    position: u64,
}

impl Source for Stream {
    fn at(&mut self, offset: u64, _want: usize) -> io::Result<&[u8]> {
        // Keeps the buffer where the place is within it, as fseek(3) and other streams do.
        // BufReader::seek() would drop it each time.
        let way = offset as i64 - self.position as i64;
        self.reader.seek_relative(way)?;
        self.position = offset;
        self.reader.fill_buf()
    }
}
