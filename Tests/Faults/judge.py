"""Holds the simulator's journal to what was promised, whatever was done to the processes meanwhile.

It knows what the provider and the phones saw, what the events said (truth.py), and when something was done that may cost a re-send.
Of the pacing it knows the bounds that the documentation promises, and nothing of how it works.
"""

import collections
from dataclasses import dataclass

from history import History
from promises import Broken


@dataclass
class Finding:
    broken: list
    counts: dict


def judge(entries, truth, terms, unsettled=(), letters=()):
    """`unsettled` names streams whose settled position did not reach their end, `letters` those whose dead letters are not what they should be,
    each with what was found."""
    histories = {name: [] for name in truth.finals}
    for entry in entries:
        histories.setdefault(truth.activity(entry), []).append(entry)
    counts = collections.Counter(activities=len(truth.finals), requests=len(entries))
    broken = []
    for name, history in histories.items():
        one = History(name, history, truth.finals.get(name), terms)
        broken += one.judge()
        counts.update(one.counts)
    # What waits for a token that will never be reported may hold its events.
    if not counts["unstarted"]:
        broken += [Broken("settled", name, text) for name, text in unsettled]
    broken += [Broken("deadLetters", name, text) for name, text in letters]
    # Each is stated even where there is none.
    names = ("activities", "requests", "pushes", "retries", "resends", "steppedBack", "late", "ends", "starts", "unstarted", "excused")
    return Finding(broken, {name: counts[name] for name in names} | {"slowestEnd": slowest_end(histories, truth)})


def slowest_end(histories, truth):
    """Milliseconds from the event to the arrival at the provider, for the end that waited longest; ends wait for no gate."""
    waits = [0]
    for name, final in truth.finals.items():
        arrival = next((one["realAt"] for one in histories[name] if one["status"] == 200 and one["event"] == "end"), None)
        # A token takes its time to be reported.
        if final.ended_at and arrival and not final.started_by_push:
            waits.append(arrival - final.ended_at * 1_000)
    return round(max(waits))


def is_told(entries, truth, terms):
    """Whether nothing is left to be told: what one waits for before one judges."""
    histories = {name: [] for name in truth.finals}
    for entry in entries:
        histories.setdefault(truth.activity(entry), []).append(entry)
    return not any(History(name, histories[name], final, terms).is_untold() for name, final in truth.finals.items())


def row(name, finding):
    return {"scenario": name, **finding.counts, "broken": len(finding.broken)}


def table(rows):
    """One row a scenario, columns as wide as they need to be."""
    if not rows:
        return ""
    names = list(dict.fromkeys(name for one in rows for name in one))
    cells = [names, *([str(one.get(name, "")) for name in names] for one in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    lines = []
    for line in cells:
        first, *rest = (cell.ljust(width) if at == 0 else cell.rjust(width) for at, (cell, width) in enumerate(zip(line, widths)))
        lines.append("  ".join([first, *rest]))
    return "\n".join(lines)
