//! The program `row-index`, and the indexes that it makes.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{assert_refused, command, run};
use crate::{assert_all_refuse, file_of};

const CSV: &str = "a,b\r\n\"c\r\n\",d\r\n\r\ne\r\n";
const OFFSETS: [u64; 3] = [0, 5, 16];

fn row_index(file: &Path, index: &Path) -> Output {
    run("row-index", [file, index])
}

#[track_caller]
fn assert_made(output: &Output, told: &str) {
    assert_eq!(String::from_utf8_lossy(&output.stdout), told, "{output:?}");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
}

/// The file of [`CSV`] and its index.
fn indexed() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let (folder, file) = file_of(CSV.as_bytes());
    let index = folder.path().join("index");
    assert_made(&row_index(&file, &index), "3 rows\n");
    (folder, file, index)
}

/// Asserts that the strategies refuse the index of the file.
#[track_caller]
fn assert_unusable(file: &Path, index: &Path, about: &str) {
    let options = ["--work", "rows", "--index", index.to_str().unwrap()];
    assert_all_refuse(&options, file, 65, about);
}

#[test]
fn an_index_has_the_form_that_is_documented() {
    let (_folder, file, index) = indexed();
    let bytes = fs::read(&index).unwrap();
    let (magic, numbers) = bytes.split_at(8);
    assert_eq!(magic, b"rowindex");
    let numbers: Vec<u64> = numbers
        .chunks(8)
        .map(|number| u64::from_le_bytes(number.try_into().unwrap()))
        .collect();
    let data = fs::metadata(&file).unwrap();
    let changed = data.mtime() * 1_000_000_000 + data.mtime_nsec();
    let about = [data.size(), changed as u64, data.ino(), 3];
    assert_eq!(numbers[..4], about);
    let summed = [OFFSETS.as_slice(), &about].concat();
    let summed: Vec<u8> = summed.into_iter().flat_map(u64::to_le_bytes).collect();
    let crc = crate::common::reference("crc32", &summed);
    assert_eq!(format!("{:08x}", numbers[4]), crc);
    assert_eq!(numbers[5..], OFFSETS);
}

#[test]
fn an_index_is_left_alone_while_it_is_right() {
    let (folder, file, index) = indexed();
    let made = fs::metadata(&index).unwrap();
    let same =
        |now: &fs::Metadata| (now.ino(), now.mtime_nsec()) == (made.ino(), made.mtime_nsec());
    assert_made(&row_index(&file, &index), "3 rows, as before\n");
    assert!(same(&fs::metadata(&index).unwrap()));
    fs::write(&file, "a\nb\n").unwrap();
    assert_made(&row_index(&file, &index), "2 rows\n");
    assert!(!same(&fs::metadata(&index).unwrap()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn an_index_is_readable_to_others_as_any_new_file_is() {
    let (folder, _file, index) = indexed();
    let plain = folder.path().join("plain");
    File::create(&plain).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&index), mode(&plain));
}

#[test]
fn a_file_found_by_a_link_has_the_same_index() {
    let (folder, file, index) = indexed();
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    assert_made(&row_index(&link, &index), "3 rows, as before\n");
}

#[test]
fn an_index_of_another_file_is_refused_with_what_to_do() {
    let (folder, file, index) = indexed();
    let copy = folder.path().join("copy");
    fs::copy(&file, &copy).unwrap();
    let about = format!(
        "of another file, or older than the last change of it: make it again by `row-index {} {}`",
        copy.display(),
        index.display()
    );
    assert_unusable(&copy, &index, &about);
    let longer = [CSV, "f\r\n"].concat();
    fs::write(&file, longer).unwrap();
    assert_unusable(&file, &index, "of another file, or older");
}

#[test]
fn a_damaged_index_is_refused_whatever_byte_it_is() {
    let (_folder, file, index) = indexed();
    let whole = fs::read(&index).unwrap();
    let options = [
        "--work".as_ref(),
        "rows".as_ref(),
        "--index".as_ref(),
        index.as_os_str(),
    ];
    let refused = |what: &str| {
        let output = run(
            "seek-pread",
            options.iter().copied().chain([file.as_os_str()]),
        );
        assert_refused("seek-pread", &output, 65, "row");
        assert!(output.stderr.starts_with(b"seek-pread: "), "{what}");
    };
    for at in 0..whole.len() {
        for flip in [1, 0x80] {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            fs::write(&index, damaged).unwrap();
            refused(&format!("byte {at}"));
        }
    }
    for length in 0..whole.len() {
        fs::write(&index, &whole[..length]).unwrap();
        refused(&format!("{length} bytes"));
    }
    fs::write(&index, [&whole[..], &whole[..8]].concat()).unwrap();
    refused("a row too many");
    assert_made(&row_index(&file, &index), "3 rows\n");
    assert_eq!(fs::read(&index).unwrap(), whole);
}

#[test]
fn what_is_no_index_is_refused_as_one() {
    let (folder, file, _index) = indexed();
    assert_unusable(&file, &file, "no row index: `row-index` makes one");
    let missing = folder.path().join("missing");
    let options = ["--work", "rows", "--index", missing.to_str().unwrap()];
    assert_all_refuse(&options, &file, 66, "missing: can't open: No such file");
    let fifo = folder.path().join("fifo");
    let path = CString::new(fifo.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path ends with NUL.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    let options = ["--work", "rows", "--index", fifo.to_str().unwrap()];
    assert_all_refuse(&options, &file, 66, "fifo: a FIFO");
}

#[test]
fn no_other_file_is_overwritten() {
    let (folder, file, index) = indexed();
    let refused = |data: &Path, index: &Path, about: &str| {
        assert_refused("row-index", &row_index(data, index), 73, about);
    };
    // The two names exchanged.
    refused(
        &index,
        &file,
        "is there and no row index: name another file",
    );
    refused(&file, &file, "is there and no row index");
    refused(&file, folder.path(), "is there and no regular file");
    refused(
        &file,
        Path::new("/dev/null"),
        "is there and no regular file",
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), CSV);
    refused(
        &file,
        &folder.path().join("no/index"),
        "can't create: No such file",
    );
}

#[test]
fn names_may_be_odd() {
    let folder = tempfile::tempdir().unwrap();
    let name = |bytes| folder.path().join(OsStr::from_bytes(bytes));
    let (file, index) = (name(b"da\nta\xff"), name(b"in dex\xfe"));
    fs::write(&file, CSV).unwrap();
    assert_made(&row_index(&file, &index), "3 rows\n");
    let mut command = command("seek-mmap");
    command
        .args(["--work", "rows", "--index"])
        .arg(&index)
        .arg(&file);
    let output = command.output().unwrap();
    assert!(output.stdout.starts_with(b"rows 3:"), "{output:?}");
}

#[test]
fn data_that_cannot_be_indexed_leaves_nothing_behind() {
    let (folder, file) = file_of(b"a\n\"b\nc\n");
    let index = folder.path().join("index");
    let about = "the row at byte 2 has a quote that is never closed";
    assert_refused("row-index", &row_index(&file, &index), 65, about);
    let missing = row_index(&folder.path().join("missing"), &index);
    assert_refused("row-index", &missing, 66, "No such file");
    assert_refused(
        "row-index",
        &row_index(folder.path(), &index),
        66,
        "a folder",
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_the_command_line_gets_wrong_is_one_line() {
    for (args, about) in [
        (&[][..], "which FILE and which INDEX?"),
        (&["f"], "which FILE and which INDEX?"),
        (&["f", "i", "x"], "which FILE and which INDEX?"),
        (&["--force", "f", "i"], "--force"),
    ] {
        assert_refused("row-index", &run("row-index", args), 64, about);
    }
    let help = String::from_utf8(run("row-index", ["--help"]).stdout).unwrap();
    assert!(help.contains("Usage: row-index FILE INDEX"), "{help}");
}

#[test]
fn an_interrupted_index_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    // One row that takes minutes to read.
    if let Err(why) = File::create(&file).unwrap().set_len(1 << 40) {
        eprintln!("skipped: an interrupted index: the filesystem has no such file: {why}");
        return;
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let mut command = command("row-index");
        command.arg(&file).arg(folder.path().join("index"));
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        while fs::read_dir(folder.path()).unwrap().count() == 1 {
            assert!(child.try_wait().unwrap().is_none());
            thread::sleep(Duration::from_millis(1));
        }
        // SAFETY: our own child, not waited for yet.
        unsafe { libc::kill(child.id() as libc::pid_t, signal) };
        assert_eq!(child.wait().unwrap().signal(), Some(signal));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    use std::os::unix::process::CommandExt;
    let (folder, file) = file_of(&b"a\n".repeat(10_000));
    let mut command = command("row-index");
    command.arg(&file).arg(folder.path().join("index"));
    // SAFETY: setrlimit is async-signal-safe and takes no memory of ours.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit {
                rlim_cur: 4096,
                rlim_max: 4096,
            };
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
            Ok(())
        });
    }
    let output = command.output().unwrap();
    assert_refused("row-index", &output, 74, "writing failed: File too large");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
