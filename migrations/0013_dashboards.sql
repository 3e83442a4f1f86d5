-- What dashboards ask of a million results, answered in seconds; and the same figures as in reports.

-- Without it no statement that names one of them is run on several cores.
ALTER FUNCTION timed_on(bytea, boolean) PARALLEL SAFE;
ALTER FUNCTION outcome_name(integer) PARALLEL SAFE;

-- The call that wrote a candidate stands in its reservation at the candidate's own place, where there is one at most: a
-- join that is hashed for a month and looked up for an hour.
CREATE OR REPLACE VIEW view_model_candidate AS
SELECT c.id AS candidate_id, c.search_id, c.created_at, s.system, timed_on(s.device, s.emulated) AS timed_on,
  coalesce(l.provider, 'unknown') AS provider, coalesce(l.model, nullif(c.model, ''), 'unknown') AS model,
  coalesce(l.effort, '') AS effort, coalesce(l.prompt_variant, '') AS prompt_variant,
  coalesce(l.prompt_version, 'unknown') AS prompt_version,
  CASE WHEN c.repair_attempt > 0 THEN 'repair' ELSE 'implement' END AS kind, c.state <> 'rejected' AS generated,
  nullif(c.reject_reason, '') AS reject_reason, c.state IN ('done', 'rejected') AS ended,
  c.outcome NOT IN (0, 1, 2, 3, 20) AS compiled, c.outcome = 14 AS correct,
  c.outcome = 14 AND c.median_ms < coalesce(r.best_before_ms, 0) AS faster,
  CASE WHEN c.outcome = 14 THEN 100 * nullif(c.ratio_to_eager, 0) END AS percent_of_eager
FROM candidate c JOIN search s ON s.id = c.search_id
  LEFT JOIN round r ON r.search_id = c.search_id AND r.round = c.round
  LEFT JOIN llm_call l ON l.reservation_id = c.reservation_id AND l.kind <> 'propose'
    AND l.position = CASE WHEN c.repair_attempt > 0 THEN 0 ELSE c.idx END
WHERE c.reservation_id IS NOT NULL;

-- By way of eager, beside which the best kernel was timed, so that all ratios are of one measurement of it.
CREATE OR REPLACE VIEW view_baseline AS
SELECT b.search_id, b.name, CASE WHEN b.emulated THEN 'emulated device' ELSE 'GPU' END AS timed_on, b.device_class,
  b.device_name, nullif(b.median_ms, 0) AS median_ms, b.spread, 100 * nullif(s.eager_ms, 0) / nullif(b.median_ms, 0) AS percent_of_eager,
  CASE WHEN b.emulated = s.emulated AND b.median_ms > 0 AND s.best_ms > 0
    THEN 100 * CASE WHEN s.best_ratio > 0 AND s.eager_ms > 0 THEN s.best_ratio * (b.median_ms / s.eager_ms) ELSE b.median_ms / s.best_ms END
  END AS best_percent_of_it, b.harness_rev, b.pytorch_version, b.created_at
FROM baseline b JOIN search s ON s.id = b.search_id;

-- A correct kernel that could not be compared with eager is correct, and no faster.
CREATE OR REPLACE VIEW view_batch_result AS
SELECT b.id AS batch_id, b.name, t.timed_on, p.problems, p.ended, p.failed, t.solved, t.solved::double precision / p.problems AS fast_0,
  t.fast_1::double precision / p.problems AS fast_1, t.fast_1_5::double precision / p.problems AS fast_1_5,
  t.fast_2::double precision / p.problems AS fast_2, t.geometric_mean_percent
FROM batch b
  CROSS JOIN LATERAL (SELECT count(*) AS problems, count(*) FILTER (WHERE state IN ('done', 'cancelled', 'failed')) AS ended,
    count(*) FILTER (WHERE state = 'failed') AS failed
    FROM search s WHERE s.batch_id = b.id AND s.superseded_by IS NULL) p
  CROSS JOIN LATERAL (SELECT timed_on(s.device, s.emulated) AS timed_on,
    count(*) FILTER (WHERE s.best_ms > 0) AS solved,
    count(*) FILTER (WHERE s.best_ms > 0 AND s.best_ratio > 1) AS fast_1,
    count(*) FILTER (WHERE s.best_ms > 0 AND s.best_ratio > 1.5) AS fast_1_5,
    count(*) FILTER (WHERE s.best_ms > 0 AND s.best_ratio > 2) AS fast_2,
    100 * exp(avg(ln(CASE WHEN s.best_ms > 0 AND s.best_ratio > 0 THEN s.best_ratio END))) AS geometric_mean_percent
    FROM search s WHERE s.batch_id = b.id AND s.superseded_by IS NULL AND s.device IS NOT NULL GROUP BY 1) t;

SELECT grant_reader_views();
