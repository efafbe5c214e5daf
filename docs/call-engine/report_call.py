# Reports by event that a call has ended. The same report twice is one report.
# pip install esdbclient; EVENTSTORE_URL=... python report_call.py report.json
import json
import os
import sys
import uuid

from esdbclient import EventStoreDBClient, NewEvent, StreamState
from esdbclient.exceptions import WrongCurrentVersion

# Any UUID will do; choose one for your engine and never change it.
NAMESPACE = uuid.UUID("6f1d4f0a-3c5e-4b7e-9a52-0d8f6c1b7e21")


def report_call(client: EventStoreDBClient, report: dict) -> bool:
    """False when another report of this call is in the log: that one stands. Any other error may be tried again."""
    event = NewEvent(
        id=uuid.uuid5(NAMESPACE, report["call_id"]),
        type="CallCompleted",
        content_type="application/json",
        data=json.dumps(report).encode(),
        metadata=json.dumps({"$correlationId": report["call_id"]}).encode(),
    )
    try:
        client.append_to_stream(
            f"call-{report['call_id']}", current_version=StreamState.NO_STREAM, events=[event]
        )
        return True
    except WrongCurrentVersion:
        return False


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        fits = report_call(EventStoreDBClient(os.environ["EVENTSTORE_URL"]), json.load(file))
    print("reported" if fits else "reported before, with another body")
