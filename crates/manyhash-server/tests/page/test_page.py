"""What the page shows of a server at work, and of one that is not well."""

import json
import os
import re
import socket
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect
from server import Load, Server, refused

HOSTILE = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\u202egpj.\u0007exe"
SHOWN = HOSTILE.replace("\u202e", r"\u{202E}").replace("\u0007", r"\u{7}")


def cell(page: Page, table: str, row: str):
    """The last cell of the row that is named so."""
    rows = page.locator(f"#{table} tbody tr")
    return rows.filter(has=page.locator("th span", has_text=re.compile(f"^{row}$"))).locator("td").last


def figure(page: Page, name: str):
    return page.locator("figure", has_text=name).locator("b")


def good(page: Page, kind: str):
    """The number of bodies that were as a digest of a kind said."""
    return page.locator("#verdicts tr").filter(has_text=re.compile(f"^{kind} ")).locator("td").first


def live(page: Page) -> None:
    expect(page.locator("#state")).to_have_text("live")


def test_figures_move(opened, server, load):
    with opened(server.page) as page:
        live(page)
        expect(figure(page, "Requests")).to_have_text(re.compile(r"^[1-9][\d.,]*/s$"))
        for name in ("Received", "Sent", "Hashed"):
            expect(figure(page, name)).to_have_text(re.compile(r"^[1-9][\d.]* [kM]B/s$"))
        expect(figure(page, "Latency")).to_have_text(re.compile(r"^[\d.]+ (µs|ms|s) [\d.]+ (µs|ms|s)$"))

        moving = [figure(page, "Received"), good(page, "payload"), cell(page, "content", "Written")]
        before, line = [of.inner_text() for of in moving], page.locator("path").first.get_attribute("d")
        for of, text in zip(moving, before):
            expect(of).not_to_have_text(text)
        expect(page.locator("path").first).not_to_have_attribute("d", line)


def test_every_panel_has_its_figures(opened, server, load):
    with opened(server.page) as page:
        live(page)
        some = re.compile(r"[1-9]")
        for algorithm in ("md5", "sha256"):
            expect(cell(page, "lanes", algorithm)).to_have_text(re.compile(r"^[1-9][\d.]* [kM]B/s$"))
            expect(cell(page, "lanes", algorithm).locator("xpath=preceding-sibling::td[1]")).to_have_text(
                re.compile(r"^[\d.]+ %$")
            )
        expect(cell(page, "engine", "Threads hashing")).to_have_text(some)
        expect(page.locator("#slots th span")).to_have_text(["free", "filling", "ready", "hashing", "done"])
        expect(cell(page, "slots", "free")).to_have_text(some)
        expect(cell(page, "connections", "Accepted")).to_have_text(some)
        expect(cell(page, "connections", "Requests")).to_have_text(some)
        expect(good(page, "payload")).to_have_text(some)
        for row in ("Objects", "Content", "Written", "Not written again", "Deduplicated"):
            expect(cell(page, "content", row)).to_have_text(some)
        for row in ("Changes", "Batches", "Changes a batch", "Commit of the index"):
            expect(cell(page, "writing", row)).to_have_text(some)
        expect(page.locator("#full")).to_be_hidden()


def test_a_refused_upload_is_shown_with_its_reason_as_text(opened, server, load):
    with opened(server.page) as page:
        live(page)
        message = refused(server.client(), load.BUCKET, HOSTILE)
        row = page.locator("#refusals tbody tr").first
        expect(row.locator("td").nth(3)).to_have_text(f"{load.BUCKET}/{SHOWN}")
        expect(row.locator("td").nth(1)).to_have_text("PutObject")
        expect(row.locator("td").nth(2)).to_have_text("BadDigest")
        expect(row.locator("td").nth(4)).to_have_text(message)
        expect(row.locator("td").first).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
        bad = cell(page, "verdicts", "content-md5")
        expect(bad).to_have_text(re.compile(r"^[1-9]"))
        expect(bad).to_have_class("bad")
        assert page.locator("script").count() == 1
        assert page.locator("img").count() == 0
        expect(page).to_have_title("manyhash")


def test_a_lost_connection_is_said_and_found_again(opened, program, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        admin = f"127.0.0.1:{probe.getsockname()[1]}"
    gone = "ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE"
    with Server(program, tmp_path, admin=admin) as server, opened(server.page, allowed=gone) as page:
        live(page)
        server.stop()
        expect(page.locator("#state")).to_have_text(re.compile("^no connection since .*, trying again$"))
        expect(page.locator("body")).to_have_class("stale")
        with Server(program, tmp_path, admin=admin):
            live(page)
            expect(page.locator("body")).to_have_class("")


def test_a_full_disk_is_said(opened, program, tmp_path):
    with Server(program, tmp_path, "--reserve", "100000T") as server, opened(server.page) as page:
        expect(page.get_by_role("alert")).to_contain_text("The disk is nearly full")
        expect(page).to_have_title("Disk nearly full · manyhash")


def instead(*events: dict, times: int | None = None):
    """Answers for the server, so many times, with these events and then silence."""
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return lambda page: page.route(
        "**/events", lambda route: route.fulfill(content_type="text/event-stream", body=body), times=times
    )


def test_lanes_in_use_are_those_of_late(opened, server):
    lanes = [(0, 0), (1000, 16000), (1900, 17000)]
    algorithms = [{"name": "md5", "active_lanes": active, "available_lanes": all_} for active, all_ in lanes]
    with opened(server.page, prepare=instead(*({"algorithms": [of]} for of in algorithms))) as page:
        share = cell(page, "lanes", "md5").locator("xpath=preceding-sibling::td[1]")
        expect(share).to_have_text("90 %")


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"store": {}, "connections": {}, "algorithms": [], "slots": [], "verdicts": [], "refusals": []},
        {"store": None, "connections": None, "algorithms": None, "slots": None, "verdicts": None, "refusals": None},
        {"refusals": [{"at": 2**63 - 1, "operation": None}], "algorithms": [{"name": "MD5"}], "request_rate": None},
    ],
)
def test_what_is_absent_is_a_dash(opened, server, event):
    with opened(server.page, prepare=instead(event, times=1)) as page:
        expect(cell(page, "content", "Objects")).to_have_text("–")
        expect(page.locator("main")).not_to_contain_text(re.compile("NaN|undefined|null|Infinity|Invalid"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 400, 1280])
def test_nothing_is_cut_off(opened, server, load, scheme, width):
    refused(server.client(), load.BUCKET, "long/" + "k" * 1000)
    with opened(server.page, viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        live(page)
        expect(page.locator("#refusals")).to_contain_text("long/kkk")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        cut = "[...document.querySelectorAll('section')].filter(of => of.scrollWidth > of.clientWidth).length"
        assert page.evaluate(cut) == 0


def test_the_picture(opened, program, tmp_path):
    """Keeps a picture of a minute of load where PICTURE says, if it does."""
    if "PICTURE" not in os.environ:
        pytest.skip("PICTURE names no file")
    with Server(program, tmp_path) as server, Load(server) as load, opened(
        server.page, viewport={"width": 1240, "height": 600}
    ) as page:
        for name in ("reports/2026-11.parquet", HOSTILE, "backup/part-000017.tar"):
            refused(server.client(), load.BUCKET, name)
            page.wait_for_timeout(20_500)
        live(page)
        picture = Image.open(BytesIO(page.screenshot(full_page=True)))
    assert not load.failures, load.failures
    # Text has few colours: a palette takes a third of the bytes.
    path = Path(os.environ["PICTURE"])
    path.parent.mkdir(exist_ok=True)
    picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    assert path.stat().st_size < 150_000
