"""How a process ends, with what is alive in every place and under way in other threads."""

import atexit
import builtins
import contextvars
import ctypes
import os
import signal
import sys
import threading
import weakref
from contextlib import suppress
from functools import partial
from types import SimpleNamespace

from . import states, work
from .children import Case

#: Put off to a moment at the exit: registered before the package is imported, and so called after
#: what the package itself has registered.
LAST = []


def register_last():
    atexit.register(lambda: [function() for function in LAST])


# --- places --------------------------------------------------------------------------------------

PLACES = {}
VARIABLE = contextvars.ContextVar("VARIABLE")


def place(function):
    """Registers where something is kept; the function gets it, and how it is used."""
    PLACES[function.__name__.replace("_", " ")] = function
    return function


def quietly(use):
    """Uses it where that may fail, because much is gone already."""
    with suppress(Exception):
        use()


@place
def globals_of_a_module(kept, use):
    globals()["KEPT"] = kept


@place
def modules_that_go_last(kept, use):
    sys.kept = builtins.kept = kept


@place
def a_cycle(kept, use):
    node = SimpleNamespace(kept=kept)
    node.itself = node


@place
def an_object_that_uses_it_when_it_goes(kept, use):
    class Late:
        def __del__(self):
            quietly(use)

    sys.late = late = Late()
    late.itself = late


@place
def a_thread(kept, use):
    """A local of a thread that never ends, and a thread's own data."""
    local, is_kept = threading.local(), threading.Event()

    def wait(kept):
        local.kept = kept
        is_kept.set()
        threading.Event().wait()

    threading.Thread(target=wait, args=(kept,), daemon=True).start()
    is_kept.wait()
    local.kept = kept
    VARIABLE.set(kept)


@place
def a_function_called_before_the_package_s(kept, use):
    """At the exit."""
    atexit.register(use)


@place
def a_function_called_after_the_package_s(kept, use):
    LAST.append(partial(quietly, use))


@place
def a_finalizer(kept, use):
    weakref.finalize(sys.modules["threading"], use)


@place
def a_reference_that_is_lost(kept, use):
    """Native code has it, and never gives it up."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


# --- endings -------------------------------------------------------------------------------------

ENDINGS = {}
TRACEBACK = "Traceback .*{}.*"


def ending(status=0, writes="", is_sudden=False):
    """Registers a way to end, the status that it gives, and whether Python gets to its own end."""

    def register(function):
        function.status, function.writes, function.is_sudden = status, writes, is_sudden
        ENDINGS[function.__name__.replace("_", " ")] = function
        return function

    return register


@ending()
def the_end_of_the_program():
    pass


@ending(3)
def sys_exit():
    sys.exit(3)


@ending(1, TRACEBACK.format("ZeroDivisionError"))
def an_exception():
    raise ZeroDivisionError


@ending(5, is_sudden=True)
def os_exit():
    os._exit(5)


@ending(4)
def exit_of_the_interpreter_by_native_code():
    """As an embedding program does: Py_FinalizeEx, then exit."""
    ctypes.pythonapi.Py_Exit(4)


@ending(4, is_sudden=True)
def exit_of_the_process_by_native_code():
    """Python is not told, but destructors of libraries run."""
    ctypes.PyDLL(None).exit(4)


@ending(-signal.SIGTERM, is_sudden=True)
def sigterm():
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()


@ending(7)
def sigterm_with_a_handler():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait()


@ending(-signal.SIGKILL, is_sudden=True)
def sigkill():
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


@ending(-signal.SIGINT, TRACEBACK.format("KeyboardInterrupt"))
def ctrl_c():
    # Jobs in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()


@ending(6)
def sys_exit_in_a_callback():
    """Where exceptions go nowhere; then of the program."""

    class Owner:
        def __del__(self):
            sys.exit(8)

    sys.unraisablehook = lambda told: None
    memory, owner = states.buffer(), Owner()
    view = states.context().foreign_buffer(memory.address, 10, base=owner)
    del owner, view
    sys.exit(6)


@ending(9, is_sudden=True)
def os_exit_in_a_hook():
    """The destructor of the memory's owner raises, and Python calls the hook."""

    class Owner:
        def __del__(self):
            raise ZeroDivisionError

    sys.unraisablehook = lambda told: os._exit(9)
    memory, owner = states.buffer(), Owner()
    states.context().foreign_buffer(memory.address, 10, base=owner)


@ending(0, "Exception ignored in atexit callback.*SystemExit: 8.*")
def sys_exit_in_a_function_at_exit():
    atexit.register(sys.exit, 8)


@ending(10)
def a_module_that_exits_while_it_is_imported():
    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "pyarrow_cuda_compat.leaves":
                sys.exit(10)

    sys.meta_path.insert(0, Finder)
    import pyarrow_cuda_compat.leaves  # noqa: F401


# --- cases ---------------------------------------------------------------------------------------


def kept(state, where, end):
    thing = state.make()
    PLACES[where](thing, partial(state.read, thing))
    del thing
    end()


def busy(turn, daemon, end):
    threads = work.Threads(turn, 3, daemon)
    if not daemon and not end.is_sudden:
        # They outlive the main thread, which Python waits for them with.
        threading._register_atexit(threads.let_stop)
    end()


def cases(is_quick):
    """Each state with each place and each ending; in the quick selection, with some of them."""
    found = []
    for number, state in enumerate(states.ALL.values()):
        pairs = [(where, end) for end in ENDINGS for where in PLACES]
        if is_quick:
            places = [*PLACES]
            pairs = [
                (places[(number + turn) % len(places)], end)
                for turn, end in enumerate(ENDINGS)
                if (number + turn) % 4 == 0
            ]
        for where, end in pairs:
            name = f"{end}, with {state.name} in {where}"
            found.append(_case(name, partial(kept, state, where, ENDINGS[end]), ENDINGS[end]))
    for number, (what, turn) in enumerate(work.ALL.items()):
        for turns, end in enumerate(ENDINGS):
            for daemon in (False, True):
                if daemon and what in work.ABORTED:
                    continue
                if is_quick and (number + turns) % 5:
                    continue
                kind = "daemon threads" if daemon else "threads"
                name = f"{end}, while {kind} do {what}"
                found.append(_case(name, partial(busy, turn, daemon, ENDINGS[end]), ENDINGS[end]))
    return found


def _case(name, run, end):
    return Case(name, run, end.status, end.writes)
