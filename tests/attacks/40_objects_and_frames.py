"""Neither the garbage collector, nor frames, nor a traceback leads to a problem, a reference or a secret."""

CELLS = [
    """
import gc, sys
def look(found):
    for item in found:
        name = f"{type(item).__module__}.{type(item).__name__}"
        if name.startswith(("autograder.core.", "autograder.parts.")) and name.split(".")[-1] in seen:
            print("BREACH:", name)
seen = {"Problem", "Part", "Function", "Case", "Report", "Variant", "Verdict"}
look(gc.get_objects())
gc.unfreeze()
look(gc.get_objects())
frame = sys._getframe()
while frame:
    look(frame.f_locals.values())
    print([key for key in frame.f_locals if "secret" in key.lower() or "reference" in key.lower()])
    frame = frame.f_back
"""
]
