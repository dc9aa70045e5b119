# Runs a program in a pseudo-terminal of 24 rows and 120 columns: `in_terminal.py PROGRAM ARGS...`. What it
# gets on standard input are keys for the program; what it prints is what the program draws.
import fcntl
import os
import pty
import select
import struct
import sys
import termios

child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        keys = os.read(0, 4096)
        if keys:
            os.write(terminal, keys)
        else:
            sources.remove(0)
    if terminal in ready:
        try:
            drawn = os.read(terminal, 65536)
        except OSError:
            drawn = b""
        if not drawn:
            break
        os.write(1, drawn)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
