-- Finished searches whose rows of a kind have outlived their days, the oldest first. Locked, so that a search that is
-- opened again meanwhile waits.
-- name: retention_search_of_tasks
SELECT id FROM search WHERE tasks_purged_at IS NULL AND state IN ('done', 'cancelled', 'failed')
  AND finished_at < now() - make_interval(secs => $1::double precision)
ORDER BY finished_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED

-- name: retention_search_of_raw_replies
SELECT id FROM search WHERE raw_replies_dropped_at IS NULL AND state IN ('done', 'cancelled', 'failed')
  AND finished_at < now() - make_interval(secs => $1::double precision)
ORDER BY finished_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED

-- name: retention_search_of_bodies
SELECT id FROM search WHERE bodies_trimmed_at IS NULL AND state IN ('done', 'cancelled', 'failed')
  AND finished_at < now() - make_interval(secs => $1::double precision)
ORDER BY finished_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED

-- name: retention_search_of_events
SELECT id FROM search WHERE events_dropped_at IS NULL AND state IN ('done', 'cancelled', 'failed')
  AND finished_at < now() - make_interval(secs => $1::double precision)
ORDER BY finished_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED

-- name: retention_tasks_done
UPDATE search SET tasks_purged_at = now() WHERE id = $1

-- name: retention_raw_replies_done
UPDATE search SET raw_replies_dropped_at = now() WHERE id = $1

-- name: retention_bodies_done
UPDATE search SET bodies_trimmed_at = now() WHERE id = $1

-- name: retention_events_done
UPDATE search SET events_dropped_at = now() WHERE id = $1

-- name: retention_tasks
WITH gone AS (
  DELETE FROM task WHERE id IN (
    SELECT id FROM task WHERE search_id = $1 AND state IN ('done', 'cancelled', 'quarantined') ORDER BY id LIMIT $2)
  RETURNING id)
SELECT count(*) AS removed FROM gone

-- name: retention_raw_replies
WITH emptied AS (
  UPDATE llm_call SET raw_reply = '' WHERE (idempotency_key, position) IN (
    SELECT idempotency_key, position FROM llm_call WHERE search_id = $1 AND octet_length(raw_reply) > 0 LIMIT $2)
  RETURNING task_id)
SELECT count(*) AS removed FROM emptied

-- name: retention_events
WITH gone AS (
  DELETE FROM event WHERE id IN (SELECT id FROM event WHERE search_id = $1 ORDER BY id LIMIT $2) RETURNING id)
SELECT count(*) AS removed FROM gone

-- Bodies that nothing needs whole any more: not the best's, not the bank's, not those of kernels whose result a search
-- that still runs has taken over.
-- name: retention_bodies_find
SELECT e.id, e.body FROM evaluation e JOIN search s ON s.id = e.search_id
WHERE e.search_id = $1 AND NOT e.trimmed AND e.candidate_id IS DISTINCT FROM s.best_candidate_id
  AND NOT EXISTS (SELECT 1 FROM kernel k WHERE k.candidate_id = e.candidate_id)
  AND NOT EXISTS (SELECT 1 FROM candidate d JOIN search running ON running.id = d.search_id
                  WHERE d.duplicate_of = e.candidate_id AND running.state IN ('intake', 'running'))
ORDER BY e.id LIMIT $2

-- name: retention_bodies_put
UPDATE evaluation e SET body = t.body::bytea, trimmed = true FROM unnest($1::bigint[], $2::text[]) AS t (id, body)
WHERE e.id = t.id

-- name: retention_blobs
SELECT last_sha256, removed FROM collect_blobs($1, $2, make_interval(secs => $3::double precision))

-- The folder is told only to those who may know it; an empty address is a Unix socket.
-- name: database_health
SELECT pg_database_size(current_database()) AS database_bytes,
  CASE WHEN pg_has_role(current_user, 'pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') ELSE '' END
    AS data_directory,
  inet_server_addr() IS NULL OR inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1' AS local

-- name: database_tables
SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes, coalesce(s.n_live_tup, 0) AS live,
  coalesce(s.n_dead_tup, 0) AS dead
FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'task'::regclass)
ORDER BY bytes DESC, c.relname LIMIT 12

-- name: database_oldest_transaction
SELECT extract(epoch FROM now() - xact_start)::double precision AS seconds,
  coalesce(application_name, '') AS application, coalesce(usename, '') AS username
FROM pg_stat_activity
WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'
ORDER BY xact_start LIMIT 1

-- name: quarantine_list
SELECT t.*, s.name AS search_name, s.state AS search_state, array_to_string(t.killed_workers, E'\n') AS killed_lines,
  (extract(epoch FROM coalesce(t.finished_at, t.created_at)) * 1000000)::bigint AS quarantined_us,
  count(*) OVER () AS total
FROM task t LEFT JOIN search s ON s.id = t.search_id
WHERE t.state = 'quarantined' AND ($1 = '' OR t.search_id = $1)
ORDER BY t.finished_at DESC, t.id DESC LIMIT $2

-- name: quarantine_ids
SELECT id FROM task WHERE state = 'quarantined' ORDER BY id LIMIT 10000

-- name: quarantine_get
SELECT t.*, coalesce(s.state, '') AS search_state, coalesce(s.finish_reason, '') AS finish_reason
FROM task t LEFT JOIN search s ON s.id = t.search_id WHERE t.id = $1

-- name: quarantine_retry
UPDATE task SET state = 'available', failures = 0, worker_deaths = 0, killed_workers = '{}', owner_boot = '',
  run_at = now(), finished_at = NULL, log = task_log(log, $2)
WHERE id = $1 AND state = 'quarantined' RETURNING id

-- What was given up for the machine's fault waits for its verdict again, and so do those with the same code.
-- name: quarantine_candidate_again
UPDATE candidate SET state = 'evaluating', outcome = 0, reason = '', message = '', finished_at = NULL
WHERE (id = $1 OR duplicate_of = $1 AND NOT reused) AND state = 'done' AND outcome = 20

-- A search that failed because its intake was given up.
-- name: quarantine_search_again
UPDATE search SET state = 'intake', error = '', finish_reason = '', finished_at = NULL
WHERE id = $1 AND state = 'failed' AND finish_reason = 'intake' RETURNING id

-- name: worker_want_draining
UPDATE worker SET draining_wanted = $2 WHERE worker_id = $1
RETURNING connected, (SELECT count(*) FROM task t WHERE t.state = 'running' AND t.owner_worker = $1) AS running
