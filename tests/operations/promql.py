"""Enough of PromQL to look at an expression's selectors; whether it is right as a whole, Prometheus itself says."""
import re

_STRING = r'"(?:[^"\\]|\\.)*"'
_SELECTOR = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)?\s*(\{(?:[^{}\"]|" + _STRING + r")*\})?(\s*\[[^\]]*\])?")
_WORDS = {
    "by",
    "without",
    "on",
    "ignoring",
    "group_left",
    "group_right",
    "and",
    "or",
    "unless",
    "bool",
    "offset",
    "inf",
    "nan",
}


def selectors(expression):
    """(metric, matchers, range or None, functions around it from outside in) of each selector of time series."""
    found, stack, place = [], [], 0
    grouping = None  # depth at which a list of labels began
    while place < len(expression):
        letter = expression[place]
        if letter == '"':
            place = re.compile(_STRING).match(expression, place).end()
            continue
        if letter == "(":
            stack.append(None)
            place += 1
            continue
        if letter == ")":
            stack.pop()
            if grouping is not None and len(stack) <= grouping:
                grouping = None
            place += 1
            continue
        match = _SELECTOR.match(expression, place)
        if not match or not match.group(0).strip() or not (match.group(1) or match.group(2)):
            place += 1
            if letter.isdigit():  # a number, with its unit
                while place < len(expression) and (expression[place].isalnum() or expression[place] == "."):
                    place += 1
            continue
        name, matchers, span = match.groups()
        rest = expression[match.end() :].lstrip()
        place = match.end()
        if name in ("by", "without", "on", "ignoring", "group_left", "group_right") and not matchers:
            if rest.startswith("("):
                grouping = len(stack)
                place = expression.index("(", match.end()) + 1
                stack.append(None)
            continue
        if grouping is not None or (name in _WORDS and not matchers):
            continue
        if name and not matchers and (rest.startswith("(") or re.match(r"(by|without)\b", rest)):
            if rest.startswith("("):  # a call; an aggregation with its labels first has the bracket later
                place = expression.index("(", match.end()) + 1
                stack.append(name)
            continue
        found.append((name or "", matchers or "", span.strip()[1:-1] if span else None, [f for f in stack if f]))
    return found
