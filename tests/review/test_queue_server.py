"""The queue's server, by its own handlers: who may ask, what a card shows, and what two pages do at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from autograder.course.run import Options, run
from autograder.reporting.review_journal import LookRequest
from autograder.review.held_queue import Queue
from autograder.review.queue_server import FILES, application
from autograder.review.rubric_items import rubric_items
from tests.review.test_deciding import marks

TOKEN = "a-token-of-the-tests"


class Browser:
    """One page: a tab, a grader, a cookie."""

    def __init__(self, port: int, tab: str, grader: str = "gil", token: str = TOKEN) -> None:
        self.port, self.tab = port, tab
        self.headers = {"X-Tab": tab, "X-Grader": grader, "Cookie": f"autograder-review-{port}={token}"}

    async def fetch(self, path: str, told: Any = None, **headers: str) -> HTTPResponse:
        """A request; what comes back, whatever it is."""
        more = {} if told is None else {"method": "POST", "body": json.dumps(told)}
        sent = {name: value for name, value in (self.headers | headers).items() if value}
        return await AsyncHTTPClient().fetch(
            f"http://127.0.0.1:{self.port}{path}",
            headers=sent,
            raise_error=False,
            follow_redirects=False,
            request_timeout=120,
            **more,
        )

    async def ask(self, path: str, told: Any = None, code: int = 200) -> Any:
        """The answer as data."""
        response = await self.fetch(f"/api/{path}", told)
        assert response.code == code, response.body
        return json.loads(response.body)

    async def card(self, name: str, size: int) -> dict[str, Any]:
        """The card of a part with so many members."""
        queue = await self.ask("queue")
        lines = [line for line in queue["groups"] if line["item"].endswith(f".{name}") and line["size"] == size]
        return await self.ask(f"card?id={lines[0]['id']}")


def served(desk: Any, scenario: Callable[[Queue, int], Any]) -> None:
    """Run a scenario against a server of its own."""

    async def all_of_it() -> None:
        queue = Queue(desk=desk, grader="gil")
        sockets = bind_sockets(0, "127.0.0.1")
        server = HTTPServer(application(queue, TOKEN))
        server.add_sockets(sockets)
        try:
            await scenario(queue, sockets[0].getsockname()[1])
        finally:
            server.stop()
            await server.close_all_connections()

    asyncio.run(all_of_it())


def everybody(card: dict[str, Any], *, but: tuple[str, ...] = ()) -> dict[str, str]:
    """The members of a card as they were shown."""
    return {each["student"]: each["stamp"] for each in card["members"] if each["student"] not in but}


def test_only_this_machine_with_the_token_is_answered(desk) -> None:
    """No token, another one, another name of the machine, another site's page: nothing is told, nothing is done."""

    async def scenario(queue: Queue, port: int) -> None:
        mine = Browser(port, "a")
        assert (await Browser(port, "a", token="").fetch("/")).code == 403
        assert (await Browser(port, "a", token="guess").fetch("/api/queue")).code == 403
        assert (await mine.fetch("/api/queue", Host="course.example.org")).code == 403
        assert (await mine.fetch("/api/undo", {}, **{"X-Tab": ""})).code == 400, "a form elsewhere has no such header"
        assert (await mine.fetch("/api/_group", {"id": "x"})).code == 400
        entered = await Browser(port, "a", token="").fetch(f"/?token={TOKEN}")
        assert entered.code == 302 and entered.headers["Location"] == "/"
        assert "HttpOnly" in entered.headers["Set-Cookie"] and "SameSite=Strict" in entered.headers["Set-Cookie"]
        page = await mine.fetch("/")
        assert page.code == 200 and "script-src 'self'" in page.headers["Content-Security-Policy"]
        assert (await mine.fetch("/../deciding.py")).code in (403, 404)

    served(desk, scenario)


def test_the_page_fetches_nothing_from_elsewhere() -> None:
    """Three files of our own."""
    for path in FILES.iterdir():
        assert "//" not in path.read_text().replace("// ", ""), path


def test_a_card_shows_answer_reference_reason_and_rubric(desk) -> None:
    """Typeset, with the place where reading stopped; a written answer with its mathematics and its own rubric."""

    async def scenario(queue: Queue, port: int) -> None:
        mine = Browser(port, "a")
        card = await mine.card("total", 2)
        assert "<mark>b</mark>" in card["answer"] and "<math" in card["reference"]
        assert "b is not declared" in card["why"] and "A grader will" not in card["why"]
        assert "With b read as beta, it equals the reference." in card["why"]
        assert [item["points"] for item in card["rubric"]] == [4, 2, 0]
        assert [each["text"] for each in card["members"]] == ["", ""], "spaces are no other text"
        words = await mine.card("why", 1)
        assert "<math" in words["answer"] and "your answer" not in words["answer"]
        assert "The ratio is below one." in words["reference"]
        assert [(item["points"], item["label"]) for item in words["rubric"]][:2] == [
            (2, "names the ratio."), (1, "says that it is below one."),
        ]  # fmt: skip
        assert "Nothing for luck." in words["rest"]

    served(desk, scenario)


def test_two_pages_at_once(course, desk) -> None:
    """What one looks at is no other's; what one has decided, the other cannot decide again; undo is one's own."""

    async def scenario(queue: Queue, port: int) -> None:
        gil, mia = Browser(port, "a", "gil"), Browser(port, "b", "mia%20m")
        card = await gil.card("total", 2)
        listed = (await mia.ask("queue"))["groups"]
        assert [line["open_by"] for line in listed if line["id"] == card["id"]] == ["gil"]
        assert "gil looks" in (await mia.ask(f"card?id={card['id']}", code=409))["error"]
        told = {"id": card["id"], "members": everybody(card), "points": 3, "criteria": ["nearly"], "comment": "b"}
        assert (await gil.ask("decide", told))["students"] == 2
        late = await mia.ask("decide", told | {"points": 1}, code=409)
        assert "gil has decided" in late["error"]
        assert marks(course)["ada", "total"] == (3, False)
        assert "nothing of yours" in (await mia.ask("undo", {}, code=400))["error"]
        words = await mia.card("why", 2)
        await mia.ask("decide", {"id": words["id"], "members": everybody(words), "points": 0})
        history = (await gil.ask("queue"))["history"]
        assert [(line["by"], line["points"]) for line in history] == [("mia m", 0), ("gil", 3)]
        assert (await gil.ask("undo", {}))["group"] == card["id"]
        assert marks(course)["ada", "total"] == (None, True) and marks(course)["eve", "why"] == (0, False)

    served(desk, scenario)


def test_one_is_taken_out_of_a_group(course, desk) -> None:
    """The other has the points; the one that was taken out stands alone, and does not follow."""

    async def scenario(queue: Queue, port: int) -> None:
        mine = Browser(port, "a")
        card = await mine.card("why", 2)
        told = {"id": card["id"], "members": everybody(card, but=("bob",)), "points": 1, "out": ["bob"]}
        assert (await mine.ask("decide", told))["students"] == 1
        left = {each.student for group in queue.groups for each in group.answers if each.name == "why"}
        assert left == {"ada", "bob"}
        assert marks(course)["eve", "why"] == (1, False) and marks(course)["bob", "why"] == (None, True)
        assert desk.follow() == []

    served(desk, scenario)


WRONG = {
    "a group that is gone": {"id": "0" * 16, "members": {"ada": "1"}, "points": 1},
    "nobody": {"members": {}, "points": 1},
    "too many points": {"points": 40},
    "no number": {"points": "all"},
    "a word more": {"points": 1, "grade": 2},
    "another answer than was shown": {"points": 1, "members": {"ada": "1-1"}},
}


def test_what_cannot_be_done_is_said(course, desk) -> None:
    """A sentence, and no mark."""

    async def scenario(queue: Queue, port: int) -> None:
        mine = Browser(port, "a")
        card = await mine.card("total", 2)
        for name, wrong in WRONG.items():
            response = await mine.fetch("/api/decide", {"id": card["id"], "members": everybody(card)} | wrong)
            assert response.code in (400, 409) and json.loads(response.body)["error"], name
            assert marks(course)["ada", "total"] == (None, True), name

    served(desk, scenario)


def test_a_request_is_answered_on_its_own_card(course, desk) -> None:
    """What the student asks stands above the answer; one grader at a time; the same points decline it."""
    desk.take_in([LookRequest(id="r1", time=0, student="eve", item="geometric.count", text="But $x$ <b>is</b> right.")])

    async def scenario(queue: Queue, port: int) -> None:
        mine, other = Browser(port, "a"), Browser(port, "b", "mia")
        assert [each["id"] for each in (await mine.ask("queue"))["requests"]] == ["r1"]
        card = await mine.ask("request?id=r1")
        assert "<math" in card["asked"] and "<b>" not in card["asked"] and card["has"] == 2
        assert "gil looks" in (await other.ask("request?id=r1", code=409))["error"]
        await mine.ask("reply", {"id": "r1", "points": None, "comment": "It has all points."})
        queue_now = await mine.ask("queue")
        assert queue_now["requests"] == [] and queue_now["history"][0]["criteria"] == ["declined"]
        assert marks(course)["eve", "count"] == (None, False)
        await mine.ask("undo", {})
        assert len((await mine.ask("queue"))["requests"]) == 1

    served(desk, scenario)


def test_a_broken_upload_is_one_decision(course, desk) -> None:
    """It says so, without a reference of any part, and can have all points of the notebook."""
    (course / "submitted/kay/ps1").mkdir(parents=True)
    (course / "submitted/kay/ps1/geometric.ipynb").write_text('{"cells": [')
    run(course, Options(assignment="ps1", jobs=1, students=("kay",)))

    async def scenario(queue: Queue, port: int) -> None:
        mine = Browser(port, "a")
        (group,) = [each for each in queue.desk.groups() if each.first.student == "kay"]
        card = await mine.ask(f"card?id={group.id}")
        assert card["whole"] and card["maximum"] == 9 and not card["reference"] and "whole notebook" in card["answer"]
        await mine.ask("decide", {"id": card["id"], "members": everybody(card), "points": 7})
        assert {part: mark for (student, part), mark in marks(course).items() if student == "kay"} == {
            "total": (7, False), "count": (None, False), "why": (None, False),
        }  # fmt: skip

    served(desk, scenario)


def test_a_stub_for_the_problem_is_written(course, desk) -> None:
    """A function that gives the answer, and where it belongs; what is no name is refused."""

    async def scenario(queue: Queue, port: int) -> None:
        mine = Browser(port, "a")
        card = await mine.card("total", 2)
        told = {"id": card["id"], "kind": "mistake", "name": "other_letter", "hint": "Write beta."}
        done = await mine.ask("stub", told)
        text = (course / done["file"]).read_text()
        names: dict[str, Any] = {}
        exec(text, names)
        assert (
            "".join(names["other_letter"]({}).split()) == "1/(1-e^(-b))"
            and names["other_letter"].__doc__ == "Write beta."
        )
        assert "geometric.total" in text and "mistakes=[..., other_letter]" in text
        await mine.ask("stub", told | {"name": "a; b"}, code=400)

    served(desk, scenario)


RUBRICS = {
    "parts of four": (
        "- 2 of 4: a.\n- 1 of 4: b,\n  and c.\n- 1 of 4: d.\nNothing for e.",
        [2, 1, 1, 0],
        "Nothing for e.",
    ),
    "levels": ("2: all. 1: half.", [4, 2, 0], ""),
    "a head, and lines that go on": (
        "4 points:\n3 - a,\n    and b;\n1 - c.\nNone for d.",
        [3, 1, 0],
        "4 points:\nNone for d.",
    ),
    "halves": ("4 points:\n1/2 - a;\n1/2 - b;\n3 - c.", [0.5, 0.5, 3, 0], "4 points:"),
    "points": ("2 points: a.\n2 points: b.", [2, 2, 0], ""),
    "none": ("It should be good.", [4, 2, 0], "It should be good."),
}


@pytest.mark.parametrize(("rubric", "points", "rest"), RUBRICS.values(), ids=RUBRICS)
def test_a_rubric_is_read_as_items(rubric, points, rest) -> None:
    """Points and texts as authors write them; what is no item is shown beside them."""
    from autograder import Written

    worth = 2 if rubric.startswith("2: all") else 4
    items, also = rubric_items(Written("w", points=worth, reference="x", rubric=rubric), None, 4)
    assert [item.points for item in items] == points and also == rest
    assert sum(item.only for item in items) == (len(items) if points == [4, 2, 0] else 1)
