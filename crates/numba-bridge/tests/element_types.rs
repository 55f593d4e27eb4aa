//! Types of elements, from typestrs and to DLPack.

use arrow_cuda_numba_bridge::{ElementType, Error, Kind};
use proptest::prelude::*;
use rstest::rstest;

#[rstest]
#[case("<f4", "<f4", 4)]
#[case("=i8", "<i8", 8)]
#[case("i2", "<i2", 2)]
#[case("<u1", "|u1", 1)]
#[case(">u2", ">u2", 2)]
#[case(">u1", "|u1", 1)]
#[case("|b1", "|b1", 1)]
#[case("<c16", "<c16", 16)]
#[case("<f16", "<f16", 16)]
#[case("|V12", "|V12", 12)]
#[case("|S5", "|V5", 5)]
#[case("<U5", "|V20", 20)]
#[case("<M8[ns]", "|V8", 8)]
#[case("<m8", "|V8", 8)]
#[case("|V0", "|V0", 0)]
fn typestrs(#[case] typestr: &str, #[case] printed: &str, #[case] size: u32) {
    let element: ElementType = typestr.parse().expect("a typestr");
    assert_eq!((element.to_string().as_str(), element.size()), (printed, size));
    assert_eq!(printed.parse(), Ok(element));
}

proptest! {
    #[test]
    fn a_number_of_any_size_is_one_that_dlpack_knows_or_opaque(size in 0u32..40) {
        for element in [ElementType::int(size), ElementType::uint(size), ElementType::float(size)] {
            prop_assert_eq!(element.size(), size);
            let described = element.to_dlpack().map(|dtype| u32::from(dtype.bits));
            match element.kind() {
                Kind::Opaque => prop_assert!(described.is_err()),
                _ => prop_assert_eq!(described, Ok(8 * size)),
            }
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        if let Ok(element) = text.parse::<ElementType>() {
            prop_assert_eq!(element.to_string().parse(), Ok(element));
        }
    }
}

#[rstest]
#[case::incomplete(&["", "<", "f", "M8[ns"])]
#[case::askew(&["<<f4", "f+4", "f 4", "f4 ", "f4[ns]", "float32", "é4"])]
#[case::of_another_kind(&["x4", "|O", "|O8"])]
#[case::of_another_size(&["<i3", "<f1", "b2"])]
#[case::too_large(&["U4294967295", "V4294967296"])]
fn invalid_typestrs(#[case] typestrs: &[&str]) {
    for typestr in typestrs {
        let error = typestr.parse::<ElementType>().expect_err(typestr);
        assert!(matches!(&error, Error::Invalid(text) if text.contains(typestr)), "{error}");
    }
}
