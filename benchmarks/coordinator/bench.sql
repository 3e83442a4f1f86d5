-- What the coordinator's benchmark puts into the tables directly. Numbers make names, so that each call adds new rows.
-- All candidates share one source; their hashes are their own.

-- name: bench_setup
WITH source AS (
  INSERT INTO blob (sha256, size, data) VALUES ($1, length($2), convert_to($2, 'UTF8')) ON CONFLICT DO NOTHING)
INSERT INTO problem (id, name, source_sha256, intake_settings, signature, operator_family)
VALUES ('bench-problem', 'bench', $1, '', $3, 'layer_norm') ON CONFLICT DO NOTHING

-- Searches $1 to $2. They are in the state that the engine leaves alone, so that their tasks alone are measured.
-- name: bench_searches
INSERT INTO search (id, name, problem_id, state, settings, strategy, seed, signature, operator_family, device, device_class,
  emulated, eager_ms, round, reuse_key, harness_rev, finished_at)
SELECT substr(md5('search' || n), 1, 26), 'bench ' || n, 'bench-problem', $3, '', 'branching', n, $4, 'layer_norm', $5,
  'simulated', true, 4, 1, 'bench', 'simulated', CASE WHEN $3 = 'done' THEN now() END
FROM generate_series($1::bigint, $2::bigint) n

-- name: bench_rounds
INSERT INTO round (search_id, round, started_at, best_before_ms)
SELECT substr(md5('search' || n), 1, 26), 1, now(), 4 FROM generate_series($1::bigint, $2::bigint) n

-- Nine ideas a search, as the first three rounds of the standard preset would have.
-- name: bench_ideas
INSERT INTO idea (id, search_id, round, position, category, title, origin, body, requested)
SELECT substr(md5('idea' || n || '/' || i), 1, 26), substr(md5('search' || n), 1, 26), 1, i, 'memory_access',
  'keep tile ' || i || ' in registers', 'simulated', convert_to(repeat('x', 400), 'UTF8'), 15
FROM generate_series($1::bigint, $2::bigint) n, generate_series(1, 9) i

-- Candidates $1 to $2, 135 a search, as five rounds of the standard preset make. $3: their state; $4: the source's hash.
-- name: bench_candidates
INSERT INTO candidate (id, search_id, idea_id, round, idx, model, source_sha256, normalized_sha256, renamed_sha256, state,
  outcome, median_ms, spread, log_ratio, ratio_to_eager, cubin_sha256, finished_at)
SELECT substr(md5('candidate' || n), 1, 26), substr(md5('search' || n / 135), 1, 26),
  substr(md5('idea' || n / 135 || '/' || 1 + n % 9), 1, 26), 1, n % 135 / 9, 'simulated', $4,
  md5('normal' || n) || md5('normal2' || n), md5('renamed' || n) || md5('renamed2' || n), $3,
  CASE WHEN $3 = 'done' THEN 14 ELSE 0 END, CASE WHEN $3 = 'done' THEN 2 ELSE 0 END, 0.004,
  CASE WHEN $3 = 'done' THEN 0.7 ELSE 0 END, CASE WHEN $3 = 'done' THEN 2 ELSE 0 END,
  CASE WHEN $3 = 'done' THEN md5('cubin' || n) || md5('cubin2' || n) END, CASE WHEN $3 = 'done' THEN now() END
FROM generate_series($1::bigint, $2::bigint) n

-- Tasks of those candidates; $3: their state. clock_timestamp, since latencies count from here.
-- name: bench_tasks
INSERT INTO task (kind, dedupe_key, search_id, candidate_id, round, stage, seed, device_class, state, epoch, attempts,
  deadline_seconds, created_at, started_at, finished_at, owner_worker, owner_boot, problem_id, bytes_min)
SELECT 'evaluate', substr(md5('search' || n / 135), 1, 26) || '/measure/' || substr(md5('candidate' || n), 1, 26),
  substr(md5('search' || n / 135), 1, 26), substr(md5('candidate' || n), 1, 26), 1, 'measure', n, 'simulated', $3,
  CASE WHEN $3 = 'done' THEN 1 ELSE 0 END, CASE WHEN $3 = 'done' THEN 1 ELSE 0 END, 900, clock_timestamp(),
  CASE WHEN $3 = 'done' THEN now() END, CASE WHEN $3 = 'done' THEN now() END,
  CASE WHEN $3 = 'done' THEN 'old-worker' ELSE '' END, CASE WHEN $3 = 'done' THEN 'old-boot' ELSE '' END, 'bench-problem',
  1073741824
FROM generate_series($1::bigint, $2::bigint) n
RETURNING id, (extract(epoch FROM created_at) * 1000000)::bigint AS created_us

-- Evaluations of the candidates $1 to $2, which are done; $3: the body of each.
-- name: bench_evaluations
INSERT INTO evaluation (task_id, epoch, search_id, candidate_id, stage, outcome, reason, median_ms, spread, ratio_to_eager,
  device_name, emulated, worker_id, gpu_seconds, seconds, body, harness_rev, judge_rev)
SELECT t.id, 1, t.search_id, t.candidate_id, 'measure', 14, '', 2, 0.004, 2, 'simulated', true, 'old-worker', 2.5, 4, $3,
  'simulated', 'simulated'
FROM generate_series($1::bigint, $2::bigint) n
JOIN task t ON t.dedupe_key = substr(md5('search' || n / 135), 1, 26) || '/measure/' || substr(md5('candidate' || n), 1, 26)

-- name: bench_drop_waiting
DELETE FROM task WHERE state = 'available'

-- name: bench_held
SELECT id, epoch, (extract(epoch FROM lease_until) * 1000000)::bigint AS lease_us FROM task
WHERE state = 'running' AND owner_worker LIKE $1 ORDER BY id

-- How often each of these tasks was recorded, and when.
-- name: bench_recorded
SELECT t.id, t.state, t.epoch, count(e.id) AS records,
  coalesce((extract(epoch FROM max(e.created_at)) * 1000000)::bigint, 0) AS recorded_us
FROM task t LEFT JOIN evaluation e ON e.task_id = t.id WHERE t.id = ANY ($1::bigint[]) GROUP BY t.id ORDER BY t.id

-- Everything that must not be there once all is done.
-- name: bench_wrong
SELECT (SELECT count(*) FROM (SELECT task_id FROM evaluation GROUP BY task_id HAVING count(*) > 1) twice) AS doubled,
  (SELECT count(*) FROM task t WHERE t.kind = 'evaluate' AND t.state = 'done'
     AND NOT EXISTS (SELECT 1 FROM evaluation e WHERE e.task_id = t.id)) AS lost,
  (SELECT count(*) FROM task t JOIN evaluation e ON e.task_id = t.id WHERE t.state <> 'done') AS early,
  (SELECT count(*) FROM task WHERE state = 'running') AS running

-- name: bench_evaluation_count
SELECT count(*) AS count FROM evaluation

-- name: bench_replay
SELECT count(*) FILTER (WHERE s.state = 'done') AS done, count(*) FILTER (WHERE s.state IN ('failed', 'cancelled')) AS failed,
  coalesce(sum(c.candidates), 0)::bigint AS candidates, coalesce(sum(c.evaluated), 0)::bigint AS evaluated
FROM search s CROSS JOIN LATERAL (
  SELECT count(*) AS candidates, count(*) FILTER (WHERE state = 'done') AS evaluated FROM candidate WHERE search_id = s.id) c
WHERE s.submitted_by = $1

-- Of the tasks that a replay's searches put in: when each was put in.
-- name: bench_replay_tasks
SELECT t.id, (extract(epoch FROM t.created_at) * 1000000)::bigint AS created_us FROM task t JOIN search s ON s.id = t.search_id
WHERE s.submitted_by = $1 AND t.kind = 'evaluate' AND t.attempts = 1

-- name: bench_wal
SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS bytes

-- name: bench_tables
SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead, n_tup_ins AS inserted, n_tup_upd AS updated, n_tup_hot_upd AS hot,
  n_tup_del AS deleted, pg_table_size(relid) AS table_bytes, pg_indexes_size(relid) AS index_bytes
FROM pg_stat_user_tables ORDER BY pg_total_relation_size(relid) DESC

-- name: bench_statements
SELECT sum(xact_commit)::bigint AS commits FROM pg_stat_database WHERE datname = current_database()
