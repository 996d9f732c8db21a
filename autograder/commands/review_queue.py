"""`autograder review` from the command line: take in requests, let answers follow decisions, serve the queue."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import webbrowser
from collections.abc import Iterable
from pathlib import Path

from autograder.authoring.pseudonyms import Called
from autograder.course.deciding import Desk
from autograder.nbgrader.called import called
from autograder.nbgrader.class_gradebook import read_class
from autograder.nbgrader.course_api import opened
from autograder.nbgrader.files import printable
from autograder.nbgrader.folder import Folder
from autograder.reporting.look_requests import read_requests
from autograder.reporting.review_journal import Ruling


def review_queue(
    course: Path,
    assignment: str,
    *,
    grader: str,
    requests: Path | None,
    port: int,
    opens: bool,
    only_list: bool,
) -> int:
    """Serve the queue until Ctrl-C; the exit code."""
    course = course.resolve()
    requests = requests and requests.resolve()
    asked = read_requests(requests, read_class(course, assignment)) if requests else []
    with opened(course) as api:
        folder, names = Folder(api, assignment), called(course)
        try:
            desk = Desk(folder)
            if requests:
                print(f"{desk.take_in(asked)} new requests for another look.")
            for line in followed(desk.follow(), names):
                print(line)
            if only_list:
                _list(desk, names)
            else:
                _serve(desk, names, grader or getpass.getuser(), port=port, opens=opens)
            for _ in desk.write_pages():
                pass
        finally:
            folder.close()
    return 0


def followed(rulings: Iterable[Ruling], names: Called) -> list[str]:
    """A line for each answer that followed an earlier decision."""
    return [
        f"{printable(names.of(each.students[0]))}: {each.item} has {each.points:g} of {each.maximum:g} points, as "
        f"{each.by} decided for an equal answer"
        for each in rulings
    ]


def _list(desk: Desk, names: Called) -> None:
    groups = desk.groups()
    for group in sorted(groups, key=lambda each: each.first.item):
        who = ", ".join(sorted(printable(names.of(answer.student)) for answer in group.answers))
        print(f"{group.first.item}  {len(group.answers)}  {who}")
    waiting = sum(len(group.answers) for group in groups)
    print(f"{waiting} answers wait, in {len(groups)} groups.")


def _serve(desk: Desk, names: Called, grader: str, *, port: int, opens: bool) -> None:
    from autograder.review.held_queue import Queue
    from autograder.review.queue_server import serve

    queue = Queue(desk=desk, grader=grader, called=names)
    queue.look(now=True)

    def ready(address: str) -> None:
        waiting = sum(len(group.answers) for group in queue.groups)
        print(
            f"{waiting} answers wait, in {len(queue.groups)} groups. Decide here (Ctrl-C ends it):\n{address}",
            flush=True,
        )
        if opens:
            webbrowser.open(address)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(queue, port=port, ready=ready))
    print("\nAll decisions are in the gradebook.")
