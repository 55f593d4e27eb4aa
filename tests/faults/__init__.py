"""Fault injection: each call of the driver that a scenario makes fails, one at a time.

``ci/check faults`` runs it on the simulated device, as does ``python -m faults`` in ``tests/`` once
everything is set up.  A scenario is a short program that checks its own results.  It runs once to
record which functions of the driver it calls, and how often.  Then it runs again for each of these
calls and each error code, and that call fails.  Every time

* the failure is reported: the scenario raises the driver's exact text, or the hook for unraisable
  exceptions gets it once; or the package does without the call, the results are right, and
  `silence` gives the reason,
* nothing leaks: allocations, pinned memory, imports, streams, events, modules, retains,
* the thread's current context is as before,
* the same scenario passes afterwards, and leaves as much behind as before.

=================  ==============================================================================
`scenarios`        what is run
`simulator`        rules, counts, and what is alive
`plan`             which calls fail, and how
`silence`          failures that the package need not report
`trial`            one run with a fault, and what it has to do
`worker`           all trials of a process
`pool`             the processes
`results`          plans the next jobs, and sums up the results
=================  ==============================================================================
"""
