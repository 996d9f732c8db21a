"""A seat's sheet as Typst code: cover, how to write by hand, the questions with their frames, scratch paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from autograder.core import Room, in_points
from autograder.printing.markup import markup, quoted
from autograder.printing.questions import Paper, Question, Section, kinds, points
from autograder.printing.seats import Seat

RULES = (
    "Write only into the frames; scratch paper counts where you say so beside the frame.",
    "Write with a pen that does not erase. Cross out what is not to be marked.",
    "The points stand beside each question. What follows from a wrong earlier answer of yours is not wrong again.",
    "Write your name on this page only. The code at the head of each page says whose it is.",
)


class Sheets:
    """Writes the code of the seats of an exam; `files` are the pictures that it names."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.files: dict[str, bytes] = {}

    def sheet(self, seat: Seat, codes: Sequence[str]) -> str:
        """One seat's sheet; `codes` are the names of its QR codes, page by page."""
        sections = self.paper.sections(seat)
        body = [
            self._cover(seat, sections),
            self._by_hand(sections),
            *map(self._section, sections),
            f"#scratch({quoted(seat.code)})",
        ]
        options = f"seat: {quoted(seat.code)}, title: {quoted(self.paper.assignment.title)}"
        large = "true" if seat.given.large else "false"
        named = f"({''.join(f'{quoted(name)}, ' for name in codes)})"
        return f"#sheet({options}, is-large: {large}, codes: {named})[\n" + "\n\n".join(body) + "\n]\n"

    def _cover(self, seat: Seat, sections: Sequence[Section]) -> str:
        exam = self.paper.assignment.exam
        minutes = exam.minutes_for(seat.given)
        facts = [exam.date, f"{minutes} minutes" if minutes else "", in_points(_total(sections))]
        rules = [*([f"**Aids allowed:** {exam.aids}"] if exam.aids else []), *(exam.rules or RULES)]
        table = "".join(
            f"({content(f'{section.number} {section.title}')}, {_parts(section)}, {quoted(points(section.points))}), "
            for section in sections
        )
        return (
            f"#cover(title: {quoted(self.paper.assignment.title)}, facts: {_list(map(quoted, filter(None, facts)))}, "
            f"name: {quoted(seat.name)}, student: {quoted(seat.student)}, rules: {_list(map(content, rules))}, "
            f"problems: ({table}), total: {quoted(points(_total(sections)))})"
        )

    def _by_hand(self, sections: Sequence[Section]) -> str:
        return f"#pagebreak()\n#notation({_list(map(content, kinds(list(sections))))})"

    def _section(self, section: Section) -> str:
        heading = f"#problem({content(section.title)}, number: {section.number})"
        text = markup(section.introduction, self.pictures(section.slug))
        return "\n\n".join([heading, text, *map(self._question, section.questions)])

    def _question(self, question: Question) -> str:
        pictures = self.pictures(question.slug)
        body = [markup(question.text, pictures)]
        room = question.room
        if question.options and not room.options:
            body.append(lettered_list(question.options, pictures))
        if question.rule:
            body.append(markup(question.rule, pictures))
        worth = quoted(points(question.part.points))
        texts = "[" + "\n\n".join(body) + "]"
        return (
            f"#question({quoted(question.number)}, {content(question.title)}, {worth}, {texts}, "
            f"{self._answer(question, room)})"
        )

    def _answer(self, question: Question, room: Room) -> str:
        if room.options:
            return f"options({_list(_lettered(question.options, self.pictures(question.slug)))})"
        if question.options:
            return f"squares({len(question.options)})"
        return f"frame({room.lines}, {'true' if room.ruled else 'false'}, {quoted(room.head)})"

    def pictures(self, slug: str) -> Callable[[str], str]:
        """Names of a problem's pictures, which are read when they are named."""

        def name(address: str) -> str:
            inside = f"pictures/{slug}/{PurePosixPath(address)}"
            self.files.setdefault(inside, self.paper.picture(slug, address))
            return inside

        return name


def lettered_list(options: Mapping[str, str], pictures: Callable[[str], str]) -> str:
    """Lettered texts, one a line."""
    return f"#lettered({_list(_lettered(options, pictures))})"


def _lettered(options: Mapping[str, str], pictures: Callable[[str], str]) -> Iterator[str]:
    yield from (f"({quoted(f'{letter})')}, [{markup(text, pictures)}])" for letter, text in options.items())


def content(text: str) -> str:
    """A Markdown text as an argument."""
    return f"[{markup(text)}]"


def _list(items: Iterable[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items)})"


def _parts(section: Section) -> str:
    return _list(f"({quoted(item.number)}, {quoted(points(item.part.points))})" for item in section.questions)


def _total(sections: Sequence[Section]) -> float:
    return sum(section.points for section in sections)
