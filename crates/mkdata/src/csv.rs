//! A CSV file as RFC 4180 has it: a header, CRLF after each row, quoted fields with all that they may hold.

use crate::error::Result;
use crate::measurements::STATIONS;
use crate::padded::Padded;
use crate::rng::Rng;
use crate::sink::{Limit, Sink};

/// What a row takes on average, bytes, rounded up.
pub const MEAN_ROW: u64 = 150;

const HEADER: &[u8] = b"id,date,city,customer,quantity,price,code,comment\r\n";

/// The forms of a comment, each as frequent as the others: whether it is quoted, and what stands at one
/// place between its words. The first form is a field without anything.
const FORMS: [(bool, &str); 8] = [
    (false, ""),
    (false, " "),
    (true, " "),
    (true, ", "),
    (true, " \"\"as said\"\" "),
    (true, "\n"),
    (true, "\r\n"),
    (true, ",\"\"\r\n\n\"\" "),
];

const CUSTOMERS: [&str; 16] = [
    "\"Smith, Anna\"",
    "\"Nguyễn, Minh\"",
    "\"García, José\"",
    "\"Müller, Ute\"",
    "\"Kim, Ji-woo\"",
    "\"Okafor, Chidi\"",
    "\"Rossi, Paolo\"",
    "\"Novák, Eva\"",
    "\"O'Brien, Sean\"",
    "\"Silva, Maria\"",
    "\"Haddad, Omar\"",
    "\"Ivanova, Olga\"",
    "\"Kaya, Deniz\"",
    "\"Tanaka, Yuki\"",
    "\"Patel, Asha\"",
    "\"Jansen, Piet\"",
];

const WORDS: &str = "about above after again along among asked began being below between both bring \
    carry change clear close come count cover cross depend early earth every example family father \
    field figure first follow found great group house just kind large learn letter light little \
    might money mountain never night number often order paper people picture place plant point \
    rather river school second sentence several shape";

/// Writes the header and rows until `limit`; returns how many rows. A header that doesn't fit is left out.
///
/// # Errors
/// Those of [`Sink::rows`].
pub fn write(sink: &mut Sink, limit: Limit, seed: u64) -> Result<u64> {
    if matches!(limit, Limit::Bytes(bytes) if bytes < HEADER.len() as u64) {
        return Ok(0);
    }
    sink.buffer().extend_from_slice(HEADER);
    let mut rows = Rows::new(seed);
    sink.rows(limit, |out| rows.append(out))
}

struct Rows {
    rng: Rng,
    /// Of the row to come.
    id: u64,
    cities: Vec<Padded<32>>,
    customers: Vec<Padded<32>>,
    words: Vec<Padded<16>>,
}

impl Rows {
    fn new(seed: u64) -> Self {
        let city = |line: &str| Padded::new(line.split(';').next().unwrap_or(line));
        Self {
            rng: Rng::new(seed),
            id: 1,
            cities: STATIONS.lines().map(city).collect(),
            customers: CUSTOMERS.map(Padded::new).to_vec(),
            words: WORDS.split_whitespace().map(Padded::new).collect(),
        }
    }

    fn append(&mut self, out: &mut Vec<u8>) {
        append_number(out, self.id, 1);
        self.id += 1;
        out.push(b',');
        self.append_date(out);
        out.push(b',');
        pick(&mut self.rng, &self.cities).append_to(out);
        out.push(b',');
        pick(&mut self.rng, &self.customers).append_to(out);
        out.push(b',');
        append_number(out, 1 + self.rng.below(999), 1);
        out.push(b',');
        append_number(out, self.rng.below(10_000), 1);
        out.push(b'.');
        append_number(out, self.rng.below(100), 2);
        out.push(b',');
        append_number(out, self.rng.below(100_000_000), 8);
        out.push(b',');
        self.append_comment(out);
        out.extend_from_slice(b"\r\n");
    }

    fn append_date(&mut self, out: &mut Vec<u8>) {
        append_number(out, 2000 + self.rng.below(25), 4);
        out.push(b'-');
        append_number(out, 1 + self.rng.below(12), 2);
        out.push(b'-');
        append_number(out, 1 + self.rng.below(28), 2); // every month has that day
    }

    fn append_comment(&mut self, out: &mut Vec<u8>) {
        let form = self.rng.below(FORMS.len() as u64) as usize;
        if form == 0 {
            return;
        }
        let (quoted, special) = FORMS[form];
        let count = 7 + self.rng.below(16);
        let special_after = self.rng.below(count - 1);
        if quoted {
            out.push(b'"');
        }
        for index in 0..count {
            pick(&mut self.rng, &self.words).append_to(out);
            if index == special_after {
                out.extend_from_slice(special.as_bytes());
            } else if index + 1 < count {
                out.push(b' ');
            }
        }
        if quoted {
            out.push(b'"');
        }
    }
}

#[inline]
fn pick<'a, T>(rng: &mut Rng, from: &'a [T]) -> &'a T {
    &from[rng.below(from.len() as u64) as usize]
}

/// Appends `number` in decimal, with zeros before it up to `digits` digits.
#[inline]
fn append_number(out: &mut Vec<u8>, mut number: u64, digits: usize) {
    let mut text = [b'0'; 20]; // u64::MAX has 20 digits
    let mut start = text.len();
    while number > 0 {
        start -= 1;
        text[start] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&text[start.min(text.len() - digits)..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_with_leading_zeros_where_asked_for() {
        let text = |number, digits| {
            let mut out = Vec::new();
            append_number(&mut out, number, digits);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(0, 1), "0");
        assert_eq!(text(7, 2), "07");
        assert_eq!(text(123, 2), "123");
        assert_eq!(text(u64::MAX, 1), u64::MAX.to_string());
    }

    #[test]
    fn there_are_64_words() {
        assert_eq!(Rows::new(1).words.len(), 64);
    }
}
