"""Another process, which does one step of its work at each request."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Generator
from contextlib import suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

# Requests to the child, and its answers.
Steps = Generator[Any, Any, None]

# Not forked: CUDA does not work in a child that is.
SPAWN = multiprocessing.get_context("spawn")


class ChildFailed(Exception):
    """What another process has raised, or that it has died."""


class Child:
    """A process that runs a generator: what it yields is the answer to what it is sent.

    It begins at once; its first answer is for nobody's question.  At the end of a `with` it is
    ended, wherever it is.
    """

    def __init__(self, steps: Callable[..., Steps], *arguments: object) -> None:
        self._here, there = SPAWN.Pipe()
        self._process = SPAWN.Process(target=work, args=(there, steps, arguments), daemon=True)
        self._process.start()
        there.close()

    def tell(self, question: object = None) -> None:
        # `answer` says what has become of a child that is gone.
        with suppress(BrokenPipeError):
            self._here.send((question,))

    def answer(self) -> Any:
        """Waits for it."""
        try:
            value, failure = self._here.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            raise ChildFailed(f"it ended with status {self._process.exitcode}") from None
        if failure:
            raise ChildFailed(failure)
        return value

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.join()
        self._here.close()


def work(parent: Connection, make: Callable[..., Steps], arguments: tuple[object, ...]) -> None:
    """What runs in the child."""
    try:
        steps = make(*arguments)
        parent.send((next(steps), None))
        while True:
            (question,) = parent.recv()
            parent.send((steps.send(question), None))
    except (EOFError, KeyboardInterrupt):
        pass  # the parent is gone, or ends this, too
    except Exception as error:
        parent.send((None, f"{type(error).__name__}: {error}"))
