"""One run of a scenario with a fault, and what it has to do."""

import gc
import re
import sys
from collections import Counter

import pyarrow_cuda_compat as compat

from . import simulator
from .plan import ANY, STICKY, TEXTS
from .silence import may_be_silent

#: The kind of object that a failed release leaves alive, by the words of its report.
LOST = {
    "device memory": "allocations",
    "pinned host memory": "host_allocations",
    "imported device memory": "imports",
    "a stream": "streams",
    "an event": "events",
}
CONTEXT = "the current context"
#: How often a busy hook uses the package in a trial.
TURNS = 3
FUNCTION = re.compile(r"Cuda error (\d+) in function '(cu\w+)': ((?:\[\w+\] )?[a-z ]+)")


class Wrong(Exception):
    """A trial has not done what it has to do."""


class Reports(list):
    """What the hook for unraisable exceptions hears."""

    def __init__(self):
        super().__init__()
        #: How often the hook still uses the package: not for ever, if its own work fails.
        self.turns = 0
        sys.unraisablehook = self._hear

    def _hear(self, told):
        self.append((told.exc_type, str(told.exc_value)))
        if self.turns:
            self.turns -= 1
            use_the_package()  # what fails in here is heard, too


def use_the_package():
    """What a busy hook does: it allocates, copies, sets limits, and empties the caches."""
    try:
        context = compat.Context(0)
        buffer = context.buffer_from_data(b"from a hook")
        assert buffer.to_pybytes() == b"from a hook"
        pinned = compat.new_host_buffer(100)
        limits = compat.transfer_limits()
        compat.set_transfer_limits(**limits)
        del buffer, pinned
        compat.empty_cache(context)
        compat.empty_pinned_cache()
    except OSError as error:
        # Of a sticky fault; anything else is printed, and so found.
        if wrong_words(str(error), STICKY, ANY):
            raise


def wrong_words(said, code, function):
    """What is wrong with a text, which has to have the driver's words for the fault, once."""
    found = FUNCTION.findall(said)
    if len(found) != 1:
        return f"the driver's words stand there {len(found)} times: {said}"
    number, name, text = found[0]
    # A context that the driver does not know is gone, which is found out by one function.
    names = {function, "cuCtxGetApiVersion"} if code == 201 else {function}
    if (int(number), text.strip()) != (code, TEXTS[code]) or (
        function != ANY and name not in names
    ):
        return f"not the words of the fault: {said}"
    return None


def attempt(scenario, fault, reports, stays=False):
    """Runs the scenario with the fault, which stays if that is asked for.

    Returns how the failure showed, its words, and what is wrong with that.
    """
    reports.clear()
    reports.turns = TURNS * fault.has_busy_hook
    before = simulator.calls()
    simulator.fault(fault.rule)
    said = wrong = None
    try:
        scenario.run()
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        wrong = wrong_error(error, scenario, fault)
    # Cycles, such as an exception whose traceback leads to a frame that refers to it.
    gc.collect()
    if not stays:
        simulator.fault("")
    reports.turns = 0
    made = simulator.calls() - before
    is_reached = (made.total() if fault.function == ANY else made[fault.function]) >= fault.nth
    wrong = wrong or wrong_reports(reports, fault)
    if said is not None:
        return "raised", said, wrong
    if reports:
        return "reported", reports[0][1], wrong
    if is_reached and not fault.is_sticky and not may_be_silent(scenario.name, fault):
        wrong = wrong or "nobody heard of it"
    return "silent" if is_reached else "unreached", None, wrong


def wrong_error(error, scenario, fault):
    if scenario.others and re.search(scenario.others.format(code=fault.code), str(error)):
        return None
    if not isinstance(error, OSError):
        return f"raised {type(error).__name__}: {error}"
    return wrong_words(str(error), fault.code, fault.function)


def wrong_reports(reports, fault):
    if len(reports) > 1 and not fault.is_sticky:
        return f"reported more than once: {reports}"
    for kind, told in reports:
        wrong = wrong_words(told, fault.code, fault.function)
        if kind is not OSError or wrong:
            return wrong or f"reported {kind.__name__}: {told}"
    return None


def explained(reports, how, scenario):
    """How much may be lost: what the reports say, or what a call that raises was to release."""
    lost = Counter(scenario.releases if how == "raised" else ())
    for _, told in reports:
        what = told.partition("releasing ")[2].partition(" failed")[0]
        if what in LOST:
            lost[LOST[what]] += 1
    return lost


def check_context(before, reports, scenario):
    """The thread's current context is as before."""
    after = simulator.current()
    if any(CONTEXT in told for _, told in reports):
        # Leaving one has failed, and setting the earlier one may have, too: nothing else could.
        while simulator.current() not in (before, None):
            simulator.pop()
    elif scenario.changes_context:
        simulator.set_current(before)
    elif after != before:
        raise Wrong(f"another context is current: {after} in place of {before}")


def check_retry(scenario, reports, what):
    """The scenario passes without a fault, and without a word."""
    reports.clear()
    try:
        scenario.run()
    except Exception as error:
        raise Wrong(f"{what} raised {type(error).__name__}: {error}") from error
    gc.collect()
    if reports:
        raise Wrong(f"{what} reported {reports}")
