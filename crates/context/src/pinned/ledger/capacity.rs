//! Capacities: how much memory the driver is asked to pin for an allocation, so that the segment can
//! serve later allocations of about that size.

/// The driver pins whole pages.
const PAGE: u64 = 4096;
/// A larger capacity may waste one part in this many of the requested size.
const WASTE_DIVISOR: u64 = 8;

/// The capacity for a request of `size` bytes: whole pages, and at most eight steps for each power
/// of two.
pub(crate) fn of(size: u64) -> u64 {
    let power = size.checked_next_power_of_two().unwrap_or(size);
    let step = (power / (2 * WASTE_DIVISOR)).max(PAGE);
    size.checked_next_multiple_of(step).unwrap_or(size)
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
        fn capacities_waste_little(size in 1u64..1 << 50) {
            let capacity = of(size);
            prop_assert!(capacity >= size && capacity.is_multiple_of(PAGE));
            prop_assert!(capacity - size < PAGE.max(size.div_ceil(WASTE_DIVISOR)));
            prop_assert_eq!(of(capacity), capacity, "a capacity is its own size class");
        }

        #[test]
        fn larger_sizes_have_larger_capacities(size in 1u64..1 << 50) {
            prop_assert!(of(size) <= of(size + 1));
        }
    }

    #[test]
    fn impossible_sizes_are_left_to_the_driver() {
        assert_eq!(of(u64::MAX), u64::MAX);
        assert!(of((1 << 63) + 1) > 1 << 63);
        assert_eq!(largest_for(u64::MAX), u64::MAX);
    }
}
