"""Where the second distribution takes its files from: the folders of a checkout, or those of an unpacked sdist."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHARE = "share/deep-learning-autograder"


class Files(BuildHookInterface):
    """Adds the problem folders and the models to what is built."""

    def initialize(self, version, build_data):
        """In the wheel they are shared data; in the sdist they lie side by side."""
        here = Path(self.root)
        packed = (here / "problems").is_dir()
        problems, solutions = (here / "problems", here / "solutions") if packed else (here, here.parent / "solutions")
        places = {str(path.parent): f"problems/{path.parent.name}" for path in problems.glob("*/problem.py")}
        places[str(solutions)] = "solutions"
        if self.target_name == "wheel":
            build_data["shared_data"] = {path: f"{SHARE}/{place}" for path, place in places.items()}
        else:
            build_data["force_include"] |= places
