//! The numbers that consumers use for their streams.

use crate::Error;
use arrow_cuda_context::Consumer;

/// How a consumer that calls `__dlpack__(stream=...)` orders its work.
///
/// `None` and 1 are the legacy default stream, 2 is the per-thread one, which is ordered with it,
/// and -1 asks for no order; every other number is a handle.
///
/// # Errors
///
/// [`Error::Invalid`] for a number that does not name a stream.
pub fn consumer_on(stream: Option<i64>) -> Result<Consumer, Error> {
    match stream {
        None | Some(-1 | 1 | 2) => Ok(Consumer::OnDefaultStream),
        Some(0) => Err(Error::Invalid(
            "stream 0 is ambiguous: pass 1 for the legacy default stream, 2 for the per-thread one"
                .into(),
        )),
        Some(stream) if stream < 0 => {
            Err(Error::Invalid(format!("{stream} does not name a CUDA stream")))
        }
        Some(_) => Ok(Consumer::OnOtherStream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(None, Some(Consumer::OnDefaultStream))]
    #[case(Some(-1), Some(Consumer::OnDefaultStream))]
    #[case(Some(1), Some(Consumer::OnDefaultStream))]
    #[case(Some(2), Some(Consumer::OnDefaultStream))]
    #[case(Some(3), Some(Consumer::OnOtherStream))]
    #[case(Some(0x7000_0000), Some(Consumer::OnOtherStream))]
    #[case(Some(0), None)]
    #[case(Some(-2), None)]
    fn numbers_name_streams(#[case] stream: Option<i64>, #[case] consumer: Option<Consumer>) {
        assert_eq!(consumer_on(stream).ok(), consumer);
    }
}
