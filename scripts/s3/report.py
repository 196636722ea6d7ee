"""One line for each client and case."""

import time
import traceback
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent


class Failed(Exception):
    """What a client said when it did not do as expected."""


class Report:
    """Counts cases and prints how each went."""

    def __init__(self, client: str):
        self.client, self.passed, self.failed = client, 0, 0

    def case(self, name: str, run: Callable[[], None]) -> None:
        """Runs a case. What it raises is its failure."""
        started = time.monotonic()
        try:
            run()
        except Exception as error:
            self.failed += 1
            here = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == HERE]
            place = "" if isinstance(error, Failed) else f" ({here[-1].line})"
            print(f"FAILED  {self.client}: {name}: {error}{place}", flush=True)
        else:
            self.passed += 1
            print(f"ok      {self.client}: {name} ({time.monotonic() - started:.1f} s)", flush=True)


def expect(right: bool, text: str) -> None:
    if not right:
        raise Failed(text)
