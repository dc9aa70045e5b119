"""Keeps the installed aws CLI imported and runs each call in a fork of this process.

argv: the socket to listen on, the CLI's own script. A request is one line of JSON {args, env,
input, timeoutSeconds}; the answer is {code, stdout, stderr}. Each fork runs the CLI's script as
Python would. Ends when its stdin ends. Files of models that a fork has read are read once more
here, so that later forks find them parsed.
"""
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import tempfile

SOCKET_PATH, SCRIPT = sys.argv[1:3]
MAX_REQUEST_BYTES = 4 * 1024 * 1024

given_environment = dict(os.environ)
importlib.import_module('awscli.clidriver')
importlib.import_module('awscli.handlers')
# The CLI sets the folder of its own data while it is imported.
set_by_import = {
    name: value for name, value in os.environ.items() if given_environment.get(name) != value
}


def module_of(*names):
    """v2 has its botocore inside awscli."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError(names[0])


loaders = module_of('awscli.botocore.loaders', 'botocore.loaders')
# What a client's first use imports.
for module in ('endpoint', 'httpsession', 'signers', 'paginate', 'waiter', 'parsers'):
    module_of('awscli.botocore.' + module, 'botocore.' + module)

read_model = loaders.JSONFileLoader.load_file
parsed = {}
report_reader, report_writer = os.pipe()


def load_file(self, file_path):
    """Once from the parent's copy, which the fork may change; then from the file."""
    if file_path in parsed:
        return parsed.pop(file_path)
    model = read_model(self, file_path)
    if model is not None:
        os.write(report_writer, (file_path + '\n').encode())
    return model


loaders.JSONFileLoader.load_file = load_file


def keep_models(paths):
    for path in paths:
        if path not in parsed:
            parsed[path] = read_model(loaders.JSONFileLoader(), path)
    gc.collect()
    gc.freeze()


def run_script(args):
    """The exit code, as the interpreter would give it."""
    sys.argv = [SCRIPT, *args]
    sys.path[0] = os.path.dirname(SCRIPT)
    try:
        runpy.run_path(SCRIPT, run_name='__main__')
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def text_of(file):
    file.seek(0)
    return file.read().decode('utf-8', 'replace')


def serve(connection):
    """In the fork: takes the request's streams and environment, runs, answers."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request = json.loads(connection.makefile('r', encoding='utf-8').readline(MAX_REQUEST_BYTES))
    signal.alarm(request['timeoutSeconds'])
    stdin, stdout, stderr = (tempfile.TemporaryFile() for _ in range(3))
    stdin.write((request['input'] or '').encode())
    stdin.seek(0)
    for number, stream in enumerate((stdin, stdout, stderr)):
        os.dup2(stream.fileno(), number)
    os.environ.clear()
    os.environ.update(request['env'] | set_by_import)
    code = run_script(request['args'])
    sys.stdout.flush()
    sys.stderr.flush()
    answer = {'code': code & 0xFF, 'stdout': text_of(stdout), 'stderr': text_of(stderr)}
    connection.sendall(json.dumps(answer).encode())


def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def main():
    signal.signal(signal.SIGCHLD, reap)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(SOCKET_PATH)
    listener.listen(64)
    gc.collect()
    gc.freeze()
    print('ready', flush=True)
    while True:
        readable, _, _ = select.select([0, report_reader, listener], [], [])
        if 0 in readable and os.read(0, 1) == b'':
            return
        if report_reader in readable:
            keep_models(os.read(report_reader, 65536).decode().split())
        if listener in readable:
            connection, _ = listener.accept()
            if os.fork() == 0:
                try:
                    serve(connection)
                finally:
                    os._exit(0)
            connection.close()


main()
