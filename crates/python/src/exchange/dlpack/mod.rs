//! DLPack: tensors in capsules, to other libraries and from them.

mod capsule;
pub(crate) mod export;
pub(crate) mod import;
