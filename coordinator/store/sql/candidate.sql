-- name: candidate_insert
INSERT INTO candidate (id, search_id, idea_id, parent_id, round, idx, repair_attempt, repair_of, request_id, title, model,
  source_sha256, normalized_sha256, state, reject_reason, reject_message, finished_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
  CASE WHEN $14 = 'rejected' THEN now() END)
ON CONFLICT DO NOTHING RETURNING id

-- name: candidate_by_request
SELECT id FROM candidate WHERE search_id = $1 AND request_id = $2

-- name: candidate_by_prefix
SELECT id FROM candidate WHERE id LIKE $1 || '%' ORDER BY id LIMIT 2

-- name: candidate_get
SELECT c.*, e.body FROM candidate c LEFT JOIN evaluation e ON e.id = c.evaluation_id WHERE c.id = $1

-- name: candidate_of_search
SELECT c.*, NULL::bytea AS body FROM candidate c WHERE c.search_id = $1 ORDER BY c.seq

-- name: candidate_of_search_with_evaluations
SELECT c.*, e.body FROM candidate c LEFT JOIN evaluation e ON e.id = c.evaluation_id WHERE c.search_id = $1 ORDER BY c.seq

-- name: candidate_indexes
SELECT idx FROM candidate WHERE idea_id = $1 AND repair_attempt = 0

-- name: candidate_twin
SELECT id, state, outcome FROM candidate
WHERE search_id = $1 AND normalized_sha256 = $2 AND id <> $3 AND duplicate_of IS NULL AND outcome <> 20
ORDER BY seq LIMIT 1 FOR UPDATE

-- name: candidate_set_duplicate
UPDATE candidate SET duplicate_of = $2, state = 'evaluating' WHERE id = $1

-- name: candidate_set_evaluating
UPDATE candidate SET state = 'evaluating' WHERE id = $1 AND state = 'queued'

-- name: evaluation_insert
INSERT INTO evaluation (task_id, epoch, search_id, candidate_id, stage, outcome, reason, median_ms, spread, ratio_to_eager,
  device_name, emulated, worker_id, gpu_seconds, seconds, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (task_id) DO NOTHING RETURNING id

-- name: candidate_set_result
UPDATE candidate SET state = 'done', evaluation_id = $2, outcome = $3, reason = $4, message = $5, median_ms = $6,
  spread = $7, log_ratio = $8, ratio_to_eager = $9, finished_at = now()
WHERE id = $1

-- The machine's fault: the candidate keeps an earlier evaluation, if it has one.
-- name: candidate_set_given_up
UPDATE candidate SET state = 'done', outcome = 20, reason = $2, message = $3, finished_at = now()
WHERE (id = $1 OR duplicate_of = $1) AND state IN ('queued', 'evaluating')

-- name: candidate_copy_result
UPDATE candidate d SET state = 'done', evaluation_id = c.evaluation_id, outcome = c.outcome, reason = c.reason,
  message = c.message, median_ms = c.median_ms, spread = c.spread, log_ratio = c.log_ratio,
  ratio_to_eager = c.ratio_to_eager, finished_at = now()
FROM candidate c WHERE c.id = $1 AND d.duplicate_of = c.id AND c.state = 'done'

-- name: failure_classes
SELECT outcome, reason, count(*) AS count, (array_agg(message ORDER BY seq DESC))[1] AS example,
  (array_agg(id ORDER BY seq DESC))[1] AS candidate_id
FROM candidate WHERE search_id = $1 AND state = 'done' AND outcome NOT IN (0, 14)
GROUP BY outcome, reason ORDER BY count(*) DESC, outcome, reason LIMIT 10

-- name: reject_classes
SELECT reject_reason, count(*) AS count, (array_agg(reject_message ORDER BY seq DESC))[1] AS example,
  (array_agg(id ORDER BY seq DESC))[1] AS candidate_id
FROM candidate WHERE search_id = $1 AND state = 'rejected' AND reject_reason <> 'exhausted'
GROUP BY reject_reason ORDER BY count(*) DESC, reject_reason LIMIT 10

-- name: search_funnel
SELECT (SELECT count(*) FROM idea WHERE search_id = $1) AS ideas,
  count(*) FILTER (WHERE state <> 'rejected') AS generated,
  count(*) FILTER (WHERE state = 'rejected' AND reject_reason <> 'exhausted') AS rejected,
  count(*) FILTER (WHERE outcome NOT IN (0, 1, 2, 3, 20)) AS compiled,
  count(*) FILTER (WHERE outcome = 14) AS correct,
  count(*) FILTER (WHERE outcome = 3) AS needs_gpu,
  count(*) FILTER (WHERE outcome = 20) AS given_up,
  count(*) FILTER (WHERE state = 'done') AS evaluated,
  count(*) FILTER (WHERE duplicate_of IS NOT NULL) AS duplicates,
  coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY spread) FILTER (WHERE outcome = 14), 0) AS noise
FROM candidate WHERE search_id = $1

-- name: faster_than_parent
SELECT count(*) AS count FROM candidate c JOIN search s ON s.id = c.search_id LEFT JOIN candidate p ON p.id = c.parent_id
WHERE c.search_id = $1 AND c.outcome = 14
  AND c.median_ms < CASE WHEN p.median_ms > 0 THEN p.median_ms ELSE s.eager_ms END

-- name: kernel_insert
INSERT INTO kernel (id, candidate_id, search_id, problem_id, problem_name, operator_family, device_class, emulated,
  median_ms, ratio_to_eager, log_ratio, precision_class, idea_title, source_sha256, champion)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT (candidate_id) DO NOTHING

-- name: kernel_seeds
SELECT candidate_id FROM kernel
WHERE operator_family = $1 AND device_class = $2 AND emulated = $3 AND search_id <> $4 AND champion
ORDER BY log_ratio DESC, id LIMIT 5

-- name: kernel_list
SELECT k.*, (extract(epoch FROM k.admitted_at) * 1000000)::bigint AS admitted_us FROM kernel k
WHERE ($1 = '' OR operator_family = $1) AND ($2 = '' OR device_class = $2) AND emulated = $3
ORDER BY operator_family, log_ratio DESC, id LIMIT $4

-- name: task_held
SELECT id, epoch FROM task WHERE state = 'running' AND owner_worker = $1 AND owner_boot = $2
