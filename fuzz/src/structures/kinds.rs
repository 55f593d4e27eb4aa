//! The types, and numbers that hardly any structure has.

/// Formats, how many buffers their arrays have, and how many children (any for None).
pub(super) const KINDS: &[(&str, usize, Option<usize>)] = &[
    ("+s", 1, None),
    ("l", 2, Some(0)),
    ("u", 3, Some(0)),
    ("U", 3, Some(0)),
    ("z", 3, Some(0)),
    ("Z", 3, Some(0)),
    ("vu", 4, Some(0)),
    ("vz", 4, Some(0)),
    ("+l", 2, Some(1)),
    ("+L", 2, Some(1)),
    ("+m", 2, Some(1)),
    ("+vl", 3, Some(1)),
    ("+vL", 3, Some(1)),
    ("+w:3", 1, Some(1)),
    ("+w:0", 1, Some(1)),
    ("+us:0,1", 1, Some(2)),
    ("+ud:0,1", 2, Some(2)),
    ("+ud:5", 2, Some(1)),
    ("+r", 0, Some(2)),
    ("n", 0, Some(0)),
    ("b", 2, Some(0)),
    ("c", 2, Some(0)),
    ("S", 2, Some(0)),
    ("i", 2, Some(0)),
    ("e", 2, Some(0)),
    ("g", 2, Some(0)),
    ("w:0", 2, Some(0)),
    ("w:16", 2, Some(0)),
    ("d:10,2", 2, Some(0)),
    ("d:70,2,256", 2, Some(0)),
    ("tdm", 2, Some(0)),
    ("tsn:UTC", 2, Some(0)),
    ("tin", 2, Some(0)),
];

/// Names of extension types, two of which libarrow knows, and their parameters.
pub(super) const EXTENSIONS: &[(&str, &str)] =
    &[("arrow.json", ""), ("arrow.uuid", ""), ("other", "\0")];

/// Lengths, offsets, counts and devices.
pub(super) const EXTREME: &[i64] = &[
    -1,
    -2,
    i64::MIN,
    i64::MAX,
    i64::MAX - 1,
    1 << 31,
    (1 << 31) - 1,
    1 << 60,
    1 << 61,
    1 << 62,
    i64::MAX / 8,
];
