use csv::{ReaderBuilder, StringRecord};

use crate::made;

const COLUMNS: [&str; 8] = [
    "id", "date", "city", "customer", "quantity", "price", "code", "comment",
];

fn rows_of(data: &[u8]) -> Vec<StringRecord> {
    let mut reader = ReaderBuilder::new().from_reader(data);
    assert_eq!(reader.headers().unwrap(), &COLUMNS[..]);
    reader.records().collect::<Result<_, _>>().unwrap() // an uneven row is an error
}

#[test]
fn the_bytes_never_change() {
    let data = made("csv --size 1MiB");
    let text = std::str::from_utf8(&data).unwrap();
    let first: Vec<&str> = text.split_inclusive("\r\n").take(3).collect();
    assert_eq!(
        first,
        [
            "id,date,city,customer,quantity,price,code,comment\r\n",
            "1,2014-09-28,Islamabad,\"Novák, Eva\",763,8773.52,28550868,\"figure great father between light people might point\r\n",
            "along among follow began count\"\r\n",
        ]
    );
    assert_eq!(
        (data.len(), crc32fast::hash(&data)),
        (1_048_537, 2_928_245_635)
    );

    let data = made("csv --size 1MiB --seed 2");
    assert_eq!(
        (data.len(), crc32fast::hash(&data)),
        (1_048_543, 1_351_662_292)
    );
}

#[test]
fn a_csv_reader_finds_every_row_and_field() {
    let rows = rows_of(&made("csv --rows 20000"));
    assert_eq!(rows.len(), 20_000);
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(row[0], (index + 1).to_string());
        assert_eq!(row[1].len(), "2014-09-28".len(), "{row:?}");
        assert!(row[3].contains(", "), "{row:?}");
        assert!(
            (1..=999).contains(&row[4].parse::<u32>().unwrap()),
            "{row:?}"
        );
        assert!(
            row[5]
                .split_once('.')
                .is_some_and(|(_, cents)| cents.len() == 2),
            "{row:?}"
        );
        assert!(
            row[6].len() == 8 && row[6].parse::<u32>().is_ok(),
            "{row:?}"
        );
    }
}

#[test]
fn some_fields_hold_what_needs_quotes() {
    let data = made("csv --rows 20000");
    let rows = rows_of(&data);
    let comments = |wanted: &dyn Fn(&str) -> bool| rows.iter().filter(|r| wanted(&r[7])).count();
    assert!(comments(&|text| text.is_empty()) > 1000);
    assert!(comments(&|text| text.contains(',')) > 1000);
    assert!(comments(&|text| text.contains('"')) > 1000);
    assert!(comments(&|text| text.contains('\n') && !text.contains('\r')) > 1000);
    assert!(comments(&|text| text.contains("\r\n")) > 1000);
    // So there are many more lines than rows.
    let newlines = data.iter().filter(|byte| **byte == b'\n').count();
    assert!(newlines > 25_000, "{newlines}");
}

#[test]
fn rows_end_with_crlf_and_take_about_150_bytes() {
    // A little less in the first rows, whose ids have fewer digits.
    let data = made("csv --rows 20000");
    assert!(data.ends_with(b"\r\n"));
    assert!(
        (145 * 20_000..150 * 20_000).contains(&data.len()),
        "{}",
        data.len()
    );
}

#[test]
fn size_is_an_upper_bound_and_the_last_row_is_whole() {
    let header = COLUMNS.join(",") + "\r\n";
    let all = made("csv --rows 100");
    for (size, rows) in [(0, None), (header.len() - 1, None), (header.len(), Some(0))] {
        let data = made(&format!("csv --size {size}"));
        assert_eq!(data.len(), if rows.is_some() { header.len() } else { 0 });
    }
    for size in [100, 500, 1000, 5000, 9999] {
        let data = made(&format!("csv --size {size}"));
        let rows = rows_of(&data).len();
        assert_eq!(data, made(&format!("csv --rows {rows}")));
        assert!(data.len() <= size);
        // One row more wouldn't have fitted.
        assert!(made(&format!("csv --rows {}", rows + 1)).len() > size);
        assert!(all.starts_with(&data));
    }
}
