//! Throttles a large copy beside small ones, which would wait for its moves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// After one small copy, more follow soon: large copies are throttled for this many pieces.
const MOVES: usize = 2;

/// Whether one large copy is throttled.
///
/// While it is, its moves go one at a time, and the link rests after each for as long as the move
/// took: 4 KiB take 8 microseconds then beside a large copy, and else 14 (measured on an H200).
#[derive(Debug)]
pub(super) struct Throttle<'stager> {
    /// How many small copies the driver has been asked for so far, by any thread.
    small_copies: &'stager AtomicUsize,
    /// How many there had been at the last look.
    seen: usize,
    moves_left: usize,
    /// When the last move began.
    begun: Instant,
    rest_until: Instant,
}

impl<'stager> Throttle<'stager> {
    /// For a copy that begins now.
    pub(super) fn new(small_copies: &'stager AtomicUsize, now: Instant) -> Self {
        let seen = small_copies.load(Ordering::Relaxed);
        Self { small_copies, seen, moves_left: 0, begun: now, rest_until: now }
    }

    /// Whether a move may begin, while others are on their way or not.
    pub(super) fn may_begin(&mut self, is_link_busy: bool, now: impl FnOnce() -> Instant) -> bool {
        let small_copies = self.small_copies.load(Ordering::Relaxed);
        if small_copies != self.seen {
            (self.seen, self.moves_left) = (small_copies, MOVES);
        }
        self.moves_left == 0 || !is_link_busy && now() >= self.rest_until
    }

    pub(super) fn begin(&mut self, now: Instant) {
        self.moves_left = self.moves_left.saturating_sub(1);
        self.begun = now;
    }

    pub(super) fn end(&mut self, now: Instant) {
        self.rest_until = now + now.duration_since(self.begun);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moves_go_one_at_a_time_and_rest_after_a_small_copy() {
        let (small_copies, start) = (AtomicUsize::new(7), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut throttle = Throttle::new(&small_copies, start);
        assert!(throttle.may_begin(true, || start), "those before do not count");
        small_copies.fetch_add(1, Ordering::Relaxed);
        for first in [0, 100] {
            assert!(!throttle.may_begin(true, || at(first)), "one at a time");
            assert!(throttle.may_begin(false, || at(first)));
            throttle.begin(at(first));
            throttle.end(at(first + 50));
        }
        assert!(throttle.may_begin(true, || at(150)), "the small copy was some time ago");
    }

    #[test]
    fn the_link_rests_as_long_as_the_move_took() {
        let (small_copies, start) = (AtomicUsize::new(0), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut throttle = Throttle::new(&small_copies, start);
        throttle.begin(at(10));
        throttle.end(at(60));
        small_copies.fetch_add(1, Ordering::Relaxed);
        assert!(!throttle.may_begin(false, || at(109)));
        assert!(throttle.may_begin(false, || at(110)));
    }
}
