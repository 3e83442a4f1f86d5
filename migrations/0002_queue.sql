-- The hot part, apart from the permanent record: rows here are updated many times, so pages keep room for it and
-- autovacuum comes early.

CREATE TABLE task (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind             text NOT NULL CHECK (kind IN ('intake', 'propose', 'implement', 'repair', 'evaluate')),
  dedupe_key       text NOT NULL UNIQUE,
  search_id        text NOT NULL,
  idea_id          text NOT NULL DEFAULT '',
  parent_id        text NOT NULL DEFAULT '',
  candidate_id     text NOT NULL DEFAULT '',
  round            integer NOT NULL DEFAULT 0,
  wanted           integer NOT NULL DEFAULT 1,
  indexes          integer[] NOT NULL DEFAULT '{}',
  attempt          integer NOT NULL DEFAULT 0,
  stage            text NOT NULL DEFAULT '',
  seed             bigint NOT NULL DEFAULT 0,
  device_class     text NOT NULL DEFAULT '',
  state            text NOT NULL DEFAULT 'available'
                   CHECK (state IN ('available', 'running', 'done', 'quarantined', 'cancelled')),
  priority         integer NOT NULL DEFAULT 0,
  run_at           timestamptz NOT NULL DEFAULT now(),
  epoch            bigint NOT NULL DEFAULT 0,
  attempts         integer NOT NULL DEFAULT 0,
  failures         integer NOT NULL DEFAULT 0,
  max_failures     integer NOT NULL DEFAULT 3,
  worker_deaths    integer NOT NULL DEFAULT 0,
  owner_worker     text NOT NULL DEFAULT '',
  owner_boot       text NOT NULL DEFAULT '',
  deadline_seconds double precision NOT NULL,
  lease_until      timestamptz,
  deadline         timestamptz,
  result           text NOT NULL DEFAULT '',
  last_error       text NOT NULL DEFAULT '',
  created_at       timestamptz NOT NULL DEFAULT now(),
  started_at       timestamptz,
  finished_at      timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 200);
CREATE INDEX task_claim ON task (kind, priority, run_at, id) WHERE state = 'available';
CREATE INDEX task_lease ON task (lease_until) WHERE state = 'running';
CREATE INDEX task_search ON task (search_id, id);

CREATE TABLE worker (
  worker_id    text PRIMARY KEY,
  boot_id      text NOT NULL,
  version      text NOT NULL,
  device       bytea NOT NULL,
  device_class text NOT NULL,
  emulated     boolean NOT NULL,
  slots        integer NOT NULL,
  draining     boolean NOT NULL DEFAULT false,
  connected    boolean NOT NULL DEFAULT true,
  first_seen   timestamptz NOT NULL DEFAULT now(),
  last_seen    timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);
