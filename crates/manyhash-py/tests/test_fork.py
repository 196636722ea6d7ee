"""Processes that are forked while another thread makes the process's first calls."""

import os
import subprocess
import sys

import pytest

CODE = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")
sys.setswitchinterval(1e-6)
import manyhash
name = sys.argv[1]
path = sys.argv[2]
begin = threading.Event()
def work():
    begin.wait()
    manyhash.digest_files("md5", [path])
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
begin.set()
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        import signal
        signal.alarm(20)
        ok = manyhash.digest_files(["md5"], [path]) and manyhash.digest_many("md5", iter([b"x"]))
        os._exit(0 if ok else 1)
    children.append(child)
sys.exit(sum(os.waitpid(child, 0)[1] != 0 for child in children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_during_the_first_calls():
    for _ in range(5):
        result = subprocess.run([sys.executable, "-c", CODE, "md5", __file__], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
