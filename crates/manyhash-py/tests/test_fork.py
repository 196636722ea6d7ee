"""A process that is forked while another thread makes its first call."""

import os
import subprocess
import sys

import pytest

# What the first call looks up for ever would be looked up here, by a thread that the child has not.
CODE = """
import operator, os, signal, sys, threading, types, warnings
warnings.simplefilter("ignore")
import manyhash

class Slow(types.ModuleType):
    def __getattr__(self, name):
        if name == "length_hint":
            entered.set()
            forked.wait()
        return getattr(operator, name)

entered, forked = threading.Event(), threading.Event()
sys.modules["operator"] = Slow("operator")
first = threading.Thread(target=manyhash.digest_files, args=("md5", [sys.argv[1]]))
first.start()
entered.wait(1)
child = os.fork()
if child == 0:
    signal.alarm(10)
    forked.set()
    manyhash.digest_files("md5", [sys.argv[1]])
    os._exit(0)
forked.set()
first.join()
sys.exit(os.waitpid(child, 0)[1] != 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_during_the_first_call():
    result = subprocess.run([sys.executable, "-c", CODE, __file__], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
