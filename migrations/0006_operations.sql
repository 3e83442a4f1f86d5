-- What weeks of running need: why tasks were given up, workers taken out of service, retention, vacuum settings, and
-- views that dashboards may read.

-- Quarantine. killed_workers: different workers that died while they ran the task. log: one line a failure or death.
ALTER TABLE task
  ADD COLUMN killed_workers text[] NOT NULL DEFAULT '{}',
  ADD COLUMN log text NOT NULL DEFAULT '';
CREATE INDEX task_quarantined ON task (finished_at) WHERE state = 'quarantined';

CREATE FUNCTION with_worker(killed text[], worker text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN worker = ANY (killed) THEN killed ELSE killed || worker END
$$;

-- A task that killed several workers is poison. One that killed a single worker over and over may have met a sick
-- machine, and gets twice as many tries, so that a lab with one worker is not stuck with it for ever.
CREATE FUNCTION is_poison(killed text[], deaths integer, most_workers integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT cardinality(killed) >= most_workers OR deaths >= 2 * most_workers
$$;

CREATE FUNCTION task_log(log text, line text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT right(log || to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' '
    || translate(line, E'\n\t', '  ') || E'\n', 16384)
$$;

-- The operator wants the worker to take nothing new; `draining` is what the worker itself says.
ALTER TABLE worker ADD COLUMN draining_wanted boolean NOT NULL DEFAULT false;

-- Retention. The marks say which finished searches have been gone through, so that each is looked at once.
ALTER TABLE search
  ADD COLUMN tasks_purged_at timestamptz,
  ADD COLUMN raw_replies_dropped_at timestamptz,
  ADD COLUMN bodies_trimmed_at timestamptz,
  ADD COLUMN events_dropped_at timestamptz;
CREATE INDEX search_tasks_kept ON search (finished_at) WHERE tasks_purged_at IS NULL;
CREATE INDEX search_raw_replies_kept ON search (finished_at) WHERE raw_replies_dropped_at IS NULL;
CREATE INDEX search_bodies_kept ON search (finished_at) WHERE bodies_trimmed_at IS NULL;
CREATE INDEX search_events_kept ON search (finished_at) WHERE events_dropped_at IS NULL;
-- One that is opened again has everything to be gone through again.
CREATE FUNCTION forget_retention() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.tasks_purged_at := NULL;
  NEW.raw_replies_dropped_at := NULL;
  NEW.bodies_trimmed_at := NULL;
  NEW.events_dropped_at := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER search_opened_again BEFORE UPDATE OF finished_at ON search FOR EACH ROW
  WHEN (OLD.finished_at IS NOT NULL AND NEW.finished_at IS NULL) EXECUTE FUNCTION forget_retention();
ALTER TABLE evaluation ADD COLUMN trimmed boolean NOT NULL DEFAULT false;  -- samples and profile are gone

-- A blob's age counts from when it was last put in.
ALTER TABLE blob ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX candidate_source ON candidate (source_sha256);
CREATE INDEX kernel_source ON kernel (source_sha256);
CREATE INDEX problem_source ON problem (source_sha256);

-- Looks at the next blobs after `after` and deletes those that are older than `age` and that no row refers to through
-- a foreign key, of whatever table. last_sha256 is empty at the end.
CREATE FUNCTION collect_blobs(after text, most integer, age interval, OUT last_sha256 text, OUT removed bigint)
LANGUAGE plpgsql AS $$
DECLARE
  looked_at text[];
  free text[];
  reference record;
BEGIN
  SELECT array_agg(b.sha256 ORDER BY b.sha256) INTO looked_at
    FROM (SELECT sha256 FROM blob WHERE sha256 > after ORDER BY sha256 LIMIT most) b;
  last_sha256 := CASE WHEN cardinality(looked_at) = most THEN looked_at[most] ELSE '' END;
  SELECT coalesce(array_agg(b.sha256), '{}') INTO free FROM (
    SELECT sha256 FROM blob WHERE sha256 = ANY (looked_at) AND used_at < now() - age FOR UPDATE SKIP LOCKED) b;
  FOR reference IN
    SELECT c.conrelid::regclass AS referring, a.attname AS referring_column
    FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
    WHERE c.contype = 'f' AND c.confrelid = 'blob'::regclass
  LOOP
    EXIT WHEN cardinality(free) = 0;
    EXECUTE format('SELECT coalesce(array_agg(s), ''{}'') FROM unnest($1) s '
                   'WHERE NOT EXISTS (SELECT 1 FROM %s r WHERE r.%I = s)',
                   reference.referring, reference.referring_column)
      INTO free USING free;
  END LOOP;
  DELETE FROM blob WHERE sha256 = ANY (free);
  GET DIAGNOSTICS removed = ROW_COUNT;
END $$;

-- Rows that are updated several times: room for it on the page, and vacuum before they pile up.
ALTER TABLE search SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
ALTER TABLE candidate SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE idea SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
ALTER TABLE round SET (fillfactor = 85);
ALTER TABLE reservation SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);
ALTER TABLE budget SET (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 500);
ALTER TABLE worker SET (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 500);
-- Rows that are added and, much later, thinned out by retention: freeze them as they come, not all at once in the end.
ALTER TABLE event SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE llm_call SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE evaluation SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE decision SET (autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE blob SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.02);

-- What dashboards and people may read. No reply of a model, no source, no settings.
CREATE FUNCTION outcome_name(outcome integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE outcome WHEN 0 THEN '' WHEN 1 THEN 'plan_error' WHEN 2 THEN 'compile_error' WHEN 3 THEN 'needs_gpu'
    WHEN 4 THEN 'out_of_memory' WHEN 5 THEN 'timeout' WHEN 6 THEN 'illegal_access' WHEN 7 THEN 'launch_error'
    WHEN 8 THEN 'out_of_bounds' WHEN 9 THEN 'input_modified' WHEN 10 THEN 'unwritten_output' WHEN 11 THEN 'non_finite'
    WHEN 12 THEN 'wrong_output' WHEN 13 THEN 'suspicious' WHEN 14 THEN 'ok' WHEN 20 THEN 'infra_error'
    ELSE 'unknown' END
$$;

CREATE VIEW view_search AS
SELECT s.id, s.name, s.problem_id, s.batch_id, s.submitted_by, s.state, s.finish_reason, s.error, s.strategy,
  s.system, s.operator_family, s.device_class, s.emulated, s.eager_ms, s.round, s.best_candidate_id, s.best_ms,
  s.best_ratio AS best_ratio_to_eager, coalesce(b.used_nano_usd, 0) * 1e-9::double precision AS usd,
  coalesce(b.used_tokens, 0) AS tokens, s.submitted_at, s.finished_at
FROM search s LEFT JOIN budget b ON b.scope = 'search' AND b.id = s.id;
COMMENT ON VIEW view_search IS 'One row a search.';
COMMENT ON COLUMN view_search.id IS 'The search''s id.';
COMMENT ON COLUMN view_search.name IS 'The problem file''s base name.';
COMMENT ON COLUMN view_search.problem_id IS 'SHA-256 of the problem''s source and intake settings.';
COMMENT ON COLUMN view_search.batch_id IS 'The batch it belongs to; null: none.';
COMMENT ON COLUMN view_search.submitted_by IS 'Who submitted it.';
COMMENT ON COLUMN view_search.state IS 'intake, running, done, cancelled or failed.';
COMMENT ON COLUMN view_search.finish_reason IS 'Why it ended: rounds, no_gain, budget, ideas_exhausted, cancelled, intake; empty while it runs.';
COMMENT ON COLUMN view_search.error IS 'What went wrong with a failed search.';
COMMENT ON COLUMN view_search.strategy IS 'branching, sequential, best_of_n or evolve.';
COMMENT ON COLUMN view_search.system IS 'Whether the coordinator made it itself, to verify kernels of the bank.';
COMMENT ON COLUMN view_search.operator_family IS 'softmax, matmul, conv2d, ...; empty before intake.';
COMMENT ON COLUMN view_search.device_class IS 'Kind of device that it runs on.';
COMMENT ON COLUMN view_search.emulated IS 'Whether that is the emulated device, whose times say nothing about a GPU.';
COMMENT ON COLUMN view_search.eager_ms IS 'PyTorch''s own time in milliseconds; 0: not known.';
COMMENT ON COLUMN view_search.round IS 'The round under way, from 1; 0 before the first.';
COMMENT ON COLUMN view_search.best_candidate_id IS 'The fastest correct candidate so far; null: none.';
COMMENT ON COLUMN view_search.best_ms IS 'Its median time in milliseconds; 0: none.';
COMMENT ON COLUMN view_search.best_ratio_to_eager IS 'PyTorch''s time over its time; 0: none.';
COMMENT ON COLUMN view_search.usd IS 'US dollars charged for calls to models so far.';
COMMENT ON COLUMN view_search.tokens IS 'Tokens of these calls, in and out.';
COMMENT ON COLUMN view_search.submitted_at IS 'When it was submitted.';
COMMENT ON COLUMN view_search.finished_at IS 'When it ended; null: it has not.';

CREATE VIEW view_round AS
SELECT r.search_id, r.round, r.started_at, r.closed_at, r.best_before_ms, c.candidates, c.compiled, c.correct, c.best_ms,
  c.best_ratio_to_eager
FROM round r CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE state <> 'rejected') AS candidates,
    count(*) FILTER (WHERE outcome NOT IN (0, 1, 2, 3, 20)) AS compiled, count(*) FILTER (WHERE outcome = 14) AS correct,
    min(median_ms) FILTER (WHERE outcome = 14) AS best_ms, max(ratio_to_eager) FILTER (WHERE outcome = 14) AS best_ratio_to_eager
  FROM candidate WHERE search_id = r.search_id AND candidate.round = r.round) c;
COMMENT ON VIEW view_round IS 'One row a round of a search.';
COMMENT ON COLUMN view_round.search_id IS 'The search.';
COMMENT ON COLUMN view_round.round IS 'From 1.';
COMMENT ON COLUMN view_round.started_at IS 'When it was opened.';
COMMENT ON COLUMN view_round.closed_at IS 'When it was closed; null: it is open.';
COMMENT ON COLUMN view_round.best_before_ms IS 'Best time before the round in milliseconds: a kernel''s, else PyTorch''s.';
COMMENT ON COLUMN view_round.candidates IS 'Candidates made in it.';
COMMENT ON COLUMN view_round.compiled IS 'Of these, those that compiled and were run.';
COMMENT ON COLUMN view_round.correct IS 'Of these, those that were right.';
COMMENT ON COLUMN view_round.best_ms IS 'The round''s best time in milliseconds; null: none was right.';
COMMENT ON COLUMN view_round.best_ratio_to_eager IS 'The round''s best ratio to PyTorch; null: none was right.';

CREATE VIEW view_candidate AS
SELECT c.id, c.search_id, c.idea_id, nullif(c.parent_id, '') AS parent_id, c.round, c.idx AS implementation,
  c.repair_attempt, c.repair_of, c.duplicate_of, c.reused, c.twin_of, c.model, c.state, c.reject_reason,
  outcome_name(c.outcome) AS outcome, c.reason, c.median_ms, c.spread, c.log_ratio, c.ratio_to_eager, c.created_at,
  c.finished_at
FROM candidate c;
COMMENT ON VIEW view_candidate IS 'One row a candidate kernel.';
COMMENT ON COLUMN view_candidate.id IS 'The candidate''s id.';
COMMENT ON COLUMN view_candidate.search_id IS 'The search.';
COMMENT ON COLUMN view_candidate.idea_id IS 'The idea that it implements; null: injected by an operator.';
COMMENT ON COLUMN view_candidate.parent_id IS 'The candidate that it was made from; null: the module itself.';
COMMENT ON COLUMN view_candidate.round IS 'The round that it belongs to.';
COMMENT ON COLUMN view_candidate.implementation IS 'Which implementation of its idea, from 0.';
COMMENT ON COLUMN view_candidate.repair_attempt IS '0: as first written; else which repair.';
COMMENT ON COLUMN view_candidate.repair_of IS 'The candidate that it repairs; null: none.';
COMMENT ON COLUMN view_candidate.duplicate_of IS 'An earlier candidate with the same code, whose result is this one''s; null: none.';
COMMENT ON COLUMN view_candidate.reused IS 'Whether that one belongs to another search.';
COMMENT ON COLUMN view_candidate.twin_of IS 'An earlier candidate that compiled to the same code; null: none.';
COMMENT ON COLUMN view_candidate.model IS 'The model that wrote it.';
COMMENT ON COLUMN view_candidate.state IS 'queued, evaluating, done or rejected.';
COMMENT ON COLUMN view_candidate.reject_reason IS 'Why a reply held no candidate.';
COMMENT ON COLUMN view_candidate.outcome IS 'ok, wrong_output, compile_error, ...; empty before the verdict; infra_error is the machine''s fault.';
COMMENT ON COLUMN view_candidate.reason IS 'The outcome''s machine-readable reason.';
COMMENT ON COLUMN view_candidate.median_ms IS 'Median time in milliseconds; 0: none.';
COMMENT ON COLUMN view_candidate.spread IS 'Interquartile range over the median.';
COMMENT ON COLUMN view_candidate.log_ratio IS 'log of the anchor''s time over its time, comparable between boards.';
COMMENT ON COLUMN view_candidate.ratio_to_eager IS 'PyTorch''s time over its time; 0: none.';
COMMENT ON COLUMN view_candidate.created_at IS 'When the reply came.';
COMMENT ON COLUMN view_candidate.finished_at IS 'When it was judged or rejected; null: not yet.';

CREATE VIEW view_idea AS
SELECT i.id, i.search_id, nullif(i.parent_id, '') AS parent_id, i.round, i.category, i.title, i.origin AS model, i.requested,
  i.operator_injected, i.created_at
FROM idea i;
COMMENT ON VIEW view_idea IS 'One row an optimization idea.';
COMMENT ON COLUMN view_idea.id IS 'The idea''s id.';
COMMENT ON COLUMN view_idea.search_id IS 'The search.';
COMMENT ON COLUMN view_idea.parent_id IS 'The candidate that it was proposed for; null: the module itself.';
COMMENT ON COLUMN view_idea.round IS 'The round.';
COMMENT ON COLUMN view_idea.category IS 'memory_access, async_latency, precision, compute, parallelism_occupancy or control_flow.';
COMMENT ON COLUMN view_idea.title IS 'A model''s words: plain text, not to be trusted as markup.';
COMMENT ON COLUMN view_idea.model IS 'Where it comes from: a model''s name, the catalog, an operator.';
COMMENT ON COLUMN view_idea.requested IS 'Implementations asked for.';
COMMENT ON COLUMN view_idea.operator_injected IS 'Whether an operator put it in.';
COMMENT ON COLUMN view_idea.created_at IS 'When it came in.';

CREATE VIEW view_model_call AS
SELECT l.search_id, l.task_id, l.kind, l.round, l.provider, l.model, l.effort, l.prompt_variant, l.prompt_version,
  l.input_tokens, l.cached_input_tokens, l.output_tokens, l.reasoning_tokens, l.usd, l.estimated, l.price_id,
  l.first_byte_seconds, l.seconds, l.tries, l.finish_reason, l.error_class, l.created_at
FROM llm_call l;
COMMENT ON VIEW view_model_call IS 'One row a call to a model; replies are left out.';
COMMENT ON COLUMN view_model_call.search_id IS 'The search.';
COMMENT ON COLUMN view_model_call.task_id IS 'The task that made it.';
COMMENT ON COLUMN view_model_call.kind IS 'propose, implement or repair.';
COMMENT ON COLUMN view_model_call.round IS 'The round.';
COMMENT ON COLUMN view_model_call.provider IS 'openai, anthropic, gemini, openai_compatible, command, catalog or recorded.';
COMMENT ON COLUMN view_model_call.model IS 'The model''s name in the gateway''s configuration.';
COMMENT ON COLUMN view_model_call.effort IS 'Reasoning effort asked for; empty: the model''s own.';
COMMENT ON COLUMN view_model_call.prompt_variant IS 'Which variant of the prompt.';
COMMENT ON COLUMN view_model_call.prompt_version IS 'The prompts'' version.';
COMMENT ON COLUMN view_model_call.input_tokens IS 'Tokens of the prompt.';
COMMENT ON COLUMN view_model_call.cached_input_tokens IS 'Of these, those read from the provider''s cache.';
COMMENT ON COLUMN view_model_call.output_tokens IS 'Tokens of the reply, without reasoning.';
COMMENT ON COLUMN view_model_call.reasoning_tokens IS 'Tokens of reasoning.';
COMMENT ON COLUMN view_model_call.usd IS 'Price in US dollars.';
COMMENT ON COLUMN view_model_call.estimated IS 'Whether tokens were counted by us, the provider having told none.';
COMMENT ON COLUMN view_model_call.price_id IS 'Which entry of the price list.';
COMMENT ON COLUMN view_model_call.first_byte_seconds IS 'Seconds to the first byte.';
COMMENT ON COLUMN view_model_call.seconds IS 'Seconds in all.';
COMMENT ON COLUMN view_model_call.tries IS 'Attempts, retries included.';
COMMENT ON COLUMN view_model_call.finish_reason IS 'stop, length, ... as the provider says.';
COMMENT ON COLUMN view_model_call.error_class IS 'Class of the error; empty: it succeeded.';
COMMENT ON COLUMN view_model_call.created_at IS 'When it was recorded.';

CREATE VIEW view_queue AS
SELECT t.kind, t.state, t.device_class, count(*) AS tasks, min(t.created_at) AS oldest_created_at,
  sum(t.failures) AS failures, sum(t.worker_deaths) AS worker_deaths
FROM task t WHERE t.state IN ('available', 'running', 'quarantined') GROUP BY t.kind, t.state, t.device_class;
COMMENT ON VIEW view_queue IS 'Tasks that have not ended well yet, counted.';
COMMENT ON COLUMN view_queue.kind IS 'intake, propose, implement, repair or evaluate.';
COMMENT ON COLUMN view_queue.state IS 'available, running or quarantined.';
COMMENT ON COLUMN view_queue.device_class IS 'Kind of device that they need; empty: any.';
COMMENT ON COLUMN view_queue.tasks IS 'How many.';
COMMENT ON COLUMN view_queue.oldest_created_at IS 'When the oldest was put in.';
COMMENT ON COLUMN view_queue.failures IS 'Ordinary failures of them so far.';
COMMENT ON COLUMN view_queue.worker_deaths IS 'Workers that died while they ran them.';

CREATE VIEW view_kernel AS
SELECT k.id, k.candidate_id, k.search_id, k.problem_id, k.problem_name, k.operator_family, k.device_class, k.emulated,
  k.median_ms, k.ratio_to_eager, k.log_ratio,
  CASE k.precision_class WHEN 1 THEN 'fp32' WHEN 2 THEN 'tf32' WHEN 3 THEN 'bf16' ELSE 'unknown' END AS precision_class,
  k.state, k.idea_title, k.source_sha256, k.champion, k.admitted_at
FROM kernel k;
COMMENT ON VIEW view_kernel IS 'One row a kernel of the bank.';
COMMENT ON COLUMN view_kernel.id IS 'The kernel''s id.';
COMMENT ON COLUMN view_kernel.candidate_id IS 'The candidate that it was.';
COMMENT ON COLUMN view_kernel.search_id IS 'The search that found it.';
COMMENT ON COLUMN view_kernel.problem_id IS 'The problem that it solves.';
COMMENT ON COLUMN view_kernel.problem_name IS 'The problem file''s base name.';
COMMENT ON COLUMN view_kernel.operator_family IS 'softmax, matmul, conv2d, ...';
COMMENT ON COLUMN view_kernel.device_class IS 'Kind of device that it was measured on.';
COMMENT ON COLUMN view_kernel.emulated IS 'Whether that is the emulated device.';
COMMENT ON COLUMN view_kernel.median_ms IS 'Median time in milliseconds.';
COMMENT ON COLUMN view_kernel.ratio_to_eager IS 'PyTorch''s time over its time.';
COMMENT ON COLUMN view_kernel.log_ratio IS 'log of the anchor''s time over its time.';
COMMENT ON COLUMN view_kernel.precision_class IS 'fp32, tf32 (fp16 too) or bf16.';
COMMENT ON COLUMN view_kernel.state IS 'trusted, stale, failed or unconfirmed.';
COMMENT ON COLUMN view_kernel.idea_title IS 'A model''s words: plain text, not to be trusted as markup.';
COMMENT ON COLUMN view_kernel.source_sha256 IS 'SHA-256 of its source.';
COMMENT ON COLUMN view_kernel.champion IS 'Whether it may seed other searches.';
COMMENT ON COLUMN view_kernel.admitted_at IS 'When it was admitted.';

CREATE VIEW view_worker AS
SELECT w.worker_id, w.version, w.device_class, w.emulated, w.slots, w.draining OR w.draining_wanted AS draining, w.connected,
  (SELECT count(*) FROM task t WHERE t.state = 'running' AND t.owner_worker = w.worker_id) AS running, w.first_seen,
  w.last_seen
FROM worker w;
COMMENT ON VIEW view_worker IS 'One row a worker that ever connected.';
COMMENT ON COLUMN view_worker.worker_id IS 'Its name, the same over restarts.';
COMMENT ON COLUMN view_worker.version IS 'Its warpsmith''s version.';
COMMENT ON COLUMN view_worker.device_class IS 'Kind of its device.';
COMMENT ON COLUMN view_worker.emulated IS 'Whether that is the emulated device.';
COMMENT ON COLUMN view_worker.slots IS 'Tasks that it takes at once.';
COMMENT ON COLUMN view_worker.draining IS 'Whether it takes no new tasks.';
COMMENT ON COLUMN view_worker.connected IS 'Whether it is connected.';
COMMENT ON COLUMN view_worker.running IS 'Tasks that it holds.';
COMMENT ON COLUMN view_worker.first_seen IS 'When it connected for the first time.';
COMMENT ON COLUMN view_worker.last_seen IS 'When it was last heard of.';

CREATE VIEW view_batch AS
SELECT b.id, b.name, b.submitted_at, s.searches, s.active, s.done, s.cancelled, s.failed, s.solved,
  s.mean_ratio_to_eager, s.usd
FROM batch b CROSS JOIN LATERAL (
  SELECT count(*) AS searches, count(*) FILTER (WHERE state IN ('intake', 'running')) AS active,
    count(*) FILTER (WHERE state = 'done') AS done, count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
    count(*) FILTER (WHERE state = 'failed') AS failed, count(*) FILTER (WHERE best_ratio > 0) AS solved,
    exp(avg(ln(best_ratio)) FILTER (WHERE best_ratio > 0)) AS mean_ratio_to_eager,
    coalesce(sum(g.used_nano_usd), 0)::double precision * 1e-9 AS usd
  FROM search LEFT JOIN budget g ON g.scope = 'search' AND g.id = search.id WHERE search.batch_id = b.id) s;
COMMENT ON VIEW view_batch IS 'One row a batch of searches.';
COMMENT ON COLUMN view_batch.id IS 'The batch''s id.';
COMMENT ON COLUMN view_batch.name IS 'Its name.';
COMMENT ON COLUMN view_batch.submitted_at IS 'When it was submitted.';
COMMENT ON COLUMN view_batch.searches IS 'Searches in it.';
COMMENT ON COLUMN view_batch.active IS 'Of these, those that have not ended.';
COMMENT ON COLUMN view_batch.done IS 'Those that ended by themselves.';
COMMENT ON COLUMN view_batch.cancelled IS 'Those that were cancelled.';
COMMENT ON COLUMN view_batch.failed IS 'Those that failed.';
COMMENT ON COLUMN view_batch.solved IS 'Those with a correct kernel.';
COMMENT ON COLUMN view_batch.mean_ratio_to_eager IS 'Geometric mean of the best ratios to PyTorch of those solved; null: none.';
COMMENT ON COLUMN view_batch.usd IS 'US dollars charged for calls to models so far.';

-- Gives the group role warpsmith_reader the views, those of later migrations too. Run it again once the role was made.
CREATE FUNCTION grant_reader_views() RETURNS void LANGUAGE plpgsql AS $$
DECLARE shown record;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'warpsmith_reader') THEN
    RETURN;
  END IF;
  IF NOT has_schema_privilege('warpsmith_reader', current_schema(), 'USAGE') THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO warpsmith_reader', current_schema());
  END IF;
  FOR shown IN SELECT viewname FROM pg_views WHERE schemaname = current_schema() AND viewname LIKE 'view\_%' LOOP
    EXECUTE format('GRANT SELECT ON %I TO warpsmith_reader', shown.viewname);
  END LOOP;
END $$;

-- Makes the group role where the caller may and it is not there; roles belong to the whole server, not to a database.
CREATE FUNCTION make_reader_group() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'warpsmith_reader') THEN
    CREATE ROLE warpsmith_reader NOLOGIN;
    ALTER ROLE warpsmith_reader SET statement_timeout = '15s';
    ALTER ROLE warpsmith_reader SET idle_in_transaction_session_timeout = '15s';
    ALTER ROLE warpsmith_reader SET default_transaction_read_only = 'on';
  END IF;
EXCEPTION
  WHEN duplicate_object OR unique_violation THEN NULL;  -- another database's migration was faster
  WHEN insufficient_privilege THEN
    RAISE NOTICE 'the role warpsmith_reader is not made: this user may not create roles';
END $$;

-- A role that logs in. PostgreSQL does not pass a group's timeouts on to its members, so they are set on it too.
-- Set its password afterwards, with \password.
CREATE FUNCTION create_reader(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM make_reader_group();
  PERFORM grant_reader_views();
  EXECUTE format('CREATE ROLE %I LOGIN CONNECTION LIMIT 20 IN ROLE warpsmith_reader', name);
  EXECUTE format('ALTER ROLE %I SET statement_timeout = ''15s''', name);
  EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = ''15s''', name);
  EXECUTE format('ALTER ROLE %I SET default_transaction_read_only = ''on''', name);
END $$;

SELECT make_reader_group();
SELECT grant_reader_views();
