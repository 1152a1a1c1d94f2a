#!/usr/bin/python3
"""Checks schemas/ against its own examples: each valid one is accepted, each invalid one is refused where a schema can tell.

The decoder is held to the same files by the Swift tests. What only the decoder can refuse (sizes in bytes, nesting, configured
applications) stands as `accepts` in the index, so that a schema that changes its mind is noticed in either direction.
"""

import json
import re
import sys
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
LARGEST_FILE_BYTES = 70_000
LEAST_INVALID = 200
LEAST_VALID = 40
KINDS = ("event", "recording", "feedback")
LEAST_FEEDBACK_VALID, LEAST_FEEDBACK_INVALID = 10, 20
REASONS = re.compile(
    r"(not_json|not_an_object|too_large|unknown_type|bad_timestamp|bad_token|too_many_targets|unknown_app"
    r"|content_state_too_large|(missing_field|wrong_type|out_of_range|content_state_mismatch):[A-Za-z.-]+)"
)
LABELS = (
    "not_json not_an_object too_large unknown_type missing_field wrong_type out_of_range bad_timestamp bad_token"
    " too_many_targets unknown_app content_state_too_large"
).split()

# The schema's own recursion over contentState takes several frames a level.
sys.setrecursionlimit(20_000)


class NotJSON(Exception):
    """Not what RFC 8259 in the strict reading of RFC 7493 allows: UTF-8, no lone surrogate, no name twice."""


def read_strictly(data):
    def members(pairs):
        if len({name for name, _ in pairs}) != len(pairs):
            raise NotJSON("a name twice")
        return dict(pairs)

    def constant(name):
        raise NotJSON(name)

    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=members, parse_constant=constant)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise NotJSON(str(error)) from error
    return value


def validators():
    documents = [json.loads(path.read_text("utf-8")) for path in sorted(SCHEMAS.rglob("*.schema.json"))]
    by_identifier = {document["$id"]: document for document in documents if "2020-12" in document["$schema"]}
    for document in by_identifier.values():
        Draft202012Validator.check_schema(document)
    roots = {kind: next(root for name, root in by_identifier.items() if name.endswith(f"/{kind}.schema.json")) for kind in KINDS}
    try:
        from referencing import Registry, Resource
    except ImportError:  # jsonschema below 4.18, such as the 4.10 of Debian 12
        from jsonschema import RefResolver

        return {
            kind: Draft202012Validator(root, resolver=RefResolver(root["$id"], root, store=by_identifier))
            for kind, root in roots.items()
        }
    registry = Registry().with_resources((name, Resource.from_contents(root)) for name, root in by_identifier.items())
    return {kind: Draft202012Validator(root, registry=registry) for kind, root in roots.items()}


def verdict(validator, data):
    try:
        value = read_strictly(data)
    except NotJSON:
        return "not-json"
    # All errors, not the first: a half-read list leaves the old resolver in the scope of another file.
    return "refuses" if list(validator.iter_errors(value)) else "accepts"


def rows(folder):
    lines = (folder / "index.tsv").read_text("utf-8").splitlines()
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]


def check_folder(folder, index, least):
    """Index and folder name the same files, and no two files or causes are the same."""
    problems = []
    listed, present = {row["file"] for row in index}, {path.name for path in folder.glob("*.json")}
    problems += [f"{folder.name}/{name}: in the index, but there is no such file" for name in sorted(listed - present)]
    problems += [f"{folder.name}/{name}: not in the index" for name in sorted(present - listed)]
    if len(index) != len(listed):
        problems.append(f"{folder.name}/index.tsv: names a file twice")
    if len(index) < least:
        problems.append(f"{folder.name}: {len(index)} examples, fewer than {least}")
    contents = {}
    for name in sorted(present):
        data = (folder / name).read_bytes()
        if len(data) > LARGEST_FILE_BYTES:
            problems.append(f"{folder.name}/{name}: {len(data)} bytes, above {LARGEST_FILE_BYTES}")
        if data in contents:
            problems.append(f"{folder.name}/{name}: the same bytes as {contents[data]}")
        contents[data] = name
    return problems


def check_feedback(validator):
    """What Waypulse writes rather than reads: the schema alone says what is right. The tests of Feedback hold the program to it."""
    folders = {"valid": (LEAST_FEEDBACK_VALID, "accepts"), "invalid": (LEAST_FEEDBACK_INVALID, "refuses")}
    problems, count = [], 0
    for name, (least, wanted) in folders.items():
        folder = SCHEMAS / "examples" / "feedback" / name
        index = rows(folder)
        count += len(index)
        problems += check_folder(folder, index, least)
        for row in index:
            found = verdict(validator, (folder / row["file"]).read_bytes())
            if found != wanted:
                why = row.get("corner") or row.get("cause")
                problems.append(f"feedback/{name}/{row['file']}: the schema says {found} ({why})")
    return count, problems


def main():
    check = validators()
    valid, invalid = SCHEMAS / "examples" / "valid", SCHEMAS / "examples" / "invalid"
    accepted, refused = rows(valid), rows(invalid)
    problems = check_folder(valid, accepted, LEAST_VALID) + check_folder(invalid, refused, LEAST_INVALID)

    for row in accepted:
        found = verdict(check[row["as"]], (valid / row["file"]).read_bytes())
        if found != "accepts":
            problems.append(f"valid/{row['file']}: the schema says {found} ({row['corner']})")
    for row in refused:
        found = verdict(check[row["as"]], (invalid / row["file"]).read_bytes())
        if found != row["schema"]:
            problems.append(f"invalid/{row['file']}: the index says {row['schema']}, the schema {found} ({row['cause']})")
        if not REASONS.fullmatch(row["reason"]):
            problems.append(f"invalid/{row['file']}: {row['reason']} is no reason")
        if row["reason"].replace(":", ".") not in row["file"]:
            problems.append(f"invalid/{row['file']}: the file's name does not tell its reason {row['reason']}")

    causes = [(row["as"], row["cause"]) for row in refused]
    problems += [f"invalid: two examples have the cause {cause[1]!r}" for cause in sorted(set(causes)) if causes.count(cause) > 1]
    missing = set(LABELS) - {row["reason"].split(":")[0] for row in refused}
    problems += [f"invalid: no example of {label}" for label in sorted(missing)]

    told_back, told_back_problems = check_feedback(check["feedback"])
    problems += told_back_problems

    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    told = {kind: sum(row["schema"] == kind for row in refused) for kind in ("not-json", "refuses", "accepts")}
    print(
        f"schemas: {len(accepted)} valid examples accepted, {len(refused)} invalid ones: {told['not-json']} are no JSON,"
        f" {told['refuses']} refused by schema, {told['accepts']} by the decoder alone;"
        f" {told_back} examples of feedback; {len(problems)} problems"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
