-- name: simulation_now
SELECT set_config('warpsmith.now_us', $1, false)
-- name: simulation_reset
SELECT simulation.reset()
-- name: simulation_lock_elections
SELECT pg_advisory_xact_lock(7710452, 2)
-- name: simulation_begin_term
UPDATE leader SET term = term + 1, holder = $1 WHERE id = 1 RETURNING term
-- name: simulation_problems
SELECT problem FROM simulation.problems() AS problem ORDER BY problem
-- name: simulation_open_searches
SELECT (SELECT count(*) FROM search WHERE state IN ('intake', 'running'))
  + (SELECT count(*) FROM batch WHERE state IN ('assembling', 'running')) AS open
-- name: simulation_evaluations
SELECT e.task_id, e.epoch, e.outcome, e.median_ms, c.source_sha256 FROM evaluation e JOIN candidate c ON c.id = e.candidate_id
ORDER BY e.task_id
-- name: simulation_candidates
SELECT c.id, c.state, c.outcome, c.median_ms, c.source_sha256 FROM candidate c WHERE c.outcome NOT IN (0, 20) ORDER BY c.seq
-- name: simulation_done_tasks
SELECT id, epoch, kind FROM task WHERE state = 'done' AND kind IN ('intake', 'evaluate') ORDER BY id
-- name: simulation_budgets
SELECT scope, id, used_nano_usd, used_tokens FROM budget ORDER BY scope, id
-- name: simulation_searches
SELECT id, coalesce(request_id, batch_key) AS request_id, state, finish_reason, strategy, best_ms,
  superseded_by IS NOT NULL AS superseded FROM search ORDER BY request_id, batch_key, submitted_at, id
-- name: simulation_batches
SELECT b.state, g.max_nano_usd, g.max_tokens FROM batch b LEFT JOIN budget g ON g.scope = 'batch' AND g.id = b.id
-- name: simulation_audit
SELECT action FROM audit
-- name: simulation_reservations
SELECT format('reservation %s: task %s@%s, %s, arm %s, %s nanodollars and %s tokens set aside, %s, charged %s and %s', id, task_id,
  epoch, idempotency_key, arm, nano_usd, tokens, state, charged_nano_usd, charged_tokens) AS line FROM reservation ORDER BY id
-- name: simulation_open_tasks
SELECT format('task %s (%s): %s%s, search %s, %s failures, %s', id, kind, state, CASE WHEN held THEN ', held' ELSE '' END, search_id,
  failures, last_error) AS line FROM task WHERE state <> 'done' ORDER BY id
