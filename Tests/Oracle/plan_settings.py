"""The options of pacing.md section 0. Durations are read into whole milliseconds, field names into tuples of keys."""
import re

UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
WEEK = 7 * UNITS["d"]
POSITION_SOURCES = ("latitude", "longitude", "accuracy", "speed", "heading", "positionTimestamp")


def duration(text):
    match = re.fullmatch(r"([0-9]+)(ms|s|m|h|d)", text)
    if not match:
        raise SystemExit("not a duration: " + text)
    return int(match.group(1)) * UNITS[match.group(2)]


def duration_or_off(text):
    return None if text == "off" else duration(text)


def flag(text):
    return {"true": True, "false": False}[text]


def path(text):
    return tuple(text.split("."))


def items(text):
    return [item.strip() for item in text.strip("[]{} ").split(",") if item.strip()]


def pairs(text):
    return [re.split(r"\s*[=:]\s*", item, maxsplit=1) for item in items(text)]


def paths(text):
    return [path(item) for item in items(text)]


def tolerances(text):
    return {path(name): float(value) for name, value in pairs(text)}


def position_fields(text):
    return {} if text == "off" else {source: path(field) for source, field in pairs(text)}


OPTIONS = {
    "deadbandMeters": ("75", float),
    "accuracyAware": ("true", flag),
    "deadbandCeilingMeters": ("200", float),
    "minInterval": ("15s", duration),
    "profile": ("auto", str),
    "urgentMinInterval": ("5s", duration),
    "refresh": ("true", flag),
    "staleAfter": ("180s", duration),
    "refreshLead": ("30s", duration),
    "renew": ("false", flag),
    "tolerances": ("etaTimestamp=60,progressPercentage=0.05", tolerances),
    "positionFields": ("latitude=latitude,longitude=longitude", position_fields),
    "maxAccuracyMeters": ("200", float),
    "maxSpeedMetersPerSecond": ("100", float),
    "reanchorAfter": ("120s", duration),
    "maxAge": ("1h", duration),
    "maxFuture": ("60s", duration),
    "allowNullIsland": ("false", flag),
    "autoStart": ("true", flag),
    "maxActivityLife": ("8h", duration_or_off),
    "removeAfter": ("12h", duration),
    "discrete": ("status", paths),
    "sequenceField": ("sequenceNumber", path),
}

# name: (burst, milliseconds a token); None: no bucket
PROFILES = {"standard": (4, 60_000), "frequent": (8, 15_000), "unlimited": None}

# Where the specification can be read in two ways and the difference is more than bookkeeping, the choice is here.
READINGS = {
    # What still leaves after the last record: "waiting" – a refresh whose time had come, but that a gate held;
    # "armed" – every refresh for which an event was applied after the last send.
    "refreshAfterEnd": ("waiting", "armed"),
    # A source offset already applied: "mark" – at or below the highest applied one; "exact" – that very one.
    "appliedOffset": ("mark", "exact"),
    # An end's reasons: "all" that hold beside `ended`, or `ended` "alone".
    "endReasons": ("all", "alone"),
    # A token for an activity that nothing began: "applied" (it is kept), or counted "unknown_activity".
    "earlyToken": ("applied", "unknown_activity"),
    # An `app` where no application is configured at all: "refused" as unknown_app, or any name is "taken".
    "unconfiguredApps": ("refused", "taken"),
}


class Settings:
    def __init__(self, assignments=(), readings=()):
        for name, (default, read) in OPTIONS.items():
            setattr(self, name, read(default))
        for assignment in assignments:
            key, _, value = assignment.partition("=")
            name = key.removeprefix("pacing.")
            if not key.startswith("pacing.") or name not in OPTIONS:
                raise SystemExit("unknown option: " + key)
            setattr(self, name, OPTIONS[name][1](value))
        if self.renew:
            raise SystemExit("pacing.renew is not modelled")
        self.reading = {name: choices[0] for name, choices in READINGS.items()}
        for assignment in readings:
            name, _, value = assignment.partition("=")
            if value not in READINGS.get(name, ()):
                raise SystemExit("unknown reading: " + assignment)
            self.reading[name] = value
        self.apps = None if self.reading["unconfiguredApps"] == "taken" else ()
