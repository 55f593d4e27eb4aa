"""The trials of one process, which tells another about each."""

import faulthandler
import json
from collections import Counter

import pyarrow_cuda_compat as compat

from . import simulator, trial
from .trial import Wrong

#: A trial that takes longer hangs.
SECONDS = 60
#: How often a scenario runs until all that a process makes once is there.
WARM_UP = 3
CLEAN = "a run without a fault"


class Worker:
    """Runs a scenario with faults, and writes a line before and after each trial."""

    def __init__(self, scenario, out):
        self.scenario, self.out = scenario, out
        self.keeps = Counter(scenario.keeps)
        self.reports = trial.Reports()
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        scenario.prepare()

    def tell(self, **line):
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    def _tell_trial(self, index, attempt):
        self.tell(begin=index)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        how, said, wrong = attempt()
        faulthandler.cancel_dump_traceback_later()
        self.tell(end=index, how=how, said=said, wrong=wrong)

    def _pass(self, what=CLEAN):
        trial.check_retry(self.scenario, self.reports, what)

    # --- in a process that has run the scenario before, with another context current ------------

    def record(self):
        """Tells how often the scenario calls each function."""
        self._warm_up()
        before = simulator.calls()
        self._pass()
        self.tell(counts=simulator.calls() - before)

    def warm(self, faults):
        """One trial after the other; nothing of what they do piles up."""
        self._warm_up()
        simulator.fill_spares()
        self.expected = simulator.alive()
        for index, fault in faults:
            self._tell_trial(index, lambda fault=fault: self._warm_trial(fault))

    def _warm_up(self):
        for number in range(simulator.DEVICES):
            simulator.push(compat.Context(number))
            for _ in range(WARM_UP):
                self._pass()

    def _warm_trial(self, fault):
        current = simulator.current()
        how, said, wrong = trial.attempt(self.scenario, fault, self.reports)
        try:
            trial.check_context(current, self.reports, self.scenario)
            allowed = trial.explained(self.reports, how, self.scenario)
            self.expected += allowed
            self._check_alive(fault, f"{how}: {said}")
            self._pass("the next run")
            # The package has again what a failure made it give up, such as staging memory.
            self._check_alive(fault, f"the next run, after {how}: {said}")
            self._take_back(allowed + self.keeps)
        except Wrong as problem:
            wrong = wrong or str(problem)
            self.expected |= simulator.alive()
        return how, said, wrong

    def _check_alive(self, fault, where):
        self.expected += self.keeps
        if fault.is_sticky:
            self.expected |= simulator.alive()  # no release has succeeded
        elif lost := simulator.lost(self.expected):
            raise Wrong(f"lost {dict(lost)}; {where}")

    def _take_back(self, allowed):
        """What may be left behind, but is not, must not hide what later trials lose."""
        if not allowed:
            return
        # Exports take events with them, and the next trials need as many as there were.
        simulator.fill_spares()
        alive = simulator.alive()
        self.expected.update({kind: alive[kind] - self.expected[kind] for kind in allowed})

    # --- in a process that has not loaded the driver before -------------------------------------

    def record_cold(self):
        """Tells how often each function is called, and what is alive in the end."""
        self._pass()
        counts = simulator.calls()
        for _ in range(WARM_UP - 1):
            self._pass()
        simulator.fill_spares()
        self.tell(counts=counts, alive=simulator.alive())

    def cold(self, faults, alive):
        """One trial; as much is alive in the end as without a fault."""
        [(index, fault)] = faults
        self._tell_trial(index, lambda: self._cold_trial(fault, Counter(alive)))

    def _cold_trial(self, fault, expected):
        how, said, wrong = trial.attempt(self.scenario, fault, self.reports)
        try:
            trial.check_context(None, self.reports, self.scenario)
            expected += trial.explained(self.reports, how, self.scenario)
            for _ in range(WARM_UP - 1):
                self._pass("the next run")
            simulator.fill_spares()
            if lost := simulator.lost(expected + self.keeps):
                raise Wrong(f"lost {dict(lost)}; {how}: {said}")
        except Wrong as problem:
            wrong = wrong or str(problem)
        return how, said, wrong

    def doomed(self, faults):
        """One trial with a sticky fault, with which the process also ends."""
        [(index, fault)] = faults
        self._tell_trial(index, lambda: trial.attempt(self.scenario, fault, self.reports, True))
