"""Tasks to profile: `slotwise profile tasks:parse_xml --out xml.json`, in this folder."""

import http.client
import math
import os
import threading
import time
import xml.sax

DOCUMENT = (
    b"<items>" + b"<item id='1'><name>sensor</name><value>21.5</value></item>" * 200 + b"</items>"
)


def parse_xml(number: int) -> None:
    """Parse a document of 12 kB with a SAX parser (the article's Parse XML)."""
    xml.sax.parseString(DOCUMENT, xml.sax.ContentHandler())


def viete_pi(number: int) -> float:
    """Approximate pi by 15 terms of Viete's series, a hundred times (its Pi Computation)."""
    for _ in range(100):
        term, product = 0.0, 1.0
        for _ in range(15):
            term = math.sqrt(2 + term)
            product *= term / 2
    return 2 / product


def sleep_20_ms(number: int) -> None:
    """Wait for 20 ms: n threads support n / 0.02 s = 50 n tuples/s, by construction."""
    time.sleep(0.02)


_connections = threading.local()


def ask_service(number: int) -> bytes:
    """Ask a local HTTP service (service.py) and wait for its answer (like Azure Table Query)."""
    if not hasattr(_connections, "one"):
        _connections.one = http.client.HTTPConnection("127.0.0.1", int(os.environ["PORT"]))
    _connections.one.request("GET", f"/{number}")
    return _connections.one.getresponse().read()
