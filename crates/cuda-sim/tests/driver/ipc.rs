//! Memory shared with another process.

use std::env;
use std::process::Command;

use crate::common::process::*;
use crate::common::*;

const HANDLE: &str = "CUDA_SIM_TEST_HANDLE";

fn export(pointer: u64) -> String {
    let mut handle = MemHandle([0; 64]);
    assert_eq!(cuIpcGetMemHandle(&mut handle, pointer), OK);
    handle.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn import(text: &str) -> Result<u64, i32> {
    let mut handle = MemHandle([0; 64]);
    for (byte, digits) in handle.0.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).unwrap();
        *byte = u8::from_str_radix(digits, 16).unwrap();
    }
    let mut pointer = 0;
    match cuIpcOpenMemHandle_v2(&mut pointer, handle, 1) {
        OK => Ok(pointer),
        code => Err(code),
    }
}

fn given_handle() -> String {
    env::var(HANDLE).expect("a handle")
}

/// Runs `exporter` in one process, which starts `importer` with a handle.
fn between<F: Fn(Command)>(exporter: F, importer: impl Fn()) {
    in_process_of::<F>(&[], || {
        ready(0);
        match is_role("importer") {
            true => importer(),
            false => exporter(as_role("importer")),
        }
    });
}

/// Pages are mapped, and may have 64 KiB.
#[test]
fn an_import_may_begin_anywhere_in_a_page_and_far_into_the_device() {
    between(
        |mut importer| {
            for (before, size) in
                [(100, 1000), (12_288, 1000), (40_000, 1000), (4096 * MIB, 2 * MIB)]
            {
                let (_before, p) = (alloc(before), alloc(size));
                assert_eq!((write(p, &[1; 1000]), cuCtxSynchronize()), (OK, OK));
                assert_success(&importer.env(HANDLE, export(p)).output().unwrap());
            }
        },
        || {
            let p = import(&given_handle()).unwrap();
            assert_eq!(read(p, 1000), Ok(vec![1; 1000]));
        },
    );
}

#[test]
fn both_processes_see_what_either_writes() {
    between(
        |mut importer| {
            let (before, p, after) = (alloc(1000), alloc(1000), alloc(1000));
            // The other process's copies are not ordered after this one.
            assert_eq!((write(p, &[1; 1000]), cuCtxSynchronize()), (OK, OK));
            let done = importer.env(HANDLE, export(p + 8)).output().unwrap();
            assert_success(&done);
            let mut wanted = vec![1; 1000];
            wanted[999] = 2;
            assert_eq!(read(p, 1000), Ok(wanted));
            assert_eq!(read(before, 1000), Ok(vec![0xA5; 1000]));
            assert_eq!(read(after, 1000), Ok(vec![0xA5; 1000]));
        },
        || {
            let p = import(&given_handle()).unwrap();
            assert_eq!(import(&given_handle()), Ok(p));
            assert_eq!(read(p, 1000), Ok(vec![1; 1000]));
            assert_eq!((write(p + 999, &[2]), cuCtxSynchronize()), (OK, OK));
            assert_eq!(write(p + 999, &[3, 3]), 1);
            assert_eq!(cuda_sim_live_imports(), 1);
            assert_eq!(cuIpcCloseMemHandle(p), OK);
            assert_eq!(read(p, 1), Ok(vec![1]));
            assert_eq!(cuIpcCloseMemHandle(p), OK);
            assert_eq!((read(p, 1), cuIpcCloseMemHandle(p)), (Err(1), 1));
            assert_eq!((cuda_sim_live_imports(), cuda_sim_live_allocations()), (0, 0));
        },
    );
}

/// A process cannot open its own handle, for which the driver has a code of its own.
#[test]
fn a_damaged_handle_is_refused() {
    on_device(|_| {
        let handle = export(alloc(1000));
        assert_eq!(import(&handle), Err(201));
        for at in 0..handle.len() {
            let mut damaged = handle.clone();
            let other = if &handle[at..=at] == "0" { "1" } else { "0" };
            damaged.replace_range(at..=at, other);
            assert_eq!(import(&damaged), Err(1), "digit {at}");
        }
        assert_eq!(import(&"0".repeat(128)), Err(1));
    });
}

/// An importer that touches a page after the end of the file would get SIGBUS.
#[test]
fn a_devices_memory_keeps_its_size() {
    on_device(|_| {
        let files = std::fs::read_dir("/proc/self/fd").unwrap();
        let mut files = files.map(|entry| entry.unwrap().path());
        let is_device = |path: &std::path::PathBuf| {
            let target = std::fs::read_link(path).unwrap_or_default();
            target.to_string_lossy().starts_with("/memfd:cuda-sim-device")
        };
        let file = files.find(is_device).expect("a device's memory");
        let file = std::fs::File::options().write(true).open(file).unwrap();
        let refused = |outcome: std::io::Result<()>| outcome.unwrap_err().kind();
        let denied = std::io::ErrorKind::PermissionDenied;
        assert_eq!(refused(file.set_len(0)), denied);
        assert_eq!(refused(file.set_len(1 << 50)), denied);
    });
}

#[test]
fn a_later_allocation_is_not_taken_for_a_freed_one() {
    between(
        |mut importer| {
            let p = alloc(4 * MIB);
            let handle = export(p);
            assert_eq!(cuMemFree_v2(p), OK);
            // It may use the same entry in the list of exports.
            assert_ne!(export(alloc(4 * MIB)), handle);
            assert_success(&importer.env(HANDLE, handle).output().unwrap());
        },
        || assert_eq!(import(&given_handle()), Err(1)),
    );
}

#[test]
fn an_import_may_be_opened_by_many_threads() {
    between(
        |mut importer| {
            let p = alloc(1000);
            assert_success(&importer.env(HANDLE, export(p)).output().unwrap());
        },
        || {
            let mut context = 0;
            assert_eq!(cuCtxGetCurrent(&mut context), OK);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(move || {
                        assert_eq!(cuCtxPushCurrent_v2(context), OK);
                        for _ in 0..100 {
                            let p = import(&given_handle()).unwrap();
                            assert_eq!(cuIpcCloseMemHandle(p), OK);
                        }
                    });
                }
            });
            assert_eq!(cuda_sim_live_imports(), 0);
        },
    );
}
