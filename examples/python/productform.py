"""Answers of pfq as Python data: lists and dictionaries, and tables of pandas if it is installed.

    from productform import pfq, table

    answers = pfq("solve", "shop.yaml", scale="0.5:2:0.5", percentiles=[50, 99])
    table(answers, "classes", keep=["scale"])

The environment variable PFQ names the program, pfq by default.
"""

import json
import os
import subprocess

try:
    import pandas
except ImportError:
    pandas = None


class Mistake(Exception):
    """Bad usage or bad input, as pfq explains it."""


def pfq(command, *arguments, **flags):
    """Returns the answer of a command of pfq.

    An argument is a file or a model as Python data, in which a fractions.Fraction is exact. Flags
    are named with underscores: percentiles=[50, 99] is --percentiles 50,99, by_class=True is
    --by-class, and None or False leaves a flag out. An unstable model also has an answer, with
    "stable": False. Null in the answer is None: the number does not exist or is not known.
    """
    words = [os.environ.get("PFQ", "pfq"), command]
    given = None
    for argument in arguments:
        if isinstance(argument, dict):
            if given is not None:
                raise Mistake("only one argument can be Python data")
            given = json.dumps(argument, default=str)
            argument = "-"
        words.append(os.fspath(argument))
    for name, value in flags.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            listed = isinstance(value, (list, tuple))
            words[-1] += "=" + (",".join(map(str, value)) if listed else str(value))
    run = subprocess.run(words + ["--format", "json"], input=given, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise Mistake(run.stderr.strip())
    return json.loads(run.stdout)


def rows(answers, *path, keep=()):
    """Returns the elements of a list in answers as flat dictionaries.

    rows(answers, "classes", keep=["scale"]) has a row for each class of each answer, and the field
    scale of the answer in front. Answers without the list, such as those of unstable models, have
    no rows. A field of a field is named with a dot, such as delay.p99.
    """
    found = [({}, a) for a in (answers if isinstance(answers, list) else [answers])]
    for key in path:
        found = [
            ({**kept, **{k: parent[k] for k in keep if k in parent}}, element)
            for kept, parent in found
            for element in parent.get(key) or []
        ]
    return [{**kept, **flat(element)} for kept, element in found]


def flat(element, prefix=""):
    """Returns the fields of a dictionary and of those inside it. Lists of objects are left out."""
    fields = {}
    for key, value in element.items():
        if isinstance(value, dict):
            fields.update(flat(value, prefix + key + "."))
        elif not (isinstance(value, list) and any(isinstance(v, dict) for v in value)):
            fields[prefix + key] = value
    return fields


def table(answers, *path, keep=()):
    """Returns rows as a pandas.DataFrame, or as the list itself if pandas is not installed."""
    found = rows(answers, *path, keep=keep)
    return found if pandas is None else pandas.DataFrame(found)


def column(found, name, /, **where):
    """Returns a column of rows or of a DataFrame as a list, of the rows with given values."""
    if not isinstance(found, list):
        found = found.to_dict("records")
    return [row.get(name) for row in found if all(row.get(k) == v for k, v in where.items())]
