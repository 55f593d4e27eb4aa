//! Which memory of the process a driver can pin.

use std::ffi::CString;
use std::fs;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The kinds of file systems whose files can be pinned while they are shared: those in memory.
const IN_MEMORY: [i64; 2] = [libc::TMPFS_MAGIC, libc::HUGETLBFS_MAGIC];

/// How the kernel names memory that can be shared and is no file of a folder.
const WITHOUT_FOLDER: [&str; 4] = ["/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage"];

/// Whether all of the pages can be pinned, for reading, or for writing, too.  As on an H200, all that the host reads
/// can be pinned for reading.  For writing, not those that are mapped for reading only, nor those of a file on a disk
/// that is mapped for sharing.
pub fn can_be_pinned(pages: &Range<u64>, writes: bool) -> bool {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return true };
    let mut reached = pages.start;
    for (range, line) in maps.lines().filter_map(|line| Some((range_of(line)?, line))) {
        if range.end <= reached || range.start > reached {
            continue;
        }
        if !is_pinnable(line, writes) {
            return false;
        }
        reached = range.end;
        if reached >= pages.end {
            return true;
        }
    }
    false
}

/// The addresses of a mapping, from its line in the kernel's list.
fn range_of(line: &str) -> Option<Range<u64>> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
}

fn is_pinnable(line: &str, writes: bool) -> bool {
    let fields: Vec<_> = line.splitn(6, ' ').collect();
    let access = fields.get(1).copied().unwrap_or_default().as_bytes();
    let (reads, is_writable) = (access.first() == Some(&b'r'), access.get(1) == Some(&b'w'));
    if !writes || !reads || !is_writable {
        return reads && !writes;
    }
    let is_shared = access.get(3) == Some(&b's');
    let path = fields.last().copied().unwrap_or_default().trim();
    !is_shared
        || !path.starts_with('/')
        || WITHOUT_FOLDER.iter().any(|start| path.starts_with(start))
        || file_system(path).is_none_or(|it| IN_MEMORY.contains(&it))
}

/// The kind of file system in which a file lies, deleted or not; `None` if its folder is gone.
fn file_system(path: &str) -> Option<i64> {
    let folder = Path::new(path).parent()?;
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut found = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: a C string, and room for the answer, which is read only after success.
    unsafe {
        let code = libc::statfs(path.as_ptr(), found.as_mut_ptr());
        (code == 0).then(|| found.assume_init().f_type)
    }
}
