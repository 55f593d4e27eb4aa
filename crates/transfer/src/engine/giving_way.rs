//! Gives way to small copies, which would wait behind the moves of a large one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// After one small copy, more follow soon: large copies are throttled for this many pieces.
const MOVES: usize = 2;

/// Whether one large copy is throttled.
///
/// While it does, its moves go one at a time, and the link rests after each for as long as the move
/// took: 4 KiB take 8 microseconds then beside a large copy, and else 14 (measured on an H200).
#[derive(Debug)]
pub(super) struct GivingWay<'engine> {
    /// How many small copies the driver has been asked for so far, by any thread.
    small_copies: &'engine AtomicUsize,
    /// How many there had been at the last look.
    seen: usize,
    moves_left: usize,
    /// When the last move began.
    begun: Instant,
    rest_until: Instant,
}

impl<'engine> GivingWay<'engine> {
    /// For a copy that is about to begin.
    pub(super) fn to(small_copies: &'engine AtomicUsize) -> Self {
        let (seen, now) = (small_copies.load(Ordering::Relaxed), Instant::now());
        Self { small_copies, seen, moves_left: 0, begun: now, rest_until: now }
    }

    /// Whether a move may begin, while others are on their way or not.
    pub(super) fn may_begin(&mut self, is_link_busy: bool) -> bool {
        let small_copies = self.small_copies.load(Ordering::Relaxed);
        if small_copies != self.seen {
            (self.seen, self.moves_left) = (small_copies, MOVES);
        }
        self.moves_left == 0 || !is_link_busy && Instant::now() >= self.rest_until
    }

    /// Notes that a move has begun.
    pub(super) fn begin(&mut self) {
        self.moves_left = self.moves_left.saturating_sub(1);
        self.begun = Instant::now();
    }

    /// Notes that a move has ended.
    pub(super) fn end(&mut self) {
        let now = Instant::now();
        self.rest_until = now + now.duration_since(self.begun);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn moves_leave_gaps_once_a_small_copy_was_made() {
        let small_copies = AtomicUsize::new(7);
        let mut giving_way = GivingWay::to(&small_copies);
        assert!(giving_way.may_begin(true), "those before do not count");
        small_copies.fetch_add(1, Ordering::Relaxed);
        for _ in 0..MOVES {
            assert!(!giving_way.may_begin(true), "one at a time");
            giving_way.begin();
            sleep(Duration::from_millis(2));
            giving_way.end();
        }
        assert!(giving_way.may_begin(true), "that was some time ago");
    }

    #[test]
    fn the_link_rests_after_a_move() {
        let small_copies = AtomicUsize::new(0);
        let mut giving_way = GivingWay::to(&small_copies);
        giving_way.begin();
        sleep(Duration::from_millis(50));
        giving_way.end();
        small_copies.fetch_add(1, Ordering::Relaxed);
        let since = Instant::now();
        assert!(!giving_way.may_begin(false) || since.elapsed() > Duration::from_millis(40));
        while !giving_way.may_begin(false) {}
    }
}
