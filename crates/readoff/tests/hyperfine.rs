//! hyperfine as the driver uses it, against the real programs: `HYPERFINE_1_15`, `HYPERFINE_1_20`
//! and `HYPERFINE_2_0` say where they are. A test skips, by name, the versions that are not there.

use readoff::hyperfine::{Call, Contestant, Export, Failure, FailureKind, Hyperfine};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Words that some shell, splitter or template would change.
const NASTY: &[&str] = &[
    "",
    " ",
    "two  words",
    "it's",
    "\"",
    "'\"'\"'",
    "$HOME",
    "$(id)",
    "`id`",
    "two\nlines",
    "\n",
    "\t",
    "\r",
    "-i",
    "--",
    "--runs",
    "{a,b}",
    "{x}",
    "{}",
    "~",
    "~root",
    "#",
    "# no comment",
    "*",
    "/*",
    "?",
    "[a-z]",
    "\\",
    "\\\\",
    "\\n",
    "a\\",
    "a;b",
    "a&&b",
    "|",
    ">",
    "!",
    "!!",
    "if",
    "A=1",
    "é",
    "日本",
    "\u{a0}",
    "%s",
    "^",
];

/// Runs a test against each hyperfine that is there.
fn each_version(test: &str, run: impl Fn(&Hyperfine)) {
    for variable in ["HYPERFINE_1_15", "HYPERFINE_1_20", "HYPERFINE_2_0"] {
        match std::env::var_os(variable) {
            Some(path) => run(&Hyperfine::find(Some(Path::new(&path)), &[]).unwrap()),
            None => eprintln!("skipped: {test}: {variable} is not set"),
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

/// A contestant that is a line for `sh`.
fn sh(name: &str, script: &str) -> Contestant {
    Contestant {
        name: name.into(),
        command: words(&["sh", "-c", script]),
        prepare: vec![],
    }
}

fn call(dir: &Path, contestants: Vec<Contestant>) -> Call {
    Call {
        contestants,
        warmup: 0,
        runs: 1,
        export: "export.json".into(),
        dir: dir.into(),
        env: vec![],
    }
}

fn run(call: &Call, hyperfine: &Hyperfine) -> Result<Export, Failure> {
    // No test hangs for ever.
    call.run(
        hyperfine,
        &AtomicBool::new(false),
        Some(Instant::now() + Duration::from_secs(60)),
    )
}

/// The failure of a call, whose message is one line.
fn failure(call: &Call, hyperfine: &Hyperfine) -> (FailureKind, Option<usize>, String) {
    let failure = run(call, hyperfine).expect_err("the call should fail");
    let message = failure.to_string();
    assert!(!message.contains('\n'), "more than one line: {message:?}");
    (failure.kind, failure.contestant, message)
}

/// A program that claims to be hyperfine 1.20 and does what `script` says, with the export's path
/// in `$export`.
fn fake(dir: &Path, script: &str) -> Hyperfine {
    let path = dir.join("fake-hyperfine");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo hyperfine 1.20.0 && exit\n\
         for argument; do case $argument in --export-json=*) export=${{argument#*=}};; esac; done\n{script}\n"
    );
    // Written by another process: see the tests of `Hyperfine::find`.
    let write = r#"printf %s "$2" > "$1" && chmod +x "$1""#;
    assert!(
        Command::new("sh")
            .args(["-c", write, "sh"])
            .arg(&path)
            .arg(text)
            .status()
            .unwrap()
            .success()
    );
    Hyperfine::find(Some(&path), &[]).unwrap()
}

/// Whether a process runs; one that has ended and that nobody waited for doesn't.
fn runs(pid: &str) -> bool {
    let state = if Path::new("/proc/self/stat").exists() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().unwrap_or_default().to_owned()
    } else {
        let output = Command::new("ps")
            .args(["-o", "stat=", "-p", pid])
            .output()
            .expect("ps is there");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    !state.is_empty() && !state.starts_with('Z')
}

/// Whether a process is gone, which after SIGKILL takes a moment.
fn ends(pid: &str) -> bool {
    (0..500).any(|_| {
        thread::sleep(Duration::from_millis(10));
        !runs(pid)
    })
}

/// Waits until a file has a full line, and gives it.
fn line_of(path: &Path) -> String {
    for _ in 0..1000 {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => thread::sleep(Duration::from_millis(10)),
        }
    }
    panic!("{} has no line", path.display());
}

#[test]
fn every_word_arrives_as_it_is_in_commands_and_prepare_steps() {
    each_version("every_word_arrives_as_it_is", |hyperfine| {
        let dir = TempDir::new().unwrap();
        let append = |file: &str| -> Vec<String> {
            let mut command = words(&["sh", "-c", "printf '%s\\0' \"$@\" >> \"$0\"", file]);
            command.extend(words(NASTY));
            command
        };
        let contestant = Contestant {
            name: "x".into(),
            command: append("command"),
            prepare: append("prepare"),
        };
        run(&call(dir.path(), vec![contestant]), hyperfine).unwrap();
        for file in ["command", "prepare"] {
            let arrived = fs::read_to_string(dir.path().join(file)).unwrap();
            let arrived: Vec<&str> = arrived.strip_suffix('\0').unwrap().split('\0').collect();
            assert_eq!(arrived, NASTY, "{file} of hyperfine {}", hyperfine.version);
        }
    });
}

#[test]
fn every_name_comes_back_in_the_export() {
    each_version("every_name_comes_back", |hyperfine| {
        let dir = TempDir::new().unwrap();
        let contestants = NASTY.iter().map(|name| sh(name, "exit 0")).collect();
        let export = run(&call(dir.path(), contestants), hyperfine).unwrap();
        assert_eq!(export.names(), NASTY);
    });
}

#[test]
fn a_folder_and_an_environment_that_are_no_utf8_work() {
    each_version("a_folder_that_is_no_utf8", |hyperfine| {
        let dir = TempDir::new().unwrap();
        let folder = dir.path().join(OsStr::from_bytes(b"\xff and 'more'"));
        fs::create_dir(&folder).unwrap();
        let mut call = call(&folder, vec![sh("x", "printf %s \"$NAME\" > seen")]);
        call.env = vec![("NAME".into(), OsStr::from_bytes(b"\xfe").into())];
        run(&call, hyperfine).unwrap();
        assert_eq!(fs::read(folder.join("seen")).unwrap(), b"\xfe");
    });
}

#[test]
fn a_call_that_is_shown_can_be_pasted_into_a_shell() {
    each_version("a_call_that_is_shown", |hyperfine| {
        let dir = TempDir::new().unwrap();
        let folder = dir.path().join(OsStr::from_bytes(b"\xff dir"));
        fs::create_dir(&folder).unwrap();
        let mut call = call(&folder, vec![sh("it's\n$x", "printf %s \"$NAME\" > seen")]);
        call.env = vec![("NAME".into(), "a b".into())];
        let line = call.shell_line(hyperfine);
        assert!(!line.contains('\n'));
        assert!(
            Command::new("bash")
                .args(["-c", &line])
                .status()
                .unwrap()
                .success(),
            "{line}"
        );
        assert_eq!(fs::read(folder.join("seen")).unwrap(), b"a b");
        assert_eq!(
            Export::read(&folder.join("export.json")).unwrap().names(),
            ["it's\n$x"]
        );
    });
}

#[test]
fn warmups_and_runs_are_as_many_as_asked_for_each_with_its_prepare_step() {
    each_version("warmups_and_runs", |hyperfine| {
        let dir = TempDir::new().unwrap();
        let mut contestants = vec![sh("a", "echo a >> log"), sh("b", "echo b >> log")];
        for contestant in &mut contestants {
            contestant.prepare = words(&[
                "sh",
                "-c",
                &format!("echo prepare {} >> log", contestant.name),
            ]);
        }
        let mut call = call(dir.path(), contestants);
        (call.warmup, call.runs) = (1, 2);
        let export = run(&call, hyperfine).unwrap();
        let of_each = |name: &str| format!("prepare {name}\n{name}\n").repeat(3);
        assert_eq!(
            fs::read_to_string(dir.path().join("log")).unwrap(),
            of_each("a") + &of_each("b")
        );
        let runs = export.runs("b").unwrap();
        assert_eq!(runs.len(), 2);
        assert!(
            runs.iter()
                .all(|run| run.seconds > 0.0 && run.user.is_some() && run.exit_code == Some(0))
        );
        assert_eq!(export.runs("c"), None);
    });
}

#[test]
fn a_failure_names_the_contestant_and_what_it_said() {
    each_version("a_failure_names_the_contestant", |hyperfine| {
        let dir = TempDir::new().unwrap();
        let good = || sh("good", "exit 0");
        let bad = || sh("bad", "echo out of luck >&2; exit 74");
        let said = failure(&call(dir.path(), vec![good(), bad(), good()]), hyperfine);
        assert_eq!((said.0, said.1), (FailureKind::Failed, Some(1)));
        assert!(
            said.2.starts_with("bad: ") && said.2.contains("74") && said.2.contains("out of luck"),
            "{}",
            said.2
        );

        let mut contestants = vec![good(), good()];
        contestants[0].prepare = words(&["true"]);
        contestants[1].prepare = words(&["sh", "-c", "echo not cold >&2; exit 69"]);
        let said = failure(&call(dir.path(), contestants), hyperfine);
        assert_eq!((said.0, said.1), (FailureKind::Failed, Some(1)));
        assert!(
            said.2.contains("preparation command") && said.2.contains("not cold"),
            "{}",
            said.2
        );

        let said = failure(
            &call(dir.path(), vec![sh("killed", "kill -SEGV $$")]),
            hyperfine,
        );
        assert_eq!((said.0, said.1), (FailureKind::Failed, Some(0)));
        assert!(
            said.2.contains("killed: ") && said.2.contains("signal"),
            "{}",
            said.2
        );

        let missing = Contestant {
            name: "missing".into(),
            command: words(&["/no/such\nprogram"]),
            prepare: vec![],
        };
        let said = failure(&call(dir.path(), vec![good(), missing]), hyperfine);
        assert_eq!((said.0, said.1), (FailureKind::Failed, Some(1)));
        assert!(said.2.contains("No such file"), "{}", said.2);
    });
}

#[test]
fn interruption_and_deadline_leave_no_process() {
    each_version("interruption_and_deadline", |hyperfine| {
        for interrupt in [true, false] {
            let dir = TempDir::new().unwrap();
            // Two that have to be killed, since they don't end when they are asked to.
            let stubborn = "trap '' TERM; sh -c 'echo $$ > stubborn; while :; do sleep 1; done' & \
                            echo $$ > pid; while :; do sleep 1; done";
            let call = call(
                dir.path(),
                vec![sh("first", "exit 0"), sh("endless", stubborn)],
            );
            let interrupted = AtomicBool::new(false);
            let deadline = (!interrupt).then(|| Instant::now() + Duration::from_secs(1));
            let failed = thread::scope(|scope| {
                scope.spawn(|| {
                    line_of(&dir.path().join("stubborn"));
                    line_of(&dir.path().join("pid"));
                    interrupted.store(interrupt, Ordering::SeqCst);
                });
                call.run(hyperfine, &interrupted, deadline).unwrap_err()
            });
            let kinds = [FailureKind::Overdue, FailureKind::Interrupted];
            let kind = kinds[usize::from(interrupt)];
            assert_eq!(
                (failed.kind, failed.contestant),
                (kind, Some(1)),
                "{failed}"
            );
            for file in ["pid", "stubborn"] {
                let pid = line_of(&dir.path().join(file));
                assert!(
                    ends(&pid),
                    "{file} {pid} still runs after hyperfine {}",
                    hyperfine.version
                );
            }
        }
    });
}

#[test]
fn a_killed_hyperfine_is_said_and_leaves_no_process() {
    each_version("a_killed_hyperfine", |hyperfine| {
        let dir = TempDir::new().unwrap();
        let murderer = sh(
            "murderer",
            "echo $$ > pid; kill -KILL $PPID; exec sleep 1000",
        );
        let said = failure(
            &call(dir.path(), vec![sh("first", "exit 0"), murderer]),
            hyperfine,
        );
        assert_eq!((said.0, said.1), (FailureKind::Killed, Some(1)));
        assert!(
            said.2.contains("signal 9") && said.2.contains("murderer"),
            "{}",
            said.2
        );
        assert!(ends(&line_of(&dir.path().join("pid"))));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn hyperfine_does_not_outlive_a_killed_driver() {
    each_version("hyperfine_does_not_outlive_a_killed_driver", |hyperfine| {
        let dir = TempDir::new().unwrap();
        let mut driver = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_driver_that_will_be_killed", "--ignored"])
            .env("HYPERFINE", &hyperfine.path)
            .env("DRIVER_FOLDER", dir.path())
            .spawn()
            .unwrap();
        let pid = line_of(&dir.path().join("hyperfine"));
        assert!(runs(&pid));
        driver.kill().unwrap();
        driver.wait().unwrap();
        assert!(ends(&pid), "hyperfine {} still runs", hyperfine.version);
    });
}

#[test]
#[ignore = "runs as a process of its own: the driver of hyperfine_does_not_outlive_a_killed_driver"]
fn a_driver_that_will_be_killed() {
    let dir = std::env::var_os("DRIVER_FOLDER").expect("set by the other test");
    let hyperfine = Hyperfine::find(None, &[]).unwrap();
    // The contestant outlives hyperfine, but not for long.
    let call = call(
        Path::new(&dir),
        vec![sh("x", "echo $PPID > hyperfine; exec sleep 5")],
    );
    let _ = run(&call, &hyperfine);
}

#[test]
fn a_good_end_with_fewer_results_than_asked_for_is_a_failure() {
    let dir = TempDir::new().unwrap();
    let result = r#"{"command":"a","mean":1,"stddev":null,"median":1,"user":1,"system":0,"min":1,"max":1,"times":[1],"exit_codes":[0]}"#;
    let cases = [
        ("exit 0".to_owned(), "export.json"),
        (": > \"$export\"".to_owned(), "no complete export"),
        (
            "echo '{\"results\": [' > \"$export\"".to_owned(),
            "no complete export",
        ),
        (
            "echo '{\"results\": []}' > \"$export\"".to_owned(),
            "0 of 2",
        ),
        (
            format!("echo '{{\"results\": [{result}]}}' > \"$export\""),
            "1 of 2",
        ),
        (
            "echo '{\"schema_version\": 3}' > \"$export\"".to_owned(),
            "schema 3",
        ),
    ];
    for (script, why) in cases {
        let call = call(dir.path(), vec![sh("a", "exit 0"), sh("b", "exit 0")]);
        let said = failure(&call, &fake(dir.path(), &script));
        assert_eq!(said.0, FailureKind::BadExport);
        assert!(
            said.2.contains(why) && said.2.contains("hyperfine 1.20.0"),
            "{script}: {}",
            said.2
        );
    }
    let mut call = call(dir.path(), vec![sh("a", "exit 0")]);
    call.runs = 2;
    let said = failure(
        &call,
        &fake(
            dir.path(),
            &format!("echo '{{\"results\": [{result}]}}' > \"$export\""),
        ),
    );
    assert_eq!((said.0, said.1), (FailureKind::BadExport, Some(0)));
    assert!(said.2.contains("1 of 2 runs of a"), "{}", said.2);
}

#[test]
fn what_hyperfine_would_misunderstand_is_not_started() {
    let dir = TempDir::new().unwrap();
    let hyperfine = fake(dir.path(), "echo started > started");
    let mut half_prepared = call(dir.path(), vec![sh("a", "exit 0"), sh("b", "exit 0")]);
    half_prepared.contestants[1].prepare = words(&["true"]);
    let mut no_runs = call(dir.path(), vec![sh("a", "exit 0")]);
    no_runs.runs = 0;
    let mut no_words = no_runs.clone();
    no_words.contestants[0].command.clear();
    let mut nul = call(dir.path(), vec![sh("a", "exit 0")]);
    nul.contestants[0].command.push("\0".into());
    let nowhere = call(&dir.path().join("nowhere"), vec![sh("a", "exit 0")]);
    for call in [
        call(dir.path(), vec![]),
        half_prepared,
        no_runs,
        no_words,
        nul,
        nowhere,
    ] {
        assert_eq!(failure(&call, &hyperfine).0, FailureKind::NotStarted);
    }
    assert!(!dir.path().join("started").exists());
}

#[test]
fn an_export_of_an_earlier_call_is_not_taken_for_this_ones() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("export.json"), r#"{"results": []}"#).unwrap();
    let said = failure(
        &call(dir.path(), vec![sh("a", "exit 0")]),
        &fake(dir.path(), "exit 1"),
    );
    assert_eq!((said.0, said.1), (FailureKind::Failed, None));
    assert!(said.2.contains("exit status: 1"), "{}", said.2);
}
