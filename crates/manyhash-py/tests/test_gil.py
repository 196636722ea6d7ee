"""Other threads run Python while anything is hashed, however short."""

import hashlib
import sys
import threading
import time
from pathlib import Path

import manyhash.s3
import pyarrow
import pytest

#: Far more seconds than one look takes, however busy the machine.
PATIENCE = 60


def lets_go(call, patience=PATIENCE):
    """Whether another thread gets to run Python within one of many calls.

    No thread is ever made to give up the interpreter here: the switch interval is longer than the test. Another thread waits
    for it, awake, and between two statements of this one it takes its step only if the call in between lets go. A short
    call is often over before the other thread notices, so it is made again and again.
    """
    steps, turn, done = [], threading.Lock(), threading.Event()
    turn.acquire()

    def step():
        turn.acquire()
        steps.append(None)
        done.set()

    thread = threading.Thread(target=step)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1_000_000)
    try:
        thread.start()
        end = time.monotonic() + patience
        turn.release()
        # From here to the last look nothing but the call can let go.
        while not steps and time.monotonic() < end:
            call()
        return bool(steps)
    finally:
        sys.setswitchinterval(interval)
        done.wait()
        thread.join()


SHORT = [b"a", b"bc", b"d" * 100]
HASHERS = [manyhash.md5() for _ in SHORT]
# Of manyhash itself, whose objects keep the interpreter while they give their arrays away; others' may not.
COLUMN = manyhash.digest_column("md5", pyarrow.array(SHORT))
HERE = Path(__file__).parent
CALLS = {
    "digest_many": lambda: manyhash.digest_many("sha256", SHORT),
    "hexdigest_many": lambda: manyhash.hexdigest_many("md5", SHORT),
    "hmac_many": lambda: manyhash.hmac_many(b"key", "sha1", SHORT),
    "update_many": lambda: manyhash.update_many(HASHERS, SHORT),
    "digest_column": lambda: manyhash.digest_column("sha256", COLUMN),
    "digest_files": lambda: manyhash.digest_files("sha256", [__file__]),
    "s3.etag": lambda: manyhash.s3.etag(__file__),
    "s3.checksum": lambda: manyhash.s3.checksum(__file__, "CRC32"),
    "s3.guess": lambda: manyhash.s3.guess(__file__, "0" * 32),
    "s3.verify": lambda: list(manyhash.s3.verify(HERE, HERE)),
    # As in hashlib, from so many bytes on.
    "constructor": lambda: manyhash.sha256(bytes(2048)),
    "update": lambda: HASHERS[0].update(bytes(2048)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_other_threads_run_meanwhile(call):
    assert lets_go(call)


@pytest.mark.parametrize("call", [lambda: hashlib.sha256(b"a").digest(), lambda: manyhash.md5(b"a").digest()])
def test_what_does_not_let_go_is_noticed(call):
    assert not lets_go(call, patience=0.5)
