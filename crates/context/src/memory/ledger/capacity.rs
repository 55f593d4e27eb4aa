//! Capacities: how much memory the driver is asked for to serve an allocation, so that the segment
//! can serve later allocations of about that size.

/// The size of the driver's blocks: memory that stands alone takes a multiple of it.
pub(crate) const BLOCK: u64 = 2 << 20;
/// The largest allocation that shares a driver block with others.
pub(crate) const MAX_PACKED: u64 = 1 << 20;
/// The driver rounds up allocations that share a block to a multiple of this.
const GRANULARITY: u64 = 512;
/// A larger capacity may waste one part in this many of the requested size.
const WASTE_DIVISOR: u64 = 8;

/// The capacity for memory that stands alone.  The driver reserves as much in any case.
pub(crate) fn alone(size: u64) -> u64 {
    size.checked_next_multiple_of(BLOCK).unwrap_or(size)
}

/// The capacity for memory that is packed with others: eight steps for each power of two.
pub(crate) fn packed(size: u64) -> u64 {
    debug_assert!((1..=MAX_PACKED).contains(&size));
    let step = (size.next_power_of_two() / (2 * WASTE_DIVISOR)).max(GRANULARITY);
    size.next_multiple_of(step)
}

/// The largest block that may serve a request of that capacity.
pub(crate) fn largest_for(capacity: u64) -> u64 {
    capacity.saturating_add(capacity / WASTE_DIVISOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_that_stand_alone_take_what_the_driver_reserves(size in 1u64..1 << 50) {
            let capacity = alone(size);
            prop_assert!(capacity >= size && capacity - size < BLOCK);
            prop_assert_eq!(capacity % BLOCK, 0);
        }

        #[test]
        fn packed_ones_waste_little_and_stay_packed(size in 1..=MAX_PACKED) {
            let capacity = packed(size);
            prop_assert!((size..=MAX_PACKED).contains(&capacity));
            prop_assert_eq!(capacity % GRANULARITY, 0);
            prop_assert!(capacity - size < GRANULARITY.max(size.div_ceil(WASTE_DIVISOR)));
            prop_assert_eq!(packed(capacity), capacity, "a capacity is its own size class");
        }

        #[test]
        fn larger_sizes_have_larger_capacities(size in 1..MAX_PACKED) {
            prop_assert!(packed(size) <= packed(size + 1));
        }
    }

    #[test]
    fn impossible_sizes_are_left_to_the_driver() {
        assert_eq!(alone(u64::MAX), u64::MAX);
        assert_eq!(largest_for(u64::MAX), u64::MAX);
    }
}
