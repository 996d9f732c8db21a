"""Scripts in outputs do not reach the grader's browser."""

CELLS = [
    """
from IPython.display import HTML, Javascript, display
display(HTML("<script>fetch('http://127.0.0.1:@PORT@/BREACH')</script>"), Javascript("alert('BREACH')"))
display({"text/html": "<img src=x onerror=BREACH>", "image/svg+xml": "<svg onload=BREACH/>"}, raw=True)
"""
]
