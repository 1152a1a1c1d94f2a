"""What a schema cannot say of a good request, for schemathesis: bytes of an id, the server's clock, which apps there are."""

import datetime
import os
import time

import schemathesis

ID_BYTES = 128
APP = os.environ.get("WAYPULSE_API_APP", "courier")


def is_too_long(values):
    return any(isinstance(value, str) and len(value.encode("utf-8", "surrogatepass")) > ID_BYTES >= len(value) for value in values)


def moment(text):
    with_zone = text.upper().replace("Z", "+00:00")
    try:
        return datetime.datetime.fromisoformat(with_zone).timestamp()
    except (ValueError, OverflowError):
        return None


@schemathesis.hook
def filter_path_parameters(context, path_parameters):
    # Counted in characters by the schema, in bytes by the server.
    return not path_parameters or not is_too_long(path_parameters.values())


@schemathesis.hook
def filter_body(context, body):
    return not isinstance(body, dict) or not is_too_long(body.get(name) for name in ("activityId", "userId", "attributesType"))


@schemathesis.hook
def before_call(context, case, kwargs):
    # Here rather than where bodies are generated, for one phase makes its own. A bad request stays bad: only an app's name and a
    # time between now and the latest that the schema takes are changed.
    if not isinstance(case.body, dict):
        return
    body = dict(case.body)
    stamp, now = body.get("timestamp"), time.time()
    if isinstance(stamp, (int, float)) and not isinstance(stamp, bool) and now < stamp <= 1e11:
        body["timestamp"] = int(now)
    elif isinstance(stamp, str) and (moment(stamp) or 0) > now:
        body["timestamp"] = "2026-03-08T20:10:00.5Z"
    if isinstance(body.get("app"), str) and body["app"]:
        body["app"] = APP
    case.body = body
