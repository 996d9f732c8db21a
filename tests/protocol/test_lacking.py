"""What the grading machine lacks, by the last line of an error; a slip that looks like it is none."""

import pytest

from autograder.core import Answer
from autograder.protocol.lacking import lacking
from autograder.protocol.respondents import failure_verdict

ERRORS = [
    ("ModuleNotFoundError: No module named 'seaborn'", "no_module"),
    ("ModuleNotFoundError: No module named 'google.colab'", "no_module"),
    ("RuntimeError: 'widget' is not a recognised GUI loop or backend name", "no_module"),
    ("ModuleNotFoundError: No module named 'torch.nm'", None),
    ("ModuleNotFoundError: No module named 'json.tools'", None),
    ("ImportError: cannot import name 'Linaer' from 'torch.nn'", None),
    ("AssertionError: Torch not compiled with CUDA enabled", "no_device"),
    ("AssertionError: Torch not compiled with XPU enabled", "no_device"),
    ("TypeError: type torch.cuda.FloatTensor not available. Torch not compiled with CUDA enabled.", "no_device"),
    ("RuntimeError: PyTorch is not linked with support for mps devices", "no_device"),
    ("RuntimeError: Cannot execute deviceSynchronize() without MPS backend.", "no_device"),
    ("RuntimeError: Cannot get CUDA generator without ATen_cuda library.", "no_device"),
    ("RuntimeError: Found no NVIDIA driver on your system.", "no_device"),
    ("RuntimeError: No CUDA GPUs are available", "no_device"),
    ("RuntimeError: Attempting to deserialize object on a CUDA device", "no_device"),
    ("NotImplementedError: Could not run 'aten::empty' with arguments from the 'CUDA' backend.", "no_device"),
    ("RuntimeError: Expected all tensors to be on the same device", None),
    ("RuntimeError: Expected one of cpu, cuda, mps device type at start of device string: gpu", None),
    ("FileNotFoundError: [Errno 2] No such file or directory: 'data/words.txt'", "file_left_out"),
    ("PermissionError: [Errno 13] Permission denied: '/etc/shadow'", None),
    ("NameError: name 'cuda' is not defined", None),
]


@pytest.mark.parametrize(("error", "code"), ERRORS)
def test_what_is_lacking(error, code):
    """A package, a device or a file that is not here is held with a code of its own; all else is the code's affair."""
    assert (lacking(error) or (None,))[0] == code
    verdict = failure_verdict("values", "f", Answer(failure="raised", detail=error))
    assert (verdict.ok, verdict.code) == ((None, code) if code else (False, "raised"))
