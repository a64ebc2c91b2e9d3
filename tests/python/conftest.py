"""Makes a file of which every test was skipped exit with 77 and the reason, as ctest expects."""
import os

import pytest

import imgpipe

outcomes = {"passed": 0, "failed": 0, "skipped": 0}
reasons = set()


def pytest_report_header():
    return f"imgpipe {imgpipe.__version__} ({os.path.dirname(imgpipe.__file__)})"


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcomes[report.outcome] += 1
    if report.skipped:
        reasons.add(report.longrepr[2].removeprefix("Skipped: "))


def pytest_sessionfinish(session):
    if outcomes["skipped"] and not outcomes["passed"] + outcomes["failed"]:
        print("\nSKIPPED:", "; ".join(sorted(reasons)))
        session.exitstatus = 77


@pytest.fixture(scope="session")
def program():
    """The path of the program `imgpipe`."""
    path = os.environ.get("IMGPIPE_PROGRAM")
    if not path:
        pytest.skip("IMGPIPE_PROGRAM is not set")
    return path
