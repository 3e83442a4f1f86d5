"""What `warpsmith tree --json` tells of candidates."""


def number(text):
    return None if text is None else float(text)


def done_candidates(tree):
    return [c for idea in tree["ideas"] for c in idea.get("candidates", []) if c.get("state") == "done"]


def all_candidates(tree):
    return [c for idea in tree["ideas"] for c in idea.get("candidates", [])]


def outcome(candidate):
    return candidate.get("evaluation", {}).get("outcome", "")


def against_anchor(candidate, eager):
    """What makes a candidate the best: the anchor's time over its own, on the same device within the same minute."""
    timing = candidate["evaluation"]["timing"]
    return (timing.get("anchor_ms") or eager) / timing["median_ms"]


def eager_ms(tree):
    return next(b["median_ms"] for b in tree["search"]["problem"]["baselines"] if b["name"] == "eager")
