"""pyright's language server, as an editor talks to it."""

import json
import subprocess
import sys
from itertools import count


class LanguageServer:
    """Answers for programs in `folder`, run by the Python at `python`; ends with the block."""

    def __init__(self, folder, python):
        self.folder, self.python = folder, str(python)
        self.numbers = count()

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pyright.langserver", "--stdio"],
            cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        uri = self.folder.as_uri()
        self._request(
            "initialize",
            processId=None,
            rootUri=uri,
            workspaceFolders=[{"uri": uri, "name": "programs"}],
            capabilities={"workspace": {"configuration": True}},
        )
        self._send(method="initialized", params={})
        return self

    def __exit__(self, *_):
        self._request("shutdown")
        self._send(method="exit")
        self.process.communicate()

    def complete(self, lines):
        """What the editor offers at the end of the last line."""
        path = self.folder / f"program{next(self.numbers)}.py"
        document = {"uri": path.as_uri()}
        text = {"languageId": "python", "version": 1, "text": "\n".join(lines)}
        self._send(method="textDocument/didOpen", params={"textDocument": document | text})
        position = {"line": len(lines) - 1, "character": len(lines[-1])}
        found = self._request("textDocument/completion", textDocument=document, position=position)
        return {item["label"] for item in (found or {"items": []})["items"]}

    def _request(self, method, **params):
        number = next(self.numbers)
        self._send(id=number, method=method, params=params)
        while True:
            message = self._receive()
            if "method" in message and "id" in message:
                self._send(id=message["id"], result=self._settings(message))
            elif message.get("id") == number:
                return message["result"]

    def _settings(self, message):
        if message["method"] != "workspace/configuration":
            return None
        sections = [item.get("section") for item in message["params"]["items"]]
        return [{"pythonPath": self.python} if it == "python" else {} for it in sections]

    def _send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def _receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b": ")
            length = int(value) if name == b"Content-Length" else length
        return json.loads(self.process.stdout.read(length))
