"""Arrow Flight: a server and a client in this process that send each other data."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow.flight as flight

from .values import Place

_TICKET = flight.Ticket(b"data")


class _Server(flight.FlightServerBase):
    def __init__(self, streams: Callable[[], Any], body: Any) -> None:
        super().__init__("grpc://127.0.0.1:0")
        self._streams, self._body, self.received = streams, body, None

    def do_get(self, context: Any, ticket: Any) -> Any:
        return self._streams()

    def do_put(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        self.received = reader.read_all()

    def do_action(self, context: Any, action: Any) -> Iterator[Any]:
        yield flight.Result(self._body)
        yield flight.Result(action.body)


@contextmanager
def _connected(streams: Any = None, body: Any = b"") -> Iterator[tuple[Any, Any]]:
    with _Server(streams, body) as server, flight.connect(("127.0.0.1", server.port)) as client:
        yield server, client


def _put(place: Place, write: Callable[[Any, Place], None]) -> Any:
    with _connected() as (server, client):
        descriptor = flight.FlightDescriptor.for_path("data")
        writer, _ = client.do_put(descriptor, Place(False).table().schema)
        with writer:
            write(writer, place)
        return server.received


def _get(streams: Callable[[], Any]) -> Any:
    with _connected(streams) as (_, client):
        return client.do_get(_TICKET).read_all()


def _acted(place: Place) -> Any:
    with _connected(body=place.buffer()) as (_, client):
        action = flight.Action("act", place.buffer())
        return [result.body for result in client.do_action(action)]


FLIGHT: dict[str, Callable[[Place], Any]] = {
    "flight of a batch": lambda p: _put(p, lambda w, p: w.write_batch(p.batch())),
    "flight of a table": lambda p: _put(p, lambda w, p: w.write_table(p.table())),
    "flight of either": lambda p: _put(p, lambda w, p: w.write(p.table())),
    "flight with metadata": lambda p: _put(
        p, lambda w, p: w.write_with_metadata(p.batch(), p.buffer())
    ),
    "flight of metadata": lambda p: _put(p, lambda w, p: w.write_metadata(p.buffer())),
    "flight from a table": lambda p: _get(lambda: flight.RecordBatchStream(p.table())),
    "flight from a reader": lambda p: _get(lambda: flight.RecordBatchStream(p.reader())),
    "flight from batches": lambda p: _get(
        lambda: flight.GeneratorStream(Place(False).numbers().schema, iter([p.numbers()]))
    ),
    "flight from tables": lambda p: _get(
        lambda: flight.GeneratorStream(Place(False).batch().schema, iter([p.table()]))
    ),
    "flight from a list": lambda p: _get(
        lambda: flight.GeneratorStream(Place(False).numbers().schema, [p.numbers()])
    ),
    "flight with tagged batches": lambda p: _get(
        lambda: flight.GeneratorStream(
            Place(False).numbers().schema, iter([(p.numbers(), p.buffer().to_pybytes())])
        )
    ),
    "flight of an action": _acted,
}
