"""Runs the 22 queries of TPC-H with Dask, one worker process for each device.

    python examples/tpch/on_dask.py --scale 10 --on device --workers 2

Each worker loads all tables once, and worker n uses device n.  Queries go to the worker that is
free next.  Queries 1 and 6 also run in parts, one for each worker, and the client adds these up.
"""
# needs: distributed

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import distributed
import pyarrow as pa
import pyarrow.compute as pc
from data import load, loaded, scale_of
from queries import QUERIES
from run import answer, differences, parsed, parser, progress, report, timed

import pyarrow_cuda_compat.dask

#: Of a worker's tables: the folder of the files, and how many devices there are, 0 for the host.
Source: TypeAlias = tuple[Path, int]
Answers: TypeAlias = dict[str, pa.Table]


# In a worker.


def tables_of_worker(source: Source) -> dict[str, pa.Table]:
    folder, devices = source
    number = int(distributed.get_worker().name)
    return loaded(folder, number % devices if devices else None)


def load_in_worker(source: Source) -> None:
    tables_of_worker(source)


def answer_in_worker(name: str, source: Source) -> pa.Table:
    return answer(name, tables_of_worker(source))


def answer_of_part(part: int, parts: int, name: str, source: Source) -> pa.Table:
    """The answer to a query for some of the rows of `lineitem`."""
    tables = tables_of_worker(source)
    items = tables["lineitem"]
    rows = -(-items.num_rows // parts)
    return answer(name, {**tables, "lineitem": items.slice(part * rows, rows)})


# In the client.


def answers_of(client: Any, source: Source, workers: list[str]) -> Answers:
    """The answers to all queries, each from the worker that is free next."""
    futures = client.map(
        answer_in_worker, list(QUERIES), source=source, workers=workers, pure=False
    )
    names = {future.key: name for future, name in zip(futures, QUERIES, strict=True)}
    answers = {}
    for future, found in distributed.as_completed(futures, with_results=True):
        answers[names[future.key]] = found
        progress(f"{len(answers)} of {len(QUERIES)} queries on {len(workers)} workers")
    progress()
    return answers


def answer_in_parts(client: Any, name: str, source: Source, workers: list[str]) -> pa.Table:
    """The answer that the parts of the workers add up to."""
    futures = [
        client.submit(
            answer_of_part, part, len(workers), name, source, workers=[worker], pure=False
        )
        for part, worker in enumerate(workers)
    ]
    return ADD_UP[name](client.gather(futures))


def add_up_q1(parts: Iterable[pa.Table]) -> pa.Table:
    """Means of parts have weights, so they become sums first."""
    rows = pa.concat_tables(parts)
    discount = pc.multiply(rows["avg_disc"], rows["count_order"])
    # Sorting also aligns the memory, which Dask has received with other bytes.
    keys = ["l_returnflag", "l_linestatus"]
    rows = rows.append_column("discount", discount).sort_by([(key, "ascending") for key in keys])
    sums = ["sum_qty", "sum_base_price", "sum_disc_price", "sum_charge", "discount", "count_order"]
    groups = rows.group_by(keys, use_threads=False).aggregate([(name, "sum") for name in sums])
    groups = groups.select([*keys, *(f"{name}_sum" for name in sums)])
    groups = groups.rename_columns([*keys, *sums])
    means = {"avg_qty": "sum_qty", "avg_price": "sum_base_price", "avg_disc": "discount"}
    for name, total in means.items():
        groups = groups.append_column(name, pc.divide(groups[total], groups["count_order"]))
    return groups.select([*keys, *sums[:4], *means, "count_order"])


def add_up_q6(parts: Iterable[pa.Table]) -> pa.Table:
    rows = pa.concat_tables(parts)
    return pa.table({"revenue": [pc.sum(rows["revenue"]).as_py()]})


ADD_UP: dict[str, Callable[[Iterable[pa.Table]], pa.Table]] = {"q1": add_up_q1, "q6": add_up_q6}


def median_of(rounds: int, call: Callable[[], Any]) -> float:
    return statistics.median(timed(call)[1] for _ in range(rounds))


def measure(
    client: Any, source: Source, workers: list[str], options: argparse.Namespace
) -> dict[str, Any]:
    """Compares the workers' answers with each other, and returns times in milliseconds."""

    def load_all() -> None:
        client.gather(
            [client.submit(load_in_worker, source, workers=[it], pure=False) for it in workers]
        )

    _, load_ms = timed(load_all)
    print(f"the workers have loaded the tables in {load_ms:.0f} ms")
    # The first answers of each worker also prepare it for the measurement.
    expected, *others = [answers_of(client, source, [worker]) for worker in workers]
    if options.check:
        tables = load(options.folder)
        others.append(expected)
        expected = {name: answer(name, tables) for name in QUERIES}
    for answers in others:
        report(differences(answers, expected))
    in_parts = {name: answer_in_parts(client, name, source, workers) for name in ADD_UP}
    report(differences(in_parts, expected))
    print("all answers agree")

    figures: dict[str, Any] = {"load_ms": load_ms}
    for used in (workers[:1], workers) if len(workers) > 1 else (workers,):
        on = f"on_{len(used)}_ms"
        figures[on] = {"all": median_of(options.rounds, partial(answers_of, client, source, used))}
        for name in ADD_UP:
            call = partial(answer_in_parts, client, name, source, used)
            figures[on][name] = median_of(options.rounds, call)
        for name, elapsed in figures[on].items():
            print(f"{name:>4} on {len(used)} of the workers: {elapsed:10.1f} ms")
    return figures


def write(options: argparse.Namespace, **figures: Any) -> None:
    """Writes the figures as JSON, if the program was asked to."""
    if options.json is not None:
        given = {"scale": scale_of(options.folder), "on": options.on, "rounds": options.rounds}
        options.json.write_text(json.dumps(given | figures, indent=2) + "\n")


def main() -> None:
    arguments = parser("Run the 22 queries of TPC-H with Dask.")
    arguments.add_argument("--workers", type=int, default=2, help="processes (2)")
    arguments.add_argument("--devices", type=int, help="for the workers (as many as workers)")
    arguments.add_argument("--rounds", type=int, default=3, help="of which the median counts (3)")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    arguments.add_argument("--check", action="store_true", help="compare with answers of the host")
    options = parsed(arguments)
    devices = (options.devices or options.workers) if options.on == "device" else 0
    cluster = distributed.LocalCluster(
        n_workers=options.workers,
        threads_per_worker=1,
        memory_limit=0,  # Dask does not know the tables
        dashboard_address=":0",
    )
    with cluster, distributed.Client(cluster) as client:
        client.register_plugin(pyarrow_cuda_compat.dask.Plugin())
        workers = [worker.worker_address for worker in cluster.workers.values()]
        figures = measure(client, (options.folder, devices), workers, options)
    write(options, workers=options.workers, devices=devices, **figures)


if __name__ == "__main__":
    main()
