"""What was measured, round by round, and the ratios within one round."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    benchmark: str
    case: str
    subject: str
    round: int
    figures: dict


class Results:
    def __init__(self, measurements):
        self.values = {}
        for one in measurements:
            for figure, value in one.figures.items():
                self.values.setdefault((one.benchmark, one.case, one.subject, figure), {})[one.round] = value

    def of(self, row):
        return [value * row.scale for value in self._rounds(row, row.case, row.subject).values()]

    def ratios(self, row):
        """Of this row's figure to its rival's, one for each round that both were in."""
        own = self._rounds(row, row.case, row.subject)
        other = self._rounds(row, row.against.case, row.against.subject)
        return [own[number] / other[number] for number in own if other.get(number)]

    def _rounds(self, row, case, subject):
        return self.values.get((row.benchmark, case, subject, row.figure), {})

    def records(self):
        return [
            {"benchmark": benchmark, "case": case, "subject": subject, "figure": figure,
             "median": statistics.median(rounds.values()), "least": min(rounds.values()),
             "most": max(rounds.values()), "rounds": list(rounds.values())}
            for (benchmark, case, subject, figure), rounds in self.values.items()
        ]
