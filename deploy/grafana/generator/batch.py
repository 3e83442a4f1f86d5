"""Batch: a KernelBench level at a glance."""
from .panels import (
    annotation,
    bars,
    changes,
    dashboard,
    link,
    override,
    postgresql_variable,
    row,
    series,
    sql,
    sql_variable,
    stat,
    table,
    trend,
)

SEARCH = link("Search", "/d/warpsmith-search/search?var-search=${__value.raw}&${__url_time_range}")
HEAT = {
    "mode": "absolute",
    "steps": [
        {"color": "dark-red", "value": None},
        {"color": "orange", "value": 50},
        {"color": "yellow", "value": 90},
        {"color": "light-green", "value": 100},
        {"color": "green", "value": 150},
        {"color": "dark-green", "value": 200},
    ],
}


def build():
    panels = [
        row("A level at a glance"),
        stat(
            "fast_p of all problems ($timed_on)",
            (
                "KernelBench's definition: the share of all problems of the batch, failed ones included, whose best"
                " correct kernel is more than p times as fast as PyTorch eager on the same device. Kernels timed on"
                " another kind of device count as none."
            ),
            "percentunit",
            sql("batch_fast"),
            width=8,
        ),
        stat(
            "Geometric mean, % of PyTorch eager, only problems with a kernel ($timed_on)",
            "Over the problems that have a correct kernel, and only those: read it beside fast_p.",
            "percent",
            sql("batch_geometric_mean"),
            width=4,
        ),
        stat(
            "Problems",
            (
                "All problems of the batch; whose search has ended; with a correct kernel timed on this kind of device;"
                " whose search failed."
            ),
            "none",
            sql("batch_problem_counts"),
            width=6,
        ),
        stat(
            "Spent on models",
            (
                "US dollars for calls to models of all searches of the batch, retried ones included; and for each new "
                "best kernel."
            ),
            "currencyUSD",
            sql("batch_cost"),
            width=3,
        ),
        stat(
            "Device time ($timed_on)",
            "Seconds of evaluations on devices of this kind; and for each new best kernel.",
            "s",
            sql("batch_device_seconds"),
            width=3,
        ),
        trend(
            "fast_p over p, share of all problems ($timed_on)",
            "How many problems have a correct kernel more than p times as fast as PyTorch eager on the same device.",
            "percentunit",
            sql("batch_fast_curve"),
            "p",
            overrides=[
                override("share of all problems", custom__lineInterpolation="stepAfter", custom__showPoints="never"),
                override("p", unit="none"),
            ],
        ),
        series(
            "New best kernels ($timed_on)",
            "How often a problem of the batch got a new best kernel, first correct ones included.",
            "none",
            sql("batch_new_bests"),
            width=12,
            custom={"drawStyle": "bars", "fillOpacity": 60},
        ),
        table(
            "Best so far by problem and round, % of PyTorch eager ($timed_on)",
            "A row a problem, a column a round. Empty: no correct kernel yet, or the round has not begun.",
            "percent",
            sql("batch_heat_map"),
            height=14,
            transformations=[
                {
                    "id": "groupingToMatrix",
                    "options": {
                        "columnField": "round",
                        "rowField": "problem",
                        "valueField": "best_so_far_percent",
                        "emptyValue": "null",
                    },
                }
            ],
            defaults={"thresholds": HEAT, "color": {"mode": "thresholds"}, "decimals": 0},
            custom={"cellOptions": {"type": "color-background", "mode": "basic"}, "filterable": False},
            overrides=[
                override("problem\\round", unit="string", custom__cellOptions={"type": "auto"}, custom__width=300)
            ],
        ),
        row("Problems and their cost"),
        table(
            "Problems ($timed_on, or not timed yet)",
            "The search that works on each problem now. Cost and device time are this search's.",
            "none",
            sql("batch_problems"),
            height=12,
            overrides=[
                override("/^(best|eager)$/", unit="ms"),
                override("% of eager", unit="percent"),
                override("cost", unit="currencyUSD"),
                override("device", unit="s"),
                override("search", links=SEARCH),
            ],
        ),
        table(
            "Cost and device time per new best kernel ($timed_on)",
            (
                "What a problem's improvements cost, dearest first; its first "
                "correct kernel counts as one. Empty: it had none."
            ),
            "none",
            sql("batch_cost_per_improvement"),
            width=16,
            height=10,
            overrides=[
                override("/^cost/", unit="currencyUSD"),
                override("/^device/", unit="s"),
                override("search", links=SEARCH),
            ],
        ),
        bars(
            "Verdicts ($timed_on)",
            "All candidates of the batch by verdict, and replies that held no candidate.",
            "none",
            sql("batch_outcomes"),
            "class",
            horizontal=True,
        ),
    ]
    return dashboard(
        "warpsmith-batch",
        "warpsmith / Batch",
        "A batch of problems: fast_p, geometric mean, progress by round, cost.",
        [
            postgresql_variable(),
            sql_variable("batch", "Batch", "batch_choices"),
            sql_variable("timed_on", "Timed on", "batch_timed_on"),
        ],
        [annotation("New best", "annotation_new_best_of_batch", "green"), *changes()],
        panels,
        "now-7d",
    )
