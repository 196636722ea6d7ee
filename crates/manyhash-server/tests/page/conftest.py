"""A server under load, and pages in a real Chromium, whose errors fail the test that opened them."""

import os
import re
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from server import Load, Server


@pytest.fixture(scope="session")
def program() -> str:
    return os.environ["MANYHASH"]


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        # Without CHROMIUM, Playwright's own.
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM") or None)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(program, tmp_path_factory):
    with Server(program, tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture(scope="session")
def load(server):
    load = Load(server)
    with load:
        yield load
    assert not load.failures, load.failures


@pytest.fixture
def opened(browser: Browser):
    """Opens pages, and looks at the end whether anything was wrong with one. `allowed` matches what may be."""

    @contextmanager
    def opened(address: str, allowed: str = "(?!)", prepare=lambda page: None, **options):
        errors = []
        context = browser.new_context(**options)
        page: Page = context.new_page()

        def said(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                errors.append(message.text)

        page.on("console", said)
        page.on("pageerror", lambda error: errors.append(str(error)))
        prepare(page)
        page.goto(address, wait_until="commit")
        yield page
        context.close()
        assert [error for error in errors if not re.search(allowed, error)] == []

    return opened
