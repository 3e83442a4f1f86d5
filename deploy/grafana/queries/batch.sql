-- One batch, chosen by the variable batch, and what its problems were timed on, chosen by timed_on.

-- name: batch_choices
SELECT id AS __value, name || ' · ' || id AS __text FROM view_batch ORDER BY submitted_at DESC LIMIT 500

-- name: batch_timed_on
SELECT timed_on FROM view_batch_result WHERE batch_id = ${batch:sqlstring} ORDER BY timed_on

-- name: batch_fast
SELECT fast_1 AS "fast_1", fast_1_5 AS "fast_1.5", fast_2 AS "fast_2"
FROM view_batch_result WHERE batch_id = ${batch:sqlstring} AND timed_on = ${timed_on:sqlstring}

-- name: batch_geometric_mean
SELECT geometric_mean_percent AS "geometric mean"
FROM view_batch_result WHERE batch_id = ${batch:sqlstring} AND timed_on = ${timed_on:sqlstring}

-- name: batch_problem_counts
SELECT problems, ended, solved, failed
FROM view_batch_result WHERE batch_id = ${batch:sqlstring} AND timed_on = ${timed_on:sqlstring}

-- name: batch_cost
SELECT sum(usd) AS "US dollars", sum(usd) / nullif(sum(improvements), 0) AS "per new best"
FROM view_search_cost WHERE batch_id = ${batch:sqlstring}

-- name: batch_device_seconds
SELECT sum(device_seconds) AS "seconds", sum(device_seconds) / nullif(sum(improvements), 0) AS "per new best"
FROM view_search_cost WHERE batch_id = ${batch:sqlstring} AND timed_on = ${timed_on:sqlstring}
HAVING count(*) > 0

-- The denominator is all problems of the batch; p from 0 to 4. At 0 every correct kernel counts.
-- name: batch_fast_curve
SELECT s.step / 20.0::double precision AS p,
  count(*) FILTER (WHERE b.timed_on = ${timed_on:sqlstring} AND b.best_ms IS NOT NULL
      AND (s.step = 0 OR b.ratio_to_eager > s.step / 20.0::double precision))::double precision
    / count(*) AS "share of all problems"
FROM view_batch_problem b CROSS JOIN generate_series(0, 80) AS s (step)
WHERE b.batch_id = ${batch:sqlstring}
  AND EXISTS (SELECT 1 FROM view_batch_result r WHERE r.batch_id = ${batch:sqlstring} AND r.timed_on = ${timed_on:sqlstring})
GROUP BY s.step ORDER BY s.step

-- Rounds become columns and problems rows in the order in which they come.
-- name: batch_heat_map
SELECT r.round, r.problem || ' ' || r.search_id AS problem, r.best_so_far_percent
FROM view_search_round r JOIN view_batch_problem b ON b.search_id = r.search_id
WHERE r.batch_id = ${batch:sqlstring} AND b.batch_id = ${batch:sqlstring} AND r.timed_on = ${timed_on:sqlstring}
ORDER BY r.round, b.level, b.number, r.problem, r.search_id

-- name: batch_new_bests
SELECT $__timeGroupAlias(found_at, $__interval), count(*) AS "new best kernels"
FROM view_new_best
WHERE batch_id = ${batch:sqlstring} AND timed_on = ${timed_on:sqlstring} AND $__timeFilter(found_at)
GROUP BY 1 ORDER BY 1

-- name: batch_problems
SELECT b.problem, b.search_id AS search, CASE WHEN b.paused THEN 'paused' WHEN b.waiting THEN 'waiting' ELSE b.state END AS state,
  b.round, b.best_ms AS "best", b.eager_ms AS "eager", b.percent_of_eager AS "% of eager", c.usd AS "cost", c.device_seconds AS "device",
  b.finish_reason AS "why it ended", b.error
FROM view_batch_problem b JOIN view_search_cost c ON c.search_id = b.search_id
WHERE b.batch_id = ${batch:sqlstring} AND c.batch_id = ${batch:sqlstring}
  AND (b.timed_on = ${timed_on:sqlstring} OR b.timed_on IS NULL)
ORDER BY b.level, b.number, b.problem, b.search_id

-- name: batch_cost_per_improvement
SELECT problem, search_id AS search, improvements AS "new bests", usd AS "cost", usd_per_improvement AS "cost per new best",
  device_seconds AS "device", device_seconds_per_improvement AS "device per new best", calls, evaluations
FROM view_search_cost
WHERE batch_id = ${batch:sqlstring} AND timed_on = ${timed_on:sqlstring} AND NOT superseded
ORDER BY usd_per_improvement DESC NULLS LAST, device_seconds_per_improvement DESC NULLS LAST, problem, search_id

-- name: batch_outcomes
SELECT coalesce(outcome, 'no candidate: ' || reject_reason) AS class, count(*) AS candidates
FROM view_candidate_result
WHERE batch_id = ${batch:sqlstring} AND timed_on = ${timed_on:sqlstring} AND state IN ('done', 'rejected')
  AND reject_reason IS DISTINCT FROM 'exhausted'
GROUP BY 1 ORDER BY 2 DESC, 1
