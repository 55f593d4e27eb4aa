//! One of our resources in the form that functions of another library take.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, needs_drop};
use std::ops::{Deref, DerefMut};

/// One of our resources as a type of another library, which can use it by reference, and so cannot destroy it.
#[derive(Debug)]
pub struct Loan<'ours, T>(ManuallyDrop<T>, PhantomData<&'ours ()>);

impl<T> Loan<'_, T> {
    /// Lends what must not be dropped.  The caller limits the lifetime to that of the resource.
    pub fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value), PhantomData)
    }
}

impl<T> Deref for Loan<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A [`Loan`] that can be written through.  Its type has no destructor, because what is behind a mutable reference
/// can be exchanged, and then be dropped.
#[derive(Debug)]
pub struct LoanMut<'ours, T>(T, PhantomData<&'ours mut ()>);

impl<T> LoanMut<'_, T> {
    /// As [`Loan::new`].
    pub fn new(value: T) -> Self {
        const { assert!(!needs_drop::<T>(), "it would be destroyed") };
        Self(value, PhantomData)
    }
}

impl<T> Deref for LoanMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for LoanMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
