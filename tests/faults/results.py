"""What all trials have shown."""

from collections import Counter

from . import plan
from .pool import Job

CACHES = {
    "cached": {"PYARROW_CUDA_CACHE": "1G", "PYARROW_CUDA_PINNED_CACHE": "1G"},
    "uncached": {"PYARROW_CUDA_CACHE": "off", "PYARROW_CUDA_PINNED_CACHE": "off"},
}
#: Trials of one process.
CHUNK = 100
#: One fault in this many may be for a call that is not made, because of timing.
MOST = 10


class Results:
    """Hears what processes tell, and says what is to be done next."""

    def __init__(self, is_whole):
        self.is_whole = is_whole
        self.how, self.functions = Counter(), set()
        #: The mistakes that each scenario has shown.
        self.wrong = {}

    def begin(self, scenarios):
        """The jobs that all others follow from: each scenario's calls are recorded."""
        self.wrong = {scenario.name: [] for scenario in scenarios}
        for turn, scenario in enumerate(scenarios):
            # A quick run takes each scenario with one setting of the caches.
            for cache in CACHES if self.is_whole else [[*CACHES][turn % len(CACHES)]]:
                yield Job(scenario, "record", cache)
                yield Job(scenario, "record_cold", cache)

    def hear(self, job, line):
        """Takes a line of a process into account; the jobs that follow from it."""
        if "counts" in line:
            counts = Counter(line["counts"])
            self.functions |= {*counts}
            return [*self._planned(job, counts, line)]
        if "end" in line:
            fault = job.faults[line["end"]]
            self.how[line["how"]] += 1
            if line["wrong"]:
                self._note(job, fault, line["wrong"])
        elif "ended" in line:
            self._note(job, line["fault"], line["ended"])
        return []

    def _planned(self, job, counts, line):
        is_cold = job.method == "record_cold"
        select = plan.whole if self.is_whole else plan.quick
        single, sticky = select(counts, is_cold)
        methods = ("cold", "doomed") if is_cold else ("warm", "warm")
        arguments = {"alive": line["alive"]} if is_cold else {}
        for method, faults, given in ((methods[0], single, arguments), (methods[1], sticky, {})):
            size = 1 if is_cold else CHUNK
            for begin in range(0, len(faults), size):
                chunk = dict(enumerate(faults[begin : begin + size]))
                yield Job(job.scenario, method, job.cache, chunk, given)

    def _note(self, job, fault, wrong):
        where = f"{job.method}, {job.cache}, {fault}" if fault else f"{job.method}, {job.cache}"
        self.wrong[job.scenario.name].append(f"{where}: {wrong}")
        print(f"{job.scenario.name}, {where}: {wrong}\n", flush=True)

    @property
    def have_failed(self):
        """Whether anything is wrong, or many calls that were to fail were not made at all."""
        return any(self.wrong.values()) or self.how["unreached"] * MOST > self.how.total()

    def summary(self):
        how = ", ".join(f"{count} {how}" for how, count in self.how.most_common())
        wrong = sum(map(len, self.wrong.values()))
        return (
            f"{len(self.wrong)} scenarios, {len(self.functions)} functions, "
            f"{self.how.total()} faults ({how}), {wrong} wrong"
        )
