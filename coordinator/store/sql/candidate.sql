-- name: candidate_insert
INSERT INTO candidate (id, search_id, idea_id, parent_id, round, idx, repair_attempt, repair_of, request_id, title, model,
  source_sha256, normalized_sha256, state, reject_reason, reject_message, renamed_sha256, reservation_id, finished_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
  CASE WHEN $14 = 'rejected' THEN now() END)
ON CONFLICT DO NOTHING RETURNING id, state, reject_reason

-- name: candidate_by_request
SELECT id FROM candidate WHERE search_id = $1 AND request_id = $2

-- name: candidate_by_prefix
SELECT id FROM candidate WHERE id LIKE $1 || '%' ORDER BY id LIMIT 2

-- name: candidate_get
SELECT c.*, (SELECT e.body FROM evaluation e WHERE e.id = c.evaluation_id) AS body FROM candidate c WHERE c.id = $1

-- What a strategy sees of a search's candidates. A duplicate is the same program as an earlier candidate: nothing to
-- repair, confirm or branch from that the first one is not.
-- name: snapshot_candidates
SELECT id, idea_id, parent_id, repair_of, round, idx, repair_attempt, duplicate_of IS NOT NULL AND NOT reused AS duplicate,
  state, outcome, median_ms, spread, log_ratio, twin_of, CASE WHEN state = 'rejected' THEN reject_reason ELSE reason END AS reason
FROM candidate WHERE search_id = $1 ORDER BY seq

-- name: candidate_of_search
SELECT c.*, NULL::bytea AS body FROM candidate c WHERE c.search_id = $1 ORDER BY c.seq

-- name: candidate_of_search_with_evaluations
SELECT c.*, e.body FROM candidate c LEFT JOIN evaluation e ON e.id = c.evaluation_id WHERE c.search_id = $1 ORDER BY c.seq

-- name: candidate_indexes
SELECT idx FROM candidate WHERE idea_id = $1 AND repair_attempt = 0

-- An earlier candidate of the search with the same code but for layout, comments and names. One that did not compile is
-- the same only where its names are too: a name may have been what was wrong.
-- name: candidate_same
SELECT id, state, outcome FROM candidate
WHERE search_id = $1 AND renamed_sha256 = $2 AND seq < (SELECT seq FROM candidate WHERE id = $4) AND (duplicate_of IS NULL OR reused) AND outcome <> 20
  AND (normalized_sha256 = $3 OR outcome NOT IN (1, 2))
ORDER BY normalized_sha256 <> $3, seq LIMIT 1 FOR UPDATE

-- The same in other searches that judge alike, as far as the result says all there is to say: not one that was screened
-- out against another search's incumbent, timed out or was not believed; and only by the judge that judges now.
-- name: candidate_reusable
SELECT c.id, c.source_sha256 FROM candidate c JOIN search s ON s.id = c.search_id JOIN evaluation e ON e.id = c.evaluation_id
WHERE c.renamed_sha256 = $2 AND s.reuse_key = $1 AND s.reuse_key <> '' AND c.search_id <> $4 AND c.state = 'done'
  AND c.duplicate_of IS NULL AND c.outcome NOT IN (0, 5, 13, 20) AND c.reason <> 'screened'
  AND (c.normalized_sha256 = $3 OR c.outcome NOT IN (1, 2))
  AND e.harness_rev = s.harness_rev
  AND e.judge_rev = (SELECT newest.judge_rev FROM evaluation newest JOIN search n ON n.id = newest.search_id
                     WHERE n.reuse_key = $1 ORDER BY newest.id DESC LIMIT 1)
ORDER BY c.normalized_sha256 <> $3, c.seq LIMIT 1

-- The source becomes the one that was judged: it may differ in names, and the result is that text's.
-- name: candidate_reuse_result
UPDATE candidate d SET duplicate_of = c.id, reused = true, state = 'done', source_sha256 = c.source_sha256,
  normalized_sha256 = c.normalized_sha256, evaluation_id = c.evaluation_id, outcome = c.outcome, reason = c.reason,
  message = c.message, median_ms = c.median_ms, spread = c.spread, log_ratio = c.log_ratio,
  ratio_to_eager = c.ratio_to_eager, cubin_sha256 = c.cubin_sha256, finished_at = now()
FROM candidate c WHERE c.id = $2 AND d.id = $1 RETURNING d.id, d.outcome

-- name: candidate_set_duplicate
UPDATE candidate SET duplicate_of = $2, state = 'evaluating' WHERE id = $1

-- name: candidate_set_evaluating
UPDATE candidate SET state = 'evaluating' WHERE id = $1 AND state = 'queued'

-- The machine's fault: the candidate keeps an earlier evaluation, if it has one.
-- name: candidate_set_given_up
UPDATE candidate SET state = 'done', outcome = 20, reason = $2, message = $3, finished_at = now()
WHERE (id = $1 OR duplicate_of = $1 AND NOT reused) AND state IN ('queued', 'evaluating')
RETURNING id

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
  count(*) FILTER (WHERE duplicate_of IS NOT NULL AND NOT reused) AS duplicates,
  coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY spread) FILTER (WHERE outcome = 14), 0) AS noise
FROM candidate WHERE search_id = $1

-- name: faster_than_parent
SELECT count(*) AS count FROM candidate c JOIN search s ON s.id = c.search_id LEFT JOIN candidate p ON p.id = c.parent_id
WHERE c.search_id = $1 AND c.outcome = 14
  AND c.median_ms < CASE WHEN p.median_ms > 0 THEN p.median_ms ELSE s.eager_ms END

-- name: task_held
SELECT id, epoch FROM task WHERE state = 'running' AND owner_worker = $1 AND owner_boot = $2
