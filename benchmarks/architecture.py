"""The map of the package: a picture of its rooms and a sentence about each, read off the source.

    python -m benchmarks.architecture      writes docs/architecture.svg and the table of docs/architecture.md

A room is a folder or a file at the package's top. The picture shows each room above those that it imports; an arrow
that follows from others is left out. The sentence is the first line of the room's docstring.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from itertools import combinations, pairwise, permutations
from pathlib import Path

import networkx as nx

from benchmarks.pages import written
from tests.test_architecture import PACKAGE, ROOMS, VOCABULARY, ours, room

DOCS = Path(__file__).parents[1] / "docs"
PICTURE, PAGE = DOCS / "architecture.svg", DOCS / "architecture.md"

# Pixels: between the middles of neighbours, between rows, and a room's size.
STEP, ROW, WIDTH, HEIGHT = 118, 46, 100, 26
STYLE = """
  text { font: 13px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; text-anchor: middle; fill: #1f2328 }
  rect { fill: #ddf4ff; stroke: #0969da }
  path { fill: none; stroke: #59636e }
  marker path { fill: #59636e }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    rect { fill: #121d2f; stroke: #4493f8 }
    path { stroke: #9198a1 }
    marker path { fill: #9198a1 }
  }
"""

# A room, or the place in a row at which an arrow passes.
Place = str | tuple[str, str, int]


def graph() -> nx.DiGraph:
    """Which room imports which, without the arrows that follow from others."""
    found = nx.DiGraph()
    found.add_nodes_from(ROOMS)
    for item in ours():
        edge = room(item.importer), room(item.imported)
        if set(edge) <= set(ROOMS) and edge[0] != edge[1] and item.imported.startswith(f"{VOCABULARY}."):
            found.add_edge(*edge)
    return nx.transitive_reduction(found)


def rows(rooms: nx.DiGraph) -> tuple[list[list[Place]], nx.DiGraph]:
    """The places of each row from the top, and the graph in which an arrow goes from each row to the next."""
    level: dict[str, int] = {}
    for name in nx.topological_sort(rooms):
        level[name] = 1 + max((level[above] for above in rooms.predecessors(name)), default=-1)
    for name in reversed(list(nx.topological_sort(rooms))):  # a room that nothing imports stands near what it imports
        level[name] = min((level[below] for below in rooms[name]), default=level[name] + 1) - 1
    placed, grid = nx.DiGraph(), defaultdict(list)
    for name in ROOMS[::-1]:
        grid[level[name]].append(name)
    for above, below in sorted(rooms.edges, key=lambda edge: [ROOMS.index(name) for name in edge]):
        passed: list[Place] = [(above, below, row) for row in range(level[above] + 1, level[below])]
        for place in passed:
            grid[place[2]].append(place)
        nx.add_path(placed, [above, *passed, below])
    return _ordered([grid[row] for row in sorted(grid)], placed), placed


def _ordered(grid: list[list[Place]], placed: nx.DiGraph) -> list[list[Place]]:
    """The rows, each in the order that gives the fewest crossings and the shortest arrows beside its neighbours."""
    for _ in range(4):
        for number, row in enumerate(grid):
            near = grid[max(number - 1, 0) : number + 2]
            grid[number] = min(
                map(list, permutations(row)),
                key=lambda order, row=row, near=near: _tangle(
                    [order if other is row else other for other in near], placed
                ),
            )
    return grid


def _tangle(near: list[list[Place]], placed: nx.DiGraph) -> tuple[int, float]:
    """How many arrows cross between neighbouring rows, and how far they go to the side."""
    crossings, aside = 0, 0.0
    for upper, lower in pairwise(near):
        above, below = (dict(zip(row, _middles(len(row)), strict=True)) for row in (upper, lower))
        arrows = [(above[place], below[to]) for place in upper for to in placed[place]]
        crossings += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(arrows, 2))
        aside += sum((a - b) ** 2 for a, b in arrows)
    return crossings, aside


def _middles(count: int) -> list[float]:
    return [STEP * (i - (count - 1) / 2) for i in range(count)]


def svg() -> str:
    """The picture; the same imports give the same text."""
    grid, placed = rows(graph())
    width = STEP * max(map(len, grid)) + 8
    at = {
        place: (x + width / 2, ROW * (number + 0.5))
        for number, row in enumerate(grid)
        for place, x in zip(row, _middles(len(row)), strict=True)
    }
    arrows = [_arrow(at, placed, edge) for edge in placed.edges if isinstance(edge[0], str)]
    boxes = [
        f'<rect x="{x - WIDTH / 2:g}" y="{y - HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>'
        f'<text x="{x:g}" y="{y + 4.5:g}">{place}</text>'
        for place, (x, y) in at.items()
        if isinstance(place, str)
    ]
    size = 'viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{ROW * len(grid)}" role="img">',
            "<title>The rooms of the package: each imports only rooms below it</title>",
            f"<style>{STYLE}</style>",
            f'<marker id="head" {size} orient="auto"><path d="M0 0 8 4 0 8z"/></marker>',
            *arrows,
            *boxes,
            "</svg>\n",
        ]
    )


def _arrow(at: dict[Place, tuple[float, float]], placed: nx.DiGraph, edge: tuple[Place, Place]) -> str:
    """A curve from a room, through the places at which the arrow passes, to the room that it imports."""
    stops = list(edge)
    while not isinstance(stops[-1], str):
        stops += placed[stops[-1]]
    points = [at[stop] for stop in stops]
    points[0], points[-1] = (points[0][0], points[0][1] + HEIGHT / 2), (points[-1][0], points[-1][1] - HEIGHT / 2)
    curve = f"M{points[0][0]:g} {points[0][1]:g}"
    for (x, y), (to_x, to_y) in pairwise(points):
        half = (y + to_y) / 2
        curve += f"C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"
    return f'<path d="{curve}" marker-end="url(#head)"/>'


def sentences() -> dict[str, str]:
    """The first line of each room's docstring, from the top of the picture to its ground."""
    found = {}
    for name in reversed(ROOMS):
        path = PACKAGE / name / "__init__.py"
        text = (path if path.exists() else PACKAGE / f"{name}.py").read_text(encoding="utf-8")
        found[name] = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    return found


def table() -> str:
    """One line for each room."""
    lines = [f"| `{name}` | {sentence} |" for name, sentence in sentences().items()]
    return "\n".join(["| room | what it is |", "| --- | --- |", *lines, ""])


if __name__ == "__main__":
    PICTURE.write_text(svg(), encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), {"rooms": table()}), encoding="utf-8")
