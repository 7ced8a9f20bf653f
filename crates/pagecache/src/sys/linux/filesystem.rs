//! What Linux's filesystems mean for the page cache.

use std::{ffi::CString, fs::File, io, mem, os::fd::AsRawFd, os::unix::ffi::OsStrExt, path::Path};

use crate::Filesystem;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The page cache is the only cache that this kernel has of it.
    Plain,
    /// The page cache is the file: there is nothing to read it from again.
    Memory,
    /// Another cache stands behind the page cache or instead of it.
    OtherCache,
    /// Files are made up as they are read.
    Synthetic,
}

const OVERLAYFS: u64 = 0x794c_7630;

/// Magics of linux/magic.h and, for those not in it, of the filesystem's own source. One that is not
/// listed is taken to be plain, as local disk filesystems are.
const KNOWN: &[(u64, &str, Kind)] = &[
    // ext2 and ext3 have the same magic, and the same driver.
    (0xef53, "ext4", Kind::Plain),
    (0x5846_5342, "xfs", Kind::Plain),
    (0x9123_683e, "btrfs", Kind::Plain),
    (0xca45_1a4e, "bcachefs", Kind::Plain),
    (0xf2f5_2010, "f2fs", Kind::Plain),
    (OVERLAYFS, "overlayfs", Kind::Plain),
    (0x7371_7368, "squashfs", Kind::Plain),
    (0xe0f5_e1e2, "erofs", Kind::Plain),
    (0x9660, "iso9660", Kind::Plain),
    (0x1501_3346, "udf", Kind::Plain),
    (0x4d44, "vfat", Kind::Plain),
    (0x2011_bab0, "exfat", Kind::Plain),
    (0x7366_746e, "ntfs3", Kind::Plain),
    (0x3434, "nilfs2", Kind::Plain),
    (0x0102_1994, "tmpfs", Kind::Memory),
    (0x8584_58f6, "ramfs", Kind::Memory),
    (0x9584_58f6, "hugetlbfs", Kind::Memory),
    (0x2fc1_2fc1, "zfs", Kind::OtherCache),
    (0x6573_5546, "fuse", Kind::OtherCache),
    (0x6969, "nfs", Kind::OtherCache),
    (0xff53_4d42, "cifs", Kind::OtherCache),
    (0xfe53_4d42, "smb2", Kind::OtherCache),
    (0x517b, "smb", Kind::OtherCache),
    (0x0102_1997, "9p", Kind::OtherCache),
    (0x00c3_6400, "ceph", Kind::OtherCache),
    (0x5346_414f, "afs", Kind::OtherCache),
    (0x7375_7245, "coda", Kind::OtherCache),
    (0x0bd0_0bd0, "lustre", Kind::OtherCache),
    (0x0116_1970, "gfs2", Kind::OtherCache),
    (0x7461_636f, "ocfs2", Kind::OtherCache),
    (0x4750_4653, "gpfs", Kind::OtherCache),
    (0x7863_7673, "vboxsf", Kind::OtherCache),
    (0xbacb_acbc, "vmhgfs", Kind::OtherCache),
    // Both keep the file beneath in the cache too.
    (0xf15f, "ecryptfs", Kind::OtherCache),
    (0x6175_6673, "aufs", Kind::OtherCache),
    (0x9fa0, "proc", Kind::Synthetic),
    (0x6265_6572, "sysfs", Kind::Synthetic),
    (0x6462_6720, "debugfs", Kind::Synthetic),
    (0x7472_6163, "tracefs", Kind::Synthetic),
    (0x0027_e0eb, "cgroup", Kind::Synthetic),
    (0x6367_7270, "cgroup2", Kind::Synthetic),
    (0x0765_5821, "resctrl", Kind::Synthetic),
    (0x7363_6673, "securityfs", Kind::Synthetic),
    (0xf97c_ff8c, "selinuxfs", Kind::Synthetic),
    (0x4341_5d53, "smackfs", Kind::Synthetic),
    (0xcafe_4a11, "bpf", Kind::Synthetic),
    (0x6165_676c, "pstore", Kind::Synthetic),
    (0xde5e_81e4, "efivarfs", Kind::Synthetic),
    (0x6265_6570, "configfs", Kind::Synthetic),
    (0x4249_4e4d, "binfmt_misc", Kind::Synthetic),
    (0x1cd1, "devpts", Kind::Synthetic),
    (0x6e73_6673, "nsfs", Kind::Synthetic),
    (0x1980_0202, "mqueue", Kind::Synthetic),
];

/// Whether cachestat(2) reads 0 for every file: it looks at overlayfs's own inode, while pages
/// belong to that of the lower or upper file, which mincore(2) sees.
pub fn hides_from_cachestat(filesystem: &Filesystem) -> bool {
    filesystem.magic == OVERLAYFS
}

/// By statfs(2).
pub fn filesystem(path: &Path) -> io::Result<Filesystem> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `path` ends in a NUL, and the buffer is of the call's own type.
    by(|buffer| unsafe { libc::statfs(path.as_ptr(), buffer) })
}

/// By fstatfs(2).
pub fn filesystem_of(file: &File) -> io::Result<Filesystem> {
    // SAFETY: the buffer is of the call's own type.
    by(|buffer| unsafe { libc::fstatfs(file.as_raw_fd(), buffer) })
}

fn by(call: impl FnOnce(*mut libc::statfs) -> libc::c_int) -> io::Result<Filesystem> {
    // SAFETY: all fields are integers, of which zero is one.
    let mut buffer: libc::statfs = unsafe { mem::zeroed() };
    if call(&raw mut buffer) != 0 {
        return Err(io::Error::last_os_error());
    }
    // The field's type differs by architecture; magics have 32 bits.
    Ok(describe(buffer.f_type as u32 as u64))
}

fn describe(magic: u64) -> Filesystem {
    let known = KNOWN.iter().find(|(number, ..)| *number == magic);
    let (name, kind) = match known {
        Some((_, name, kind)) => ((*name).to_owned(), *kind),
        None => (format!("filesystem {magic:#x}"), Kind::Plain),
    };
    Filesystem {
        name,
        magic,
        has_cold_state: kind != Kind::Memory,
        residency_known: kind != Kind::OtherCache,
        synthetic: kind == Kind::Synthetic,
    }
}
