"""The server of `autograder review`, on the tornado that comes with Jupyter: for this machine alone, with a token."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from autograder.course.deciding import Conflict
from autograder.errors import AutograderError
from autograder.review.held_queue import Queue

FILES = Path(__file__).parent / "page"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_QUIET_SECONDS = 2.0  # without a request, before students' pages are written
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"
)


ASKED = ("queue", "card", "request")
TOLD = ("decide", "undo", "reply", "stub", "leave")


class _Guarded(RequestHandler):
    """Answers this machine's browser alone, and only with the token."""

    def initialize(self, queue: Queue, token: str) -> None:
        """What all handlers share."""
        self.queue, self.token = queue, token

    def set_default_headers(self) -> None:
        """Nothing is kept, framed, or fetched from elsewhere."""
        self.set_header(
            "Content-Security-Policy", _POLICY + "; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
        )
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.clear_header("Server")

    def prepare(self) -> None:
        """Refuse other names of this machine (a page elsewhere may have one), and whoever has no token."""
        host = self.request.host.rpartition(":")[0] or self.request.host
        if host not in _HOSTS:
            self._refuse("This server answers to 127.0.0.1 alone.")
        elif not hmac.compare_digest(self._given().encode(), self.token.encode()):
            self._refuse("Open the address that `autograder review` has printed: it holds the token.")

    def _given(self) -> str:
        return self.get_query_argument("token", "") or self.get_cookie(self._cookie()) or ""

    def _cookie(self) -> str:
        return f"autograder-review-{self.request.host.rpartition(':')[2]}"

    def _refuse(self, why: str) -> None:
        self.set_status(403)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(why)


class _Page(_Guarded):
    """The page and its files; the address with the token becomes one without."""

    def get(self, name: str) -> None:
        """One of three files."""
        if self.get_query_argument("token", ""):
            self.set_cookie(self._cookie(), self.token, httponly=True, samesite="Strict", path="/")
            grader = self.get_query_argument("grader", "")
            self.redirect(f"/?{urlencode({'grader': grader})}" if grader else "/")
            return
        path = FILES / (name or "queue.html")
        self.set_header("Content-Type", f"{KINDS[path.suffix]}; charset=utf-8")
        self.finish(path.read_bytes())


class _Api(_Guarded):
    """What the page asks and tells, as JSON. A page elsewhere cannot send the header that tells the tab."""

    def get(self, verb: str) -> None:
        """Ask."""
        told = {key: values[-1].decode() for key, values in self.request.query_arguments.items()}
        self._answer(verb, ASKED, told)

    def post(self, verb: str) -> None:
        """Tell."""
        try:
            told = json.loads(self.request.body or b"{}")
        except ValueError:
            told = None
        if isinstance(told, dict):
            self._answer(verb, TOLD, told)
        else:
            self._say(400, {"error": "this is no JSON object"})

    def _answer(self, verb: str, known: tuple[str, ...], told: dict[str, Any]) -> None:
        tab = self.request.headers.get("X-Tab", "")
        if not tab or verb not in known:
            self._say(400, {"error": "there is no such thing here"})
            return
        if verb in TOLD:
            self.queue.heard()
        grader = unquote(self.request.headers.get("X-Grader", "")).strip()[:60] or self.queue.grader
        try:
            self._say(200, getattr(self.queue, verb)(tab, grader, **told))
        except Conflict as error:
            self.queue.look(now=True)
            self._say(409, {"error": self.queue.called.text(error.message)})
        except AutograderError as error:
            self._say(400, {"error": self.queue.called.text(error.message)})
        except (TypeError, ValueError) as error:
            self._say(400, {"error": f"this cannot be done: {error}"})

    def _say(self, status: int, answer: Mapping[str, Any]) -> None:
        self.set_status(status)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(answer))  # in ASCII: half of a surrogate pair has no bytes


def application(queue: Queue, token: str) -> Application:
    """The server's handlers."""
    shared = {"queue": queue, "token": token}
    return Application(
        [(r"/(queue\.js|queue\.css|)", _Page, shared), (r"/api/(\w+)", _Api, shared)], compress_response=False
    )


async def serve(queue: Queue, *, port: int, ready: Callable[[str], None], stop: asyncio.Event | None = None) -> None:
    """Serve until `stop` is set or the process ends; students' pages are written while nobody asks for anything."""
    token = secrets.token_urlsafe(24)
    sockets = bind_sockets(port, "127.0.0.1", family=socket.AF_INET)
    server = HTTPServer(application(queue, token))
    server.add_sockets(sockets)
    ready(f"http://127.0.0.1:{sockets[0].getsockname()[1]}/?token={token}")
    stop = stop or asyncio.Event()
    try:
        while not stop.is_set():
            if queue.desk.changed and queue.quiet > _QUIET_SECONDS:
                next(queue.desk.write_pages(), None)
            await asyncio.sleep(0.05 if queue.desk.changed else 0.5)
    finally:
        server.stop()
        for _ in queue.desk.write_pages():
            pass
