"""The ways by which Python pickles and copies objects."""

import copy
import multiprocessing.reduction
import pickle

import pytest

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def in_band(value, protocol=pickle.DEFAULT_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


def out_of_band(value):
    buffers = []
    pickled = pickle.dumps(value, 5, buffer_callback=buffers.append)
    return pickle.loads(pickled, buffers=buffers)


def by_multiprocessing(value):
    return pickle.loads(multiprocessing.reduction.ForkingPickler.dumps(value))


WAYS = [
    *(pytest.param(lambda value, p=p: in_band(value, p), id=f"protocol {p}") for p in PROTOCOLS),
    out_of_band,
    by_multiprocessing,
    copy.copy,
    copy.deepcopy,
]
EVERY_WAY = pytest.mark.parametrize("way", WAYS)
