//! The type of an array's elements.

use crate::Error;
use std::fmt;

/// The type of an array's elements, equivalent to NumPy's typestr (`<f4`) and DLPack's code and
/// bits.
///
/// ```
/// use arrow_cuda_numba_bridge::ElementType;
///
/// let element: ElementType = "<f4".parse()?;
/// assert_eq!((element, element.size()), (ElementType::float(4), 4));
/// assert_eq!(element.to_string(), "<f4");
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType {
    kind: Kind,
    size: u32,
    /// Whether the bytes are in the order of other machines.
    pub(crate) is_swapped: bool,
}

/// The kind of an element.
///
/// ```
/// use arrow_cuda_numba_bridge::{ElementType, Kind};
///
/// assert_eq!("<c8".parse::<ElementType>()?.kind(), Kind::Complex);
/// assert_eq!("<M8[ns]".parse::<ElementType>()?.kind(), Kind::Opaque);
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// True or false, in one byte.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    UInt,
    /// A floating-point number of IEEE 754.
    Float,
    /// Two floating-point numbers: the real and the imaginary part.
    Complex,
    /// Anything else: dates, text, structures.  Only the size is known.
    Opaque,
}

impl Kind {
    const fn has_size(self, size: u32) -> bool {
        match self {
            Self::Bool => size == 1,
            Self::Int | Self::UInt => matches!(size, 1 | 2 | 4 | 8),
            Self::Float => matches!(size, 2 | 4 | 8 | 16),
            Self::Complex => matches!(size, 8 | 16 | 32),
            Self::Opaque => true,
        }
    }
}

/// The kinds of numbers, with their letters in typestrs.
const NUMBERS: [(Kind, char); 5] = [
    (Kind::Bool, 'b'),
    (Kind::Int, 'i'),
    (Kind::UInt, 'u'),
    (Kind::Float, 'f'),
    (Kind::Complex, 'c'),
];

impl ElementType {
    /// A signed integer of `size` bytes; opaque if NumPy has no type of that size.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, Kind};
    ///
    /// assert_eq!(ElementType::int(8).kind(), Kind::Int);
    /// assert_eq!(ElementType::int(3).kind(), Kind::Opaque);
    /// ```
    pub const fn int(size: u32) -> Self {
        Self::native(Kind::Int, size)
    }

    /// An unsigned integer of `size` bytes; opaque if NumPy has no type of that size.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::ElementType;
    ///
    /// assert_eq!(ElementType::uint(1).to_string(), "|u1");
    /// ```
    pub const fn uint(size: u32) -> Self {
        Self::native(Kind::UInt, size)
    }

    /// A floating-point number of `size` bytes; opaque if NumPy has no type of that size.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::ElementType;
    ///
    /// assert_eq!("=f8".parse::<ElementType>()?, ElementType::float(8)); // this machine's byte order
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub const fn float(size: u32) -> Self {
        Self::native(Kind::Float, size)
    }

    /// A complex number of `size` bytes, both parts together; opaque if NumPy has no type of that size.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::ElementType;
    ///
    /// assert_eq!("=c8".parse::<ElementType>()?, ElementType::complex(8));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub const fn complex(size: u32) -> Self {
        Self::native(Kind::Complex, size)
    }

    /// True or false, in one byte.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::ElementType;
    ///
    /// assert_eq!("|b1".parse::<ElementType>()?, ElementType::bool());
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub const fn bool() -> Self {
        Self::native(Kind::Bool, 1)
    }

    pub(crate) const fn native(kind: Kind, size: u32) -> Self {
        let kind = if kind.has_size(size) { kind } else { Kind::Opaque };
        Self { kind, size, is_swapped: false }
    }

    /// The kind of the element.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, Kind};
    ///
    /// assert_eq!(ElementType::uint(4).kind(), Kind::UInt);
    /// ```
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// The size of an element, in bytes.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::ElementType;
    ///
    /// assert_eq!("<U5".parse::<ElementType>()?.size(), 20); // text of 5 characters
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub const fn size(self) -> u32 {
        self.size
    }

    fn number(self) -> Option<&'static (Kind, char)> {
        NUMBERS.iter().find(|(kind, ..)| *kind == self.kind)
    }
}

impl std::str::FromStr for ElementType {
    type Err = Error;

    /// Reads a typestr: a byte order (`<`, `>`, `=`, `|`, or none for this machine's), a letter for
    /// the kind, and the size, in bytes except for text.
    fn from_str(typestr: &str) -> Result<Self, Error> {
        let unknown = || Error::Invalid(format!("'{typestr}' does not name an element type"));
        let (is_swapped, name) = match typestr.strip_prefix('>') {
            Some(name) => (cfg!(target_endian = "little"), name),
            None => (false, typestr.strip_prefix(['<', '=', '|']).unwrap_or(typestr)),
        };
        let mut letters = name.chars();
        let letter = letters.next().ok_or_else(unknown)?;
        // Dates and times have their unit after the size.
        let (count, has_unit) = match letters.as_str().split_once('[') {
            Some((count, unit)) if unit.ends_with(']') => (count, true),
            Some(_) => return Err(unknown()),
            None => (letters.as_str(), false),
        };
        // Rust parses a sign, which a typestr must not have.
        let is_count = count.bytes().all(|digit| digit.is_ascii_digit());
        let count: u32 = count.parse().ok().filter(|_| is_count).ok_or_else(unknown)?;
        let (kind, size) = match (letter, count) {
            ('m' | 'M', 8) => (Kind::Opaque, 8),
            _ if has_unit => return Err(unknown()),
            ('S' | 'V', _) => (Kind::Opaque, count),
            ('U', _) => (Kind::Opaque, count.checked_mul(4).ok_or_else(unknown)?),
            _ => {
                let number = NUMBERS.iter().find(|(_, known)| *known == letter);
                (number.ok_or_else(unknown)?.0, count)
            }
        };
        if !kind.has_size(size) {
            return Err(unknown());
        }
        let has_order = size > 1 && kind != Kind::Opaque;
        Ok(Self { kind, size, is_swapped: is_swapped && has_order })
    }
}

impl fmt::Display for ElementType {
    /// The typestr.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = self.number().map_or('V', |(_, letter)| *letter);
        let is_little = cfg!(target_endian = "little") != self.is_swapped;
        let order = match self.kind {
            Kind::Opaque => '|',
            _ if self.size == 1 => '|',
            _ if is_little => '<',
            _ => '>',
        };
        write!(f, "{order}{letter}{}", self.size)
    }
}
