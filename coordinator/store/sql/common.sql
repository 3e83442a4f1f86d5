-- The first statement of each write. Plans are made when a table is new, and are kept: with a few rows in it, reading all
-- of it looks best, and a minute later there are thousands. What writes change they find by keys.
-- name: check_term
SELECT check_term($1), set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true)

-- One that is there already is used again: its age starts anew, so that it is not collected before it is referred to.
-- name: blob_put
INSERT INTO blob (sha256, size, data) VALUES ($1, $2, $3)
ON CONFLICT (sha256) DO UPDATE SET used_at = now() WHERE blob.used_at < now() - interval '1 hour'

-- name: blob_get
SELECT data FROM blob WHERE sha256 = $1

-- name: event_insert
INSERT INTO event (search_id, line) VALUES ($1, $2) RETURNING id

-- name: event_after
SELECT id, line FROM event WHERE search_id = $1 AND id > $2 ORDER BY id LIMIT 200

-- name: event_last
SELECT coalesce(max(id), 0) AS id FROM event WHERE search_id = $1

-- name: term_read
SELECT term, holder FROM leader WHERE id = 1

-- name: worker_upsert
INSERT INTO worker (worker_id, boot_id, version, device, device_class, emulated, slots, draining, connected, last_seen)
VALUES ($1, $2, $3, $4, $5, $6, $7, false, true, now())
ON CONFLICT (worker_id) DO UPDATE SET boot_id = excluded.boot_id, version = excluded.version, device = excluded.device,
  device_class = excluded.device_class, emulated = excluded.emulated, slots = excluded.slots, draining = false,
  connected = true, last_seen = now()
RETURNING draining_wanted

-- name: worker_disconnect_all
UPDATE worker SET connected = false WHERE connected

-- name: worker_list
SELECT w.worker_id, w.boot_id, w.device, w.draining OR w.draining_wanted AS draining, w.connected,
  extract(epoch FROM now() - w.last_seen)::double precision AS seen_seconds,
  (SELECT count(*) FROM task t WHERE t.state = 'running' AND t.owner_worker = w.worker_id) AS running
FROM worker w ORDER BY w.connected DESC, w.last_seen DESC LIMIT 200

-- What workers hold, the longest held first; of one search, where $1 names it.
-- name: worker_held
SELECT t.owner_worker, t.id, t.kind, t.stage, t.search_id, coalesce(s.name, '') AS search_name, t.attempts,
  extract(epoch FROM now() - t.started_at)::double precision AS seconds
FROM task t LEFT JOIN search s ON s.id = t.search_id
WHERE t.state = 'running' AND t.kind IN ('intake', 'evaluate') AND ($1 = '' OR t.search_id = $1)
ORDER BY t.started_at, t.id LIMIT 2000
