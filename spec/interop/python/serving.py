"""What both agents need to be found: a free loopback port, said on standard output once it listens."""

import socket

import uvicorn


def listen() -> tuple[socket.socket, str]:
    """A listening socket on a port that the system chose, and the URL of what it will serve."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(('127.0.0.1', 0))
    listener.listen()
    return listener, f'http://127.0.0.1:{listener.getsockname()[1]}/'


def serve(app, listener: socket.socket, url: str) -> None:
    """Serves until the process is ended."""
    print(f'listening {url}', flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level='error')).run(sockets=[listener])
