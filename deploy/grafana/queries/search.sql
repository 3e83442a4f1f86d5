-- One search, chosen by the variable search. All of its times are of one device.

-- name: search_choices
SELECT search_id AS __value, name || ' · ' || search_id || ' · ' || state AS __text
FROM view_search_status WHERE NOT system ORDER BY submitted_at DESC LIMIT 500

-- name: search_timed_on
SELECT coalesce(timed_on, 'not timed yet') FROM view_search_status WHERE search_id = ${search:sqlstring}

-- name: search_best_percent
SELECT percent_of_eager AS "best kernel" FROM view_search_status WHERE search_id = ${search:sqlstring}

-- name: search_times
SELECT best_ms AS "best kernel", eager_ms AS "PyTorch eager" FROM view_search_status WHERE search_id = ${search:sqlstring}

-- name: search_state
SELECT CASE WHEN paused THEN 'paused' ELSE state END || coalesce(': ' || finish_reason, '') AS state
FROM view_search_status WHERE search_id = ${search:sqlstring}

-- name: search_round_under_way
SELECT nullif(round, 0) AS round FROM view_search_status WHERE search_id = ${search:sqlstring}

-- name: search_spent
SELECT usd AS "spent", usd_per_improvement AS "per new best" FROM view_search_cost WHERE search_id = ${search:sqlstring}

-- name: search_device_seconds
SELECT device_seconds AS "in all", device_seconds_per_improvement AS "per new best"
FROM view_search_cost WHERE search_id = ${search:sqlstring}

-- name: search_rounds
SELECT round, best_so_far_percent AS "best so far", round_best_percent AS "best of the round",
  quartile_3_percent AS "upper quartile", median_percent AS "median", quartile_1_percent AS "lower quartile"
FROM view_search_round WHERE search_id = ${search:sqlstring} ORDER BY round

-- name: search_best_over_time
SELECT found_at AS "time", percent_of_eager AS "best so far"
FROM view_new_best WHERE search_id = ${search:sqlstring} AND $__timeFilter(found_at) ORDER BY found_at

-- name: search_trajectory
SELECT found_at AS "found at", round, percent_of_eager AS "% of eager", median_ms AS "time", gain_percent AS "gain", title AS idea,
  category, coalesce(model, 'operator') AS model, candidate_id AS candidate
FROM view_new_best WHERE search_id = ${search:sqlstring} ORDER BY found_at

-- name: search_funnel_per_round
SELECT round::text AS round, ideas, generated, compiled, correct, faster
FROM view_search_round WHERE search_id = ${search:sqlstring} ORDER BY view_search_round.round

-- name: search_funnel
SELECT sum(generated) AS generated, sum(compiled) AS compiled, sum(correct) AS correct, sum(faster) AS faster
FROM view_search_round WHERE search_id = ${search:sqlstring}

-- name: search_failure_classes
SELECT coalesce(outcome, 'no candidate: ' || reject_reason) AS class, count(*) AS candidates
FROM view_candidate_result
WHERE search_id = ${search:sqlstring} AND state IN ('done', 'rejected') AND NOT correct
  AND reject_reason IS DISTINCT FROM 'exhausted'
GROUP BY 1 ORDER BY 2 DESC, 1

-- name: search_failure_reasons
SELECT coalesce(outcome, 'no candidate') AS class, coalesce(reason, reject_reason, '') AS reason, count(*) AS candidates,
  count(*) FILTER (WHERE repair_attempt > 0) AS "of these repairs",
  (array_agg(candidate_id ORDER BY seq DESC))[1] AS "latest candidate"
FROM view_candidate_result
WHERE search_id = ${search:sqlstring} AND state IN ('done', 'rejected') AND NOT correct
  AND reject_reason IS DISTINCT FROM 'exhausted'
GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2

-- name: search_categories
SELECT category, count(DISTINCT idea_id) AS ideas, count(*) FILTER (WHERE generated) AS candidates,
  count(*) FILTER (WHERE correct) AS correct, count(*) FILTER (WHERE faster) AS faster,
  count(*) FILTER (WHERE correct)::double precision / nullif(count(*) FILTER (WHERE generated), 0) AS "share correct",
  count(*) FILTER (WHERE faster)::double precision / nullif(count(*) FILTER (WHERE generated), 0) AS "share faster",
  max(percent_of_eager) AS "best, % of eager"
FROM view_candidate_result WHERE search_id = ${search:sqlstring} GROUP BY category ORDER BY 5 DESC, 4 DESC, 1

-- name: search_lineage
SELECT step, candidate_id AS candidate, round, title AS idea, category, coalesce(model, 'operator') AS model, outcome,
  median_ms AS "time", percent_of_eager AS "% of eager", 'warpsmith show ' || candidate_id AS "shows its source",
  source_sha256 AS "source's SHA-256"
FROM view_best_lineage WHERE search_id = ${search:sqlstring} ORDER BY step

-- name: search_baselines
SELECT name AS baseline, median_ms AS "time", percent_of_eager AS "% of eager", best_percent_of_it AS "best kernel, % of it",
  spread, device_name AS device, pytorch_version AS "PyTorch", harness_rev AS harness
FROM view_baseline WHERE search_id = ${search:sqlstring} ORDER BY median_ms, name
