//! Forked children.

/// Runs `work` in a forked child: its exit status, or the signal that ended it, negative.
pub fn in_child(work: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child only runs `work`, and is ended by a signal should that hang.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "a process");
        if child == 0 {
            libc::alarm(10);
            libc::_exit(work());
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        match libc::WIFEXITED(status) {
            true => libc::WEXITSTATUS(status),
            false => -libc::WTERMSIG(status),
        }
    }
}
