"""Processes of their own that start at once: forks of one that has imported the libraries, but not diffpeaks.

Most of the start of a process is the import of numpy, scipy and scikit-learn. What is run here finds these
imported, and itself in a process where nothing else has happened. Run as a script, this is what forks.
"""

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARIES = (
    *(
        "numpy",
        "scipy.linalg",
        "scipy.sparse.csgraph",
        "scipy.sparse.linalg",
        "scipy.spatial",
        "scipy.special",
    ),
    *("sklearn.base", "sklearn.metrics", "sklearn.neighbors", "sklearn.utils.validation"),
)
_servers = []


class Process:
    """A process that runs `code` with `words` as its arguments, on open files as its standard streams."""

    def __init__(self, code, *words, stdin=None, stdout=None, stderr=None):
        nothing = os.open(os.devnull, os.O_RDWR)
        told, self._told = socket.socketpair()
        files = [nothing if file is None else file for file in (stdin, stdout, stderr)]
        request = {"code": code, "words": [str(word) for word in words], "folder": os.getcwd()}
        socket.send_fds(_server(), [json.dumps(request).encode()], [*files, told.fileno()])
        told.close()
        os.close(nothing)
        self._lines = self._told.makefile()
        self.pid = int(self._lines.readline())

    def wait(self):
        """The exit code, or the signal that ended it as a negative number, when it has ended."""
        code = os.waitstatus_to_exitcode(int(self._lines.readline()))
        self._lines.close()
        self._told.close()
        return code


def run(code, *words, input=b""):
    """What `subprocess.run` of Python with this code gives, with its output as text."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(input)
        given.seek(0)
        process = Process(code, *words, stdin=given.fileno(), stdout=out.fileno(), stderr=err.fileno())
        done = subprocess.CompletedProcess(code, process.wait())
        for name, file in (("stdout", out), ("stderr", err)):
            file.seek(0)
            setattr(done, name, file.read().decode())
    return done


def _server():
    """The connection to the process that forks, which is started when it is first asked for."""
    if not _servers:
        ours, its = socket.socketpair()
        command = [sys.executable, Path(__file__), str(its.fileno())]
        server = subprocess.Popen(command, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
        its.close()
        _servers.append(ours)
        atexit.register(_end, server)
    return _servers[0]


def _end(server):
    _servers.pop().close()
    server.wait()


def _serve(channel):
    """Fork for each request; only the forks return, with the code that they are to run."""
    for name in LIBRARIES:
        __import__(name)
    while True:
        message, files, _, _ = socket.recv_fds(channel, 1 << 20, 4)
        if not message:
            break
        keeper = os.fork()  # waits for the process in the place of this one
        if keeper == 0:
            channel.close()
            return _forked(json.loads(message), files)
        for file in files:
            os.close(file)
        os.waitpid(-1, os.WNOHANG)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            os._exit(0)


def _forked(request, files):
    *streams, told = files
    pid = os.fork()
    if pid > 0:
        for file in streams:
            os.close(file)
        for file in range(3):
            os.close(file)
        os.write(told, b"%d\n" % pid)
        os.write(told, b"%d\n" % os.waitpid(pid, 0)[1])
        os._exit(0)
    os.close(told)
    for place, file in enumerate(streams):
        os.dup2(file, place)
    for file in set(streams):
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", errors="backslashreplace")  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.chdir(request["folder"])
    sys.argv[1:] = request["words"]
    sys.path.insert(0, "")  # as for any code; helpers of the tests come after it
    return request["code"]


def _run(code):
    """Run it as a script is run, and end before all that was imported is taken apart again."""
    try:
        exec(code, {"__name__": "__main__"})
        status = 0
    except SystemExit as end:
        status = 0 if end.code is None else end.code
        if not isinstance(status, int):
            raise
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    _run(_serve(socket.socket(fileno=int(sys.argv[1]))))
