"""The devices and precisions that the tests of `solutions` run on."""

import pytest
import torch

AVAILABLE = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.skipif(not there, reason=f"no {name} device here"))
        for name, there in AVAILABLE.items()
    ]
)
def device(request: pytest.FixtureRequest) -> torch.device:
    """Every kind of device that this machine has."""
    return torch.device(request.param)


@pytest.fixture(params=[torch.float64, torch.float32, torch.bfloat16], ids=str)
def dtype(request: pytest.FixtureRequest, device: torch.device) -> torch.dtype:
    """Every precision that the device has."""
    if device.type == "mps" and request.param == torch.float64:
        pytest.skip("mps has no float64")
    return request.param
