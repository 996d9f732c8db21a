"""A file beside the notebook that is called like a library is not taken for the library."""

PLANTED = b"print('BREACH: planted')\n"
FILES = dict.fromkeys(("torch.py", "types.py", "json.py", "numpy.py", "sitecustomize.py", "random.py"), PLANTED)
CELLS = [
    "import torch, types, json, numpy, random\ntorch.ones(1)",
    "!python3 -P -c 'import json, random, types'",
    "import importlib, json\nimportlib.reload(json)",
]
