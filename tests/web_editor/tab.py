"""A tab of the browser as plain requests: what it sends, and the state that it shows."""

import http.client
import json
import re

__all__ = ["Tab"]


class Tab:
    """Requests of the page to a running workbench."""

    def __init__(self, running):
        self.port, self.host = running.port, f"127.0.0.1:{running.port}"
        self.base, self.cookie, self.state = "", None, {}
        self.address = running.url.partition(self.host)[2]
        _, headers, body = self.ask(path=self.address, absolute=True, Origin=None)
        self.cookie = headers["set-cookie"].partition(";")[0]
        self.base = re.search(rb'url=([^"]+)"', body)[1].decode()

    def ask(self, method="GET", path="state", body=None, *, absolute=False, **headers):
        """Send a request; return its status, headers and body. A header that is None is left out."""
        own = {"Host": self.host, "Origin": f"http://{self.host}", "Content-Type": "application/json"}
        own |= {"Cookie": self.cookie}
        own |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(
            method, path if absolute else self.base + path, skip_host=True, skip_accept_encoding=True
        )
        for name, value in own.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None and "Content-Length" not in own:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        try:
            text = response.read()
        except ConnectionResetError:  # allowed if the server refuses a request whose body it does not read
            assert response.status >= 400
            text = b""
        connection.close()
        return response.status, dict(response.getheaders()), text

    def post(self, path, value):
        status, _, body = self.ask("POST", path, json.dumps(value).encode())
        return status, json.loads(body)

    def load(self):
        """Show the present state."""
        self.state = json.loads(self.ask()[2])
        return self.state

    def do(self, what, **fields):
        """Send an operation for the state that is shown; show the new one."""
        status, answer = self.post("apply", {"do": what, **fields, "digest": self.state["digest"]})
        if status == 200:
            self.state = answer
        return status, answer

    def save(self):
        return self.post("save", {"digest": self.state["digest"]})
