"""Search: does it improve, why did its candidates fail, where does its best kernel come from, what did it cost."""
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
    text_variable,
    trend,
)

REPORT = link("In the published report", "${report_url}${search}.html#${__value.raw}")
PERCENT = override("% of eager", unit="percent")
TIME = override("time", unit="ms")


def build():
    panels = [
        row("Is it improving?"),
        stat(
            "Best kernel, % of PyTorch eager ($timed_on)",
            (
                "PyTorch eager's time over the best correct kernel's, on the same device: above 100 % the kernel is"
                " faster. Empty while no kernel is correct."
            ),
            "percent",
            sql("search_best_percent"),
        ),
        stat(
            "Best kernel and PyTorch eager ($timed_on)", "Median times on the same device.", "ms", sql("search_times")
        ),
        stat("State", "Where the search stands, and why it ended.", "string", sql("search_state"), text=True),
        stat(
            "Round",
            "The round under way; after the end, the last one that had ideas.",
            "none",
            sql("search_round_under_way"),
        ),
        stat(
            "Spent on models",
            (
                "US dollars for calls to models, calls given up included; and for each new best kernel, the first "
                "correct one included."
            ),
            "currencyUSD",
            sql("search_spent"),
        ),
        stat(
            "Device time ($timed_on)",
            "Seconds of evaluations on the device; and for each new best kernel, the first correct one included.",
            "s",
            sql("search_device_seconds"),
        ),
        trend(
            "Best so far and spread per round, % of PyTorch eager ($timed_on)",
            (
                "Of each round's correct kernels: best, quartiles, median. The step line is the best of all rounds so"
                " far. A round without a correct kernel has a gap in all but that."
            ),
            "percent",
            sql("search_rounds"),
            "round",
            overrides=[
                override("best so far", custom__lineInterpolation="stepAfter", custom__lineWidth=3),
                override(
                    "upper quartile", custom__fillBelowTo="lower quartile", custom__lineWidth=0, custom__fillOpacity=20
                ),
                override("lower quartile", custom__lineWidth=0),
            ],
        ),
        series(
            "Best so far over time, % of PyTorch eager ($timed_on)",
            "A step each time that a correct kernel was found which is faster than all before.",
            "percent",
            sql("search_best_over_time"),
            width=12,
            custom={"lineInterpolation": "stepAfter", "lineWidth": 3, "showPoints": "always"},
        ),
        table(
            "Trajectory ($timed_on)",
            (
                "Each new best kernel with the idea behind it. Gain is over the best before it. Titles are a "
                "model's words."
            ),
            "none",
            sql("search_trajectory"),
            height=9,
            overrides=[
                override("found at", unit="dateTimeAsIso"),
                override("gain", unit="percent"),
                PERCENT,
                TIME,
                override("candidate", links=REPORT),
            ],
        ),
        row("Why did candidates fail?"),
        bars(
            "Funnel per round",
            (
                "Ideas, candidates generated from them (repairs included), those that compiled and ran, those that "
                "were correct, those faster than the best before the round."
            ),
            "none",
            sql("search_funnel_per_round"),
            "round",
        ),
        stat(
            "Funnel of all rounds",
            (
                "Candidates generated, that compiled and ran, that were correct, that were faster than the best "
                "before their round."
            ),
            "none",
            sql("search_funnel"),
            width=8,
            height=8,
        ),
        bars(
            "Failure classes",
            "Candidates that ended otherwise than correct, by verdict; and replies that held no candidate.",
            "none",
            sql("search_failure_classes"),
            "class",
            horizontal=True,
        ),
        table(
            "Failures by reason",
            (
                "The same with the machine-readable reason and the latest candidate, whose message "
                "`warpsmith show` prints."
            ),
            "none",
            sql("search_failure_reasons"),
            width=12,
            overrides=[override("latest candidate", links=REPORT)],
        ),
        table(
            "Categories of ideas and what they yield ($timed_on)",
            "Shares are of generated candidates. Faster: correct, and faster than the best before the round.",
            "none",
            sql("search_categories"),
            width=12,
            overrides=[override("/^share /", unit="percentunit"), override("best, % of eager", unit="percent")],
        ),
        row("Where does the best kernel come from?"),
        table(
            "Lineage of the best kernel ($timed_on)",
            (
                "From the module itself to the best kernel. A candidate's link opens its source "
                "in the published report (variable Reports); the command prints it anywhere."
            ),
            "none",
            sql("search_lineage"),
            overrides=[TIME, PERCENT, override("candidate", links=REPORT)],
        ),
        table(
            "PyTorch's own times ($timed_on)",
            (
                "Baselines of the intake, on the same device as the candidates. Above 100 % in the last "
                "percentage the best kernel is faster than that baseline."
            ),
            "none",
            sql("search_baselines"),
            overrides=[
                TIME,
                PERCENT,
                override("best kernel, % of it", unit="percent"),
                override("spread", unit="percentunit"),
            ],
        ),
    ]
    return dashboard(
        "warpsmith-search",
        "warpsmith / Search",
        "One search: is it improving, why did candidates fail, where does its best kernel come from, what did it cost.",
        [
            postgresql_variable(),
            sql_variable("search", "Search", "search_choices"),
            sql_variable("timed_on", "Timed on", "search_timed_on", hide=2),
            text_variable(
                "report_url",
                "Reports",
                "/reports/",
                "Where files that `warpsmith report` wrote are published, as SEARCH.html",
            ),
        ],
        [annotation("New best", "annotation_new_best_of_search", "green"), *changes()],
        panels,
        "now-7d",
    )
