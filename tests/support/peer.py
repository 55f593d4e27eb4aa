"""A second process to share device memory with: it runs the lines that it reads."""

import ast
import json
import os
import select
import subprocess
import sys
import tempfile

PROGRAM = """
import ctypes, gc, json, sys
import pyarrow as pa
from pyarrow import cuda
ctx = cuda.Context(0)
names = globals()
def opened(text):
    handle = cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes.fromhex(text)))
    return ctx.open_ipc_buffer(handle)
def exported(buffer):
    return buffer.export_for_ipc().serialize().to_pybytes().hex()
for line in sys.stdin:
    code = json.loads(line)
    try:
        try:
            answer = {"value": repr(eval(code, names))}
        except SyntaxError:
            exec(code, names)
            answer = {"value": "None"}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
"""


class PeerError(Exception):
    """The peer's code has raised."""


class Peer:
    """A fresh interpreter that runs until its input ends."""

    def __init__(self, timeout=60, **env):
        self.timeout = timeout
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | env,
            cwd=tempfile.gettempdir(),
        )

    def __call__(self, code):
        """The value of an expression in the peer; or runs statements there."""
        self.send(code)
        return self.receive()

    def send(self, code):
        self.process.stdin.write(json.dumps(code).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        ready, _, _ = select.select([self.process.stdout], [], [], self.timeout)
        assert ready, "the peer does not answer"
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait(self.timeout)
            raise AssertionError(f"the peer died: {code}, {self.process.stderr.read().decode()}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return ast.literal_eval(answer["value"])

    def end(self):
        """Lets the peer exit: (returncode, stderr)."""
        _, err = self.process.communicate(timeout=self.timeout)
        return self.process.returncode, err.decode()

    def kill(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
