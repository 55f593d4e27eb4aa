"""Device memory that a worker has lent to another one, and until when.

A reply to `get_data` lends memory.  The loan keeps that memory until the borrower has confirmed the
reply, or the connection has failed.  It also keeps copies that were made for the reply alone.

How does the borrower know that the bytes were still valid?  A loan is an open file in memory.  The
borrower looks for the file after it has made its copy.  If the lender has ended the loan or died,
the file is gone, and the borrower drops the copy.
"""

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping
from pathlib import Path
from typing import Any

from .. import _native

# How many requests and borrowers that failed are remembered; of others, IPC is tried once more.
_REMEMBERED = 10_000
# After failures in a row, this many replies at most go through the host before IPC is tried again.
_PATIENCE = 1 << 10


class Loan:
    """Keeps what one reply has lent."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._file = os.memfd_create("pyarrow-cuda-compat loan")
        path = f"/proc/{os.getpid()}/fd/{self._file}"
        #: By what `lasts` finds the loan, in another process.
        self.evidence = {"path": path, "identity": _identity(path)}

    def lend(self, buffer: Any) -> bytes:
        """The bytes of a handle of the buffer's memory, which this keeps from now on."""
        handle: bytes = _native._lend(buffer).serialize().to_pybytes()
        self._kept.append(buffer)
        return handle

    @property
    def has_lent(self) -> bool:
        """Whether there is anything to confirm."""
        return bool(self._kept)

    def end(self) -> None:
        """Releases the memory; whoever has not copied it by now does not find the loan any more."""
        os.close(self._file)
        self._kept.clear()


def lasts(evidence: Mapping[str, Any]) -> bool:
    """Whether a loan of another process has lasted until now."""
    try:
        return _identity(evidence["path"]) == [*evidence["identity"]]
    except OSError:
        return False


def _identity(path: str) -> list[int]:
    # Without opening it: the number may be that of another file by now.
    found = Path(path).stat()
    return [found.st_dev, found.st_ino, found.st_ctime_ns]


class Borrowers:
    """To which workers a worker lends, by how they have fared.

    Data that a borrower has not confirmed goes through the host when it asks for that again.  One
    failure does not affect other data.  After ``n`` failures in a row, the next ``2**(n - 1) - 1``
    replies with other data to that borrower go through the host, too.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unconfirmed: OrderedDict[Hashable, None] = OrderedDict()
        self._failures: OrderedDict[Hashable, tuple[int, int]] = OrderedDict()

    def may_borrow(self, who: Hashable, keys: Collection[Hashable]) -> bool:
        """Whether the reply may lend memory; then it counts as not confirmed yet."""
        with self._lock:
            requests = [(who, key) for key in keys]
            if not self._unconfirmed.keys().isdisjoint(requests):
                return False
            failures, withheld = self._failures.get(who, (0, 0))
            if withheld:
                self._failures[who] = failures, withheld - 1
                return False
            self._unconfirmed.update(dict.fromkeys(requests))
            _forget_oldest(self._unconfirmed)
            return True

    def confirmed(self, who: Hashable, keys: Collection[Hashable], *, is_loan: bool) -> None:
        """The borrower has all of the reply."""
        with self._lock:
            for key in keys:
                self._unconfirmed.pop((who, key), None)
            if is_loan:
                self._failures.pop(who, None)

    def failed(self, who: Hashable) -> None:
        """The borrower has not confirmed a reply that has lent memory."""
        with self._lock:
            failures = self._failures.pop(who, (0, 0))[0] + 1
            self._failures[who] = failures, min(1 << (failures - 1), _PATIENCE) - 1
            _forget_oldest(self._failures)


def _forget_oldest(entries: OrderedDict[Hashable, Any]) -> None:
    while len(entries) > _REMEMBERED:
        entries.popitem(last=False)


class Reply:
    """A reply to `get_data`, for which a loan is made when it first has memory to lend."""

    def __init__(self, borrowers: Borrowers, who: Hashable, keys: Collection[Hashable]) -> None:
        self._borrowers, self._who, self._keys = borrowers, who, keys
        self._loan: Loan | None = None
        self._is_decided = False

    def loan(self) -> Loan | None:
        """The loan that keeps what is lent; none if the reply has to go through the host."""
        if not self._is_decided:
            self._is_decided = True
            if self._borrowers.may_borrow(self._who, self._keys):
                with contextlib.suppress(OSError):  # too many open files
                    self._loan = Loan()
        return self._loan

    def end(self, *, is_confirmed: bool) -> None:
        """The borrower has confirmed the reply, or will not."""
        # A thread may still be writing a reply that nobody waits for any more.
        loan, self._loan, self._is_decided = self._loan, None, True
        has_lent = loan is not None and loan.has_lent
        if loan is not None:
            loan.end()
        if is_confirmed:
            self._borrowers.confirmed(self._who, self._keys, is_loan=has_lent)
        elif has_lent:
            self._borrowers.failed(self._who)
