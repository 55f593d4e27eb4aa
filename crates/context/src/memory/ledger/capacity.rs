//! Capacities: what is asked of the driver for an allocation of a given size, so that its block
//! serves later ones of about that size.

/// What the driver's blocks measure: memory that stands alone takes a multiple of it.
pub(crate) const BLOCK: u64 = 2 << 20;
/// The largest allocation that shares a driver block with others.
pub(crate) const PACKED_AT_MOST: u64 = 1 << 20;
/// What the driver rounds allocations up to that share one.
const GRAIN: u64 = 512;
/// One part in this many of what is asked for may be wasted by a larger capacity.
const WASTE_SHARE: u64 = 8;

/// The capacity for memory that stands alone.  The driver reserves as much in any case.
pub(crate) fn alone(size: u64) -> u64 {
    size.checked_next_multiple_of(BLOCK).unwrap_or(size)
}

/// The capacity for memory that is packed with others: eight steps for each power of two.
pub(crate) fn packed(size: u64) -> u64 {
    debug_assert!((1..=PACKED_AT_MOST).contains(&size));
    let step = (size.next_power_of_two() / (2 * WASTE_SHARE)).max(GRAIN);
    size.next_multiple_of(step)
}

/// The largest block that may serve in place of one of that capacity.
pub(crate) fn largest_for(capacity: u64) -> u64 {
    capacity.saturating_add(capacity / WASTE_SHARE)
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
        fn packed_ones_waste_little_and_stay_packed(size in 1..=PACKED_AT_MOST) {
            let capacity = packed(size);
            prop_assert!((size..=PACKED_AT_MOST).contains(&capacity));
            prop_assert_eq!(capacity % GRAIN, 0);
            prop_assert!(capacity - size < GRAIN.max(size.div_ceil(WASTE_SHARE)));
            prop_assert_eq!(packed(capacity), capacity, "a capacity is its own class");
        }

        #[test]
        fn larger_sizes_have_larger_capacities(size in 1..PACKED_AT_MOST) {
            prop_assert!(packed(size) <= packed(size + 1));
        }
    }

    #[test]
    fn impossible_sizes_are_left_to_the_driver() {
        assert_eq!(alone(u64::MAX), u64::MAX);
        assert_eq!(largest_for(u64::MAX), u64::MAX);
    }
}
