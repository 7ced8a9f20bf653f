//! Files that can't be scanned are one line on stderr and an exit code of sysexits(3).

mod common;

use std::ffi::{CString, OsStr};
use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use common::{assert_refused, command, expected, program, run, strategies, unavailable};

fn assert_no_input(file: &Path, about: &str) {
    for strategy in strategies("scan") {
        assert_refused(&strategy, &run(&strategy, [file]), 66, about);
    }
}

#[test]
fn a_missing_file_is_no_input() {
    assert_no_input(
        Path::new("no/such/file"),
        "no/such/file: can't open: No such file",
    );
    assert_no_input(Path::new(""), "No such file");
}

#[test]
fn a_folder_is_no_input() {
    assert_no_input(tempfile::tempdir().unwrap().path(), "a folder");
}

#[test]
fn a_link_to_nowhere_is_no_input() {
    let folder = tempfile::tempdir().unwrap();
    symlink("nowhere", folder.path().join("link")).unwrap();
    assert_no_input(&folder.path().join("link"), "No such file");
}

#[test]
fn a_fifo_is_no_input_and_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let path = CString::new(fifo.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path ends with NUL.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    assert_no_input(&fifo, "a FIFO");
}

#[test]
fn a_device_is_no_input() {
    assert_no_input(Path::new("/dev/zero"), "a device");
}

#[test]
fn files_made_by_the_kernel_are_no_input() {
    for file in [
        "/proc/self/status",
        "/proc/kcore",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ] {
        if Path::new(file).exists() {
            assert_no_input(Path::new(file), "made by the kernel");
        } else {
            eprintln!("skipped: {file}: not on this system");
        }
    }
}

#[test]
fn an_unreadable_file_is_no_input() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let file = folder.path().join("secret");
    fs::write(&file, "secret").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o000)).unwrap();
    // SAFETY: asks for a number.
    let root = unsafe { libc::geteuid() } == 0;
    for strategy in strategies("scan") {
        let output = match root {
            false => run(&strategy, [&file]),
            true => run_as_nobody(&strategy, folder.path(), &file),
        };
        assert_refused(&strategy, &output, 66, "Permission denied");
    }
}

/// Nothing is unreadable to root. The program is copied to `folder`, where others may run it.
fn run_as_nobody(strategy: &str, folder: &Path, file: &Path) -> Output {
    let copy = folder.join(strategy);
    fs::copy(program(strategy), &copy).unwrap();
    let mut command = Command::new(copy);
    command
        .uid(65534)
        .gid(65534)
        .arg(file)
        .env_remove("READOFF_RECORD");
    loop {
        match command.output() {
            // Another test has just forked, and its child still has the copy open for writing.
            Err(busy) if busy.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(1));
            }
            output => return output.unwrap(),
        }
    }
}

#[test]
fn odd_names_are_read_and_told_on_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let names: [&[u8]; 7] = [
        b"two words",
        b"quo'te\"s",
        b"$HOME {x} ~",
        b"new\nline",
        b"-dash",
        b"--json",
        b"\xff\xfe",
    ];
    for name in names {
        let name = OsStr::from_bytes(name);
        fs::write(folder.path().join(name), "odd\n").unwrap();
        for strategy in strategies("scan") {
            let mut there = command(&strategy);
            there.current_dir(folder.path()).arg("--").arg(name);
            let output = there.output().unwrap();
            if !unavailable(&strategy, &output) {
                assert_eq!(
                    String::from_utf8(output.stdout).unwrap(),
                    expected("xor", b"odd\n")
                );
            }
        }
        fs::remove_file(folder.path().join(name)).unwrap();
        let mut gone = command("scan-read");
        gone.current_dir(folder.path()).arg("--").arg(name);
        assert_refused("scan-read", &gone.output().unwrap(), 66, "No such file");
    }
}

#[test]
fn a_buffer_larger_than_memory_is_refused_with_both_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "small").unwrap();
    for strategy in [
        "scan-read",
        "scan-read-advise",
        "scan-fread",
        "scan-bufreader",
    ] {
        let args = ["--buffer".as_ref(), "100TiB".as_ref(), file.as_os_str()];
        let output = run(strategy, args);
        assert_refused(
            strategy,
            &output,
            69,
            "100.0 TiB is more than the memory available, ",
        );
    }
    let args = [
        "--stdio-buffer".as_ref(),
        "100TiB".as_ref(),
        file.as_os_str(),
    ];
    assert_refused("scan-fread", &run("scan-fread", args), 69, "100.0 TiB");
}

#[test]
fn a_file_larger_than_memory_is_refused_by_those_that_want_it_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparse");
    if let Err(why) = File::create(&file).unwrap().set_len(15 << 40) {
        eprintln!("skipped: a file larger than memory: the filesystem has none: {why}");
        return;
    }
    for strategy in ["scan-read-whole", "scan-fread-whole", "scan-fs-read"] {
        assert_refused(
            strategy,
            &run(strategy, [&file]),
            69,
            "15.0 TiB is more than",
        );
    }
}

#[test]
fn an_allocation_that_fails_is_refused_not_aborted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparse");
    File::create(&file).unwrap().set_len(100 << 20).unwrap();
    for strategy in ["scan-read-whole", "scan-fread-whole", "scan-fs-read"] {
        let mut limited = command(strategy);
        limited.arg(&file);
        // SAFETY: setrlimit is async-signal-safe and takes no memory of ours.
        unsafe {
            limited.pre_exec(|| {
                let limit = libc::rlimit {
                    rlim_cur: 64 << 20,
                    rlim_max: 64 << 20,
                };
                assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0);
                Ok(())
            });
        }
        assert_refused(strategy, &limited.output().unwrap(), 69, "can't allocate");
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_io_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        eprintln!("skipped: a full stdout: no /dev/full on this system");
        return;
    };
    for args in [&["--json"][..], &[]] {
        let mut command = command("scan-read");
        let output = command
            .args(args)
            .arg(&file)
            .stdout(full.try_clone().unwrap())
            .output();
        assert_refused("scan-read", &output.unwrap(), 74, "stdout: No space left");
    }
    let output = command("scan-read")
        .arg("-h")
        .stdout(full)
        .output()
        .unwrap();
    assert_refused("scan-read", &output, 74, "stdout: No space left");
}

#[test]
fn a_pipe_that_nobody_reads_is_an_io_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command("scan-read")
        .arg(&file)
        .stdout(writer)
        .output()
        .unwrap();
    assert_refused("scan-read", &output, 74, "Broken pipe");
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_stdout_is_an_io_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let mut command = command("scan-read");
    command.arg(&file).stdout(Stdio::null());
    // SAFETY: close is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            libc::close(libc::STDOUT_FILENO);
            Ok(())
        });
    }
    let output = command
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    assert_refused("scan-read", &output, 74, "stdout: Bad file descriptor");
}
