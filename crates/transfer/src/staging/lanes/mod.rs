//! The lanes of one device: created on demand, and used again.

#[expect(unsafe_code, reason = "pins memory of its own")]
mod lane;

pub(super) use lane::Lane;

use arrow_cuda_context::Context;
use arrow_cuda_driver::Lock;

/// A failed attempt to pin memory takes longer than a copy.
const RETRY_AFTER: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Lanes(Lock<State>);

#[derive(Debug, Default)]
struct State {
    /// The most pinned memory that they may have, in bytes.
    limit: usize,
    /// How much those have that are free, in use or being created.
    pinned: usize,
    /// The one that was used last is at the end, and is taken first.
    free: Vec<Lane>,
    /// How many copies are made without a lane before pinning memory is tried again.
    copies_until_retry: usize,
}

/// A lane, for the time of one copy.
pub(super) struct TakenLane<'lanes> {
    lanes: &'lanes Lanes,
    size: usize,
    /// The limit for which it has this size.
    limit: usize,
    /// None while it is created, and once it is given back.
    lane: Option<Lane>,
}

impl Lanes {
    /// A lane of this size for one copy; `None` if that takes more pinned memory than `limit`, or no
    /// memory can be pinned.
    pub(super) fn take(
        &self,
        context: &Context,
        size: usize,
        limit: usize,
    ) -> Option<TakenLane<'_>> {
        // They are released after the lock.
        let mut outdated = Vec::new();
        let mut state = self.0.lock().ok()?;
        if state.limit != limit {
            (state.limit, state.copies_until_retry) = (limit, 0);
            outdated = state.take_free();
        }
        let found = state.free.iter().rposition(|lane| lane.slots.room() == size);
        let mut lane = found.map(|at| state.free.remove(at));
        if lane.is_none() {
            if state.pinned + size > limit {
                return None;
            }
            if state.copies_until_retry > 0 {
                state.copies_until_retry -= 1;
                return None;
            }
            state.pinned += size;
        }
        drop(state);
        drop(outdated);
        let mut taken = TakenLane { lanes: self, size, limit, lane: None };
        if lane.is_none() {
            let postpone = |_: &_| {
                drop(self.0.lock().map(|mut state| state.copies_until_retry = RETRY_AFTER));
            };
            lane = Some(Lane::new(context, size).inspect_err(postpone).ok()?);
        }
        taken.lane = lane;
        Some(taken)
    }

    /// Releases the lanes; those in use when their copies are complete.
    pub(super) fn release(&self) {
        // In a forked child there is nothing to be released.
        let released = self.0.lock().map(|mut state| {
            state.limit = 0;
            state.take_free()
        });
        // Not under the lock: to release pinned memory may wait for Python's GIL, whose holder
        // may wait for the lock.
        drop(released);
    }

    #[cfg(test)]
    pub(super) fn pinned(&self) -> usize {
        self.0.lock().expect("not a forked child").pinned
    }

    /// Gives back a lane, or what was reserved for one that does not exist.
    fn give_back(&self, size: usize, limit: usize, lane: Option<Lane>) {
        let Ok(mut state) = self.0.lock() else { return };
        match lane {
            // With another limit nobody asks for this size.
            Some(lane) if state.limit == limit && state.pinned <= limit => state.free.push(lane),
            surplus => {
                state.pinned -= size;
                drop(state);
                drop(surplus); // not under the lock, as above
            }
        }
    }
}

impl State {
    fn take_free(&mut self) -> Vec<Lane> {
        let lanes = std::mem::take(&mut self.free);
        self.pinned -= lanes.iter().map(|lane| lane.slots.room()).sum::<usize>();
        lanes
    }
}

impl TakenLane<'_> {
    pub(super) fn lane(&mut self) -> &mut Lane {
        self.lane.as_mut().expect("only `discard` and `drop` take it")
    }

    /// Takes the lane of a copy that failed out of use: the device may still move what lies in it.
    pub(super) fn discard(mut self, context: &Context) {
        if let Some(lane) = self.lane.take() {
            lane.discard(context);
        }
    }
}

impl Drop for TakenLane<'_> {
    fn drop(&mut self) {
        self.lanes.give_back(self.size, self.limit, self.lane.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn lanes_of_an_earlier_limit_take_no_room_from_others() {
        let context = Context::primary(0).expect("a device");
        let lanes = Lanes::default();
        let large = lanes.take(&context, 4 * MIB, 16 * MIB).expect("room");
        let small = lanes.take(&context, MIB, 8 * MIB).expect("room");
        drop((large, small));
        assert_eq!(lanes.pinned(), MIB, "nobody asks for the large one any more");
        lanes.release();
        assert_eq!(lanes.pinned(), 0);
    }

    #[test]
    fn a_lane_that_cannot_be_made_leaves_no_trace() {
        let context = Context::primary(0).expect("a device");
        let lanes = Lanes::default();
        let too_large = 1 << 60;
        assert!(lanes.take(&context, too_large, usize::MAX).is_none());
        assert_eq!(lanes.pinned(), 0);
        assert!(lanes.take(&context, MIB, usize::MAX).is_none(), "it is tried again later");
    }
}
