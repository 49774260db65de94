"""The servers that tests run, by the connection method of the profile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.connect_server import ConnectServer, ConnectSession
from tests.thrift_server import ThriftServer, ThriftSession

SERVERS = {"thrift": (ThriftServer, ThriftSession), "connect": (ConnectServer, ConnectSession)}


def session_of(profile: Mapping[str, Any]) -> Any:
    """A session of the server that the part of a profile is about."""
    server, session = SERVERS[profile["method"]]
    return session(server(profile["port"], Path()))
