"""Models: yield, cost, latency and errors by model and version of the prompts."""
from .panels import (
    changes,
    dashboard,
    job_and_instance,
    override,
    postgresql_variable,
    prom,
    prometheus_variable,
    quantiles,
    row,
    series,
    sql,
    sql_variable,
    table,
)

REQUESTS = "sum by (provider, model) (rate(warpsmith_llm_requests_total{@}[$__rate_interval]))"
ERRORS = 'sum by (provider, model) (rate(warpsmith_llm_requests_total{@, code!="ok"}[$__rate_interval]))'
MODEL = "{{provider}} {{model}}"


def per_model(metric, labels, legend):
    return prom(f"sum by ({labels}) (rate({metric}{{@}}[$__rate_interval]))", legend)


def build():
    panels = [
        row("What they yield"),
        table(
            "Yield by model and prompts ($timed_on)",
            (
                "Candidates written in the time shown and judged by now. Shares compiled, correct and faster are of"
                " generated ones; faster: than the best before the round. Cost is of the calls that wrote them; calls"
                " for ideas stand in the table below."
            ),
            "none",
            sql("models_yield"),
            height=9,
            overrides=[override("/^share /", unit="percentunit"), override("/^cost/", unit="currencyUSD")],
        ),
        series(
            "What was made of replies",
            "A second, by model and prompts. Parsed: it held ideas or a candidate.",
            "ops",
            per_model(
                "warpsmith_llm_replies_total",
                "model, prompt_version, result",
                "{{model}} {{prompt_version}} {{result}}",
            ),
            width=24,
        ),
        row("What they cost"),
        table(
            "Calls by model and prompts",
            "All calls in the time shown, with their errors, cost and latency. Latency is of calls that succeeded.",
            "none",
            sql("models_calls"),
            height=9,
            overrides=[
                override("/^cost/", unit="currencyUSD"),
                override("share of errors", unit="percentunit"),
                override("/^(first byte|whole)/", unit="s"),
            ],
        ),
        series(
            "US dollars an hour",
            "By the price table; only models with a price.",
            "currencyUSD",
            prom("3600 * sum by (provider, model) (rate(warpsmith_llm_cost_usd_total{@}[$__rate_interval]))", MODEL),
        ),
        series(
            "Budget of the day",
            "Of this UTC day. Reserved: set aside for calls under way. No limit is drawn where there is none.",
            "currencyUSD",
            prom("max by (state) (warpsmith_budget_usd{@})", "{{state}}"),
        ),
        series(
            "Tokens",
            "A second, by model and kind; cached and cache_write are not counted as input again.",
            "none",
            per_model("warpsmith_llm_tokens_total", "model, kind", "{{model}} {{kind}}"),
        ),
        row("How fast, and what goes wrong"),
        series(
            "Calls by result",
            "Calls that ended, a second, by model and code.",
            "reqps",
            per_model("warpsmith_llm_requests_total", "model, code", "{{model}} {{code}}"),
        ),
        series(
            "Share of calls that failed",
            "Absent while nothing fails or nothing is called.",
            "percentunit",
            prom(f"{ERRORS} / {REQUESTS}", MODEL),
        ),
        series(
            "Retries",
            "Tries made again, a second, by the error before them.",
            "ops",
            per_model("warpsmith_llm_retries_total", "model, reason", "{{model}} {{reason}}"),
        ),
        series(
            "To the first byte",
            "Of calls that succeeded, from a try's sending to the first byte of its answer.",
            "s",
            quantiles("warpsmith_llm_first_token_seconds", ["model"], "{{model}}"),
        ),
        series(
            "Whole call",
            "With retries and the waits between them.",
            "s",
            quantiles("warpsmith_llm_request_seconds", ["model"], "{{model}}"),
        ),
        series(
            "Waiting for a limit",
            "How long calls that had to wait did so.",
            "s",
            quantiles("warpsmith_llm_limit_wait_seconds", ["model"], "{{model}}", shares=(0.5, 0.95)),
        ),
        series(
            "Calls that waited",
            "A second, by what stood in the way first.",
            "ops",
            per_model("warpsmith_llm_limit_waits_total", "model, limit", "{{model}} {{limit}}"),
        ),
        series(
            "Calls under way",
            "By model.",
            "none",
            prom("sum by (model) (warpsmith_llm_calls_in_flight{@})", "{{model}}"),
        ),
        series(
            "Circuit open",
            "1 while a model is not asked because it failed again and again.",
            "none",
            prom("max by (provider, model) (warpsmith_llm_circuit_open{@})", MODEL),
        ),
        series(
            "Calls that did not fit into a limit",
            "In the interval of a point. request: the search's share; day: max_usd_per_day.",
            "none",
            prom("sum by (scope) (increase(warpsmith_llm_budget_refusals_total{@}[$__rate_interval]))", "{{scope}}"),
        ),
    ]
    return dashboard(
        "warpsmith-models",
        "warpsmith / Models",
        "Models: yield, cost, latency, errors, by model and version of the prompts.",
        [
            prometheus_variable(),
            postgresql_variable(),
            *job_and_instance(),
            sql_variable("timed_on", "Timed on", "models_timed_on"),
        ],
        changes(),
        panels,
        "now-24h",
    )
