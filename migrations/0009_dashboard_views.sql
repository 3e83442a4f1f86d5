-- Views that dashboards draw from, with what they need to stay fast when there are millions of results: everything about
-- a search or a batch is found through its id, everything about a span of time through when it was written.

-- Rows come in the order of time, so a few bytes a stretch of pages tell where a span of time lies.
CREATE INDEX candidate_time ON candidate USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX evaluation_time ON evaluation USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX llm_call_time ON llm_call USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);
-- Each model and prompt version is looked up by one step of the index, however many calls there are.
CREATE INDEX llm_call_prompt ON llm_call (provider, model, prompt_version, created_at);
-- The call that wrote a candidate is found at once, not among all of its reservation.
CREATE INDEX llm_call_written ON llm_call (reservation_id, position, created_at) WHERE reservation_id IS NOT NULL;
DROP INDEX llm_call_reservation;

-- As before, and without compiling statements to machine code, which takes longer than what dashboards ask.
CREATE OR REPLACE FUNCTION create_reader(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM make_reader_group();
  PERFORM grant_reader_views();
  EXECUTE format('CREATE ROLE %I LOGIN CONNECTION LIMIT 20 IN ROLE warpsmith_reader', name);
  EXECUTE format('ALTER ROLE %I SET statement_timeout = ''15s''', name);
  EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = ''15s''', name);
  EXECUTE format('ALTER ROLE %I SET default_transaction_read_only = ''on''', name);
  EXECUTE format('ALTER ROLE %I SET jit = off', name);
END $$;

-- When something of warpsmith itself began or changed, so that a step in a curve can be told from a change of ours.
CREATE TABLE deployment (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  component text NOT NULL CHECK (component IN ('coordinator', 'worker', 'harness')),
  subject   text NOT NULL,   -- the coordinator, the worker, the class of device
  revision  text NOT NULL,
  at        timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION note_coordinator() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deployment (component, subject, revision) VALUES ('coordinator', NEW.holder, 'term ' || NEW.term);
  RETURN NULL;
END $$;
CREATE TRIGGER leader_elected AFTER UPDATE OF term ON leader FOR EACH ROW
  WHEN (OLD.term IS DISTINCT FROM NEW.term) EXECUTE FUNCTION note_coordinator();

CREATE FUNCTION note_worker_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deployment (component, subject, revision) VALUES ('worker', NEW.worker_id, NEW.version);
  RETURN NULL;
END $$;
CREATE TRIGGER worker_first_version AFTER INSERT ON worker FOR EACH ROW EXECUTE FUNCTION note_worker_version();
CREATE TRIGGER worker_new_version AFTER UPDATE OF version ON worker FOR EACH ROW
  WHEN (OLD.version IS DISTINCT FROM NEW.version) EXECUTE FUNCTION note_worker_version();

CREATE FUNCTION note_harness() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deployment (component, subject, revision)
    VALUES ('harness', NEW.device_class, NEW.harness_rev || ', judge ' || NEW.judge_rev);
  RETURN NULL;
END $$;
CREATE TRIGGER harness_changed AFTER UPDATE OF harness_rev, judge_rev ON bank_revision FOR EACH ROW
  WHEN (NEW.harness_rev <> '' AND NEW.judge_rev <> ''
        AND (OLD.harness_rev, OLD.judge_rev) IS DISTINCT FROM (NEW.harness_rev, NEW.judge_rev)) EXECUTE FUNCTION note_harness();

-- What a search's times were taken on. Null: nothing was timed yet. Figures of the two kinds are never put together.
CREATE FUNCTION timed_on(device bytea, emulated boolean) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN device IS NULL THEN NULL WHEN emulated THEN 'emulated device' ELSE 'GPU' END
$$;
-- Without it the planner takes it for rare, and goes through the searches one by one.
CREATE STATISTICS search_timed_on ON (timed_on(device, emulated)) FROM search;

CREATE VIEW view_search_status AS
SELECT s.id AS search_id, s.name, s.batch_id, s.system, timed_on(s.device, s.emulated) AS timed_on,
  nullif(s.device_class, '') AS device_class, s.state, s.paused_at IS NOT NULL AS paused, s.strategy,
  nullif(s.finish_reason, '') AS finish_reason, nullif(s.error, '') AS error,
  CASE WHEN s.state IN ('intake', 'running') THEN s.round
       ELSE coalesce((SELECT max(i.round) FROM idea i WHERE i.search_id = s.id), 0) END AS round,
  nullif(s.eager_ms, 0) AS eager_ms, s.best_candidate_id, nullif(s.best_ms, 0) AS best_ms,
  100 * nullif(s.best_ratio, 0) AS percent_of_eager, s.submitted_by, s.submitted_at, s.finished_at
FROM search s;
COMMENT ON VIEW view_search_status IS 'One row a search: where it stands. What is not known is null, never zero.';
COMMENT ON COLUMN view_search_status.search_id IS 'The search.';
COMMENT ON COLUMN view_search_status.name IS 'The problem file''s base name.';
COMMENT ON COLUMN view_search_status.batch_id IS 'Its batch; null: none.';
COMMENT ON COLUMN view_search_status.system IS 'Whether the coordinator made it itself, to verify kernels of the bank.';
COMMENT ON COLUMN view_search_status.timed_on IS 'GPU or emulated device; null: nothing was timed yet.';
COMMENT ON COLUMN view_search_status.device_class IS 'Class of device; null: not known yet.';
COMMENT ON COLUMN view_search_status.state IS 'intake, running, done, cancelled or failed.';
COMMENT ON COLUMN view_search_status.paused IS 'Whether its tasks are not handed out.';
COMMENT ON COLUMN view_search_status.strategy IS 'branching, sequential, best_of_n or evolve.';
COMMENT ON COLUMN view_search_status.finish_reason IS 'Why it ended; null: it has not.';
COMMENT ON COLUMN view_search_status.error IS 'What went wrong with a failed search; null: nothing.';
COMMENT ON COLUMN view_search_status.round IS 'The round under way, or the last one that had ideas; 0: none yet.';
COMMENT ON COLUMN view_search_status.eager_ms IS 'Time of PyTorch eager on the same device in milliseconds.';
COMMENT ON COLUMN view_search_status.best_candidate_id IS 'The fastest correct candidate so far; null: none.';
COMMENT ON COLUMN view_search_status.best_ms IS 'Its median time in milliseconds; null: none.';
COMMENT ON COLUMN view_search_status.percent_of_eager IS 'Time of PyTorch eager over its time, in per cent: above 100 it is faster; null: none.';
COMMENT ON COLUMN view_search_status.submitted_by IS 'Who submitted it.';
COMMENT ON COLUMN view_search_status.submitted_at IS 'When.';
COMMENT ON COLUMN view_search_status.finished_at IS 'When it ended; null: it has not.';

CREATE VIEW view_candidate_result AS
SELECT c.id AS candidate_id, c.seq, c.search_id, s.batch_id, s.name AS problem, s.system,
  timed_on(s.device, s.emulated) AS timed_on, c.round, c.idea_id,
  coalesce(i.title, nullif(c.title, ''), 'injected kernel') AS title, coalesce(i.category, 'injected') AS category,
  nullif(c.model, '') AS model, nullif(c.parent_id, '') AS parent_id, c.idx AS implementation, c.repair_attempt, c.state,
  nullif(c.reject_reason, '') AS reject_reason, nullif(outcome_name(c.outcome), '') AS outcome,
  nullif(c.reason, '') AS reason, c.state <> 'rejected' AS generated, c.outcome NOT IN (0, 1, 2, 3, 20) AS compiled,
  c.outcome = 14 AS correct, c.outcome = 14 AND c.median_ms < coalesce(r.best_before_ms, 0) AS faster,
  CASE WHEN c.outcome = 14 THEN nullif(c.median_ms, 0) END AS median_ms,
  CASE WHEN c.outcome = 14 THEN 100 * nullif(c.ratio_to_eager, 0) END AS percent_of_eager,
  CASE WHEN c.outcome = 14 THEN c.spread END AS spread, c.source_sha256, c.created_at, c.finished_at
FROM candidate c JOIN search s ON s.id = c.search_id
  LEFT JOIN idea i ON i.id = c.idea_id
  LEFT JOIN round r ON r.search_id = c.search_id AND r.round = c.round;
COMMENT ON VIEW view_candidate_result IS 'One row a candidate, or a reply without one: how far it came. Times of correct ones only.';
COMMENT ON COLUMN view_candidate_result.candidate_id IS 'The candidate.';
COMMENT ON COLUMN view_candidate_result.seq IS 'Candidates in the order in which they came.';
COMMENT ON COLUMN view_candidate_result.search_id IS 'The search.';
COMMENT ON COLUMN view_candidate_result.batch_id IS 'Its batch; null: none.';
COMMENT ON COLUMN view_candidate_result.problem IS 'The problem file''s base name.';
COMMENT ON COLUMN view_candidate_result.system IS 'Whether its search verifies kernels of the bank.';
COMMENT ON COLUMN view_candidate_result.timed_on IS 'GPU or emulated device.';
COMMENT ON COLUMN view_candidate_result.round IS 'The round that it belongs to.';
COMMENT ON COLUMN view_candidate_result.idea_id IS 'The idea; null: injected by an operator.';
COMMENT ON COLUMN view_candidate_result.title IS 'The idea''s title, a model''s words: plain text, not to be trusted as markup.';
COMMENT ON COLUMN view_candidate_result.category IS 'The idea''s category; injected: it has none.';
COMMENT ON COLUMN view_candidate_result.model IS 'The model that wrote it; null: an operator.';
COMMENT ON COLUMN view_candidate_result.parent_id IS 'The candidate that it was made from; null: the module itself.';
COMMENT ON COLUMN view_candidate_result.implementation IS 'Which implementation of its idea, from 0.';
COMMENT ON COLUMN view_candidate_result.repair_attempt IS '0: as first written; else which repair.';
COMMENT ON COLUMN view_candidate_result.state IS 'queued, evaluating, done or rejected.';
COMMENT ON COLUMN view_candidate_result.reject_reason IS 'Why a reply held no candidate; exhausted: there was nothing left to write.';
COMMENT ON COLUMN view_candidate_result.outcome IS 'ok, wrong_output, compile_error, ...; null before the verdict.';
COMMENT ON COLUMN view_candidate_result.reason IS 'The outcome''s machine-readable reason.';
COMMENT ON COLUMN view_candidate_result.generated IS 'Whether the reply held a candidate.';
COMMENT ON COLUMN view_candidate_result.compiled IS 'Whether it compiled and was run.';
COMMENT ON COLUMN view_candidate_result.correct IS 'Whether it was right.';
COMMENT ON COLUMN view_candidate_result.faster IS 'Whether it was right and faster than the best before its round.';
COMMENT ON COLUMN view_candidate_result.median_ms IS 'Median time in milliseconds; null: not right.';
COMMENT ON COLUMN view_candidate_result.percent_of_eager IS 'Time of PyTorch eager on the same device over its time, in per cent; null: not right.';
COMMENT ON COLUMN view_candidate_result.spread IS 'Interquartile range over the median.';
COMMENT ON COLUMN view_candidate_result.source_sha256 IS 'SHA-256 of its source.';
COMMENT ON COLUMN view_candidate_result.created_at IS 'When the reply came.';
COMMENT ON COLUMN view_candidate_result.finished_at IS 'When it was judged or rejected; null: not yet.';

-- The best of a round is the best by log(anchor / candidate), as everywhere: comparable between boards.
CREATE VIEW view_search_round AS
SELECT s.id AS search_id, s.batch_id, s.name AS problem, timed_on(s.device, s.emulated) AS timed_on, x.round, x.started_at,
  x.closed_at, x.ideas, x.generated, x.compiled, x.correct, x.faster, x.round_best_id AS best_candidate_id,
  x.round_best_ms, x.round_best_percent, x.quartile_1_percent, x.median_percent, x.quartile_3_percent,
  x.best_so_far_ms, x.best_so_far_percent
FROM search s CROSS JOIN LATERAL (
  WITH counted AS (
    SELECT c.round, count(*) FILTER (WHERE c.state <> 'rejected') AS generated,
      count(*) FILTER (WHERE c.outcome NOT IN (0, 1, 2, 3, 20)) AS compiled,
      count(*) FILTER (WHERE c.outcome = 14) AS correct,
      count(*) FILTER (WHERE c.outcome = 14 AND c.median_ms < o.best_before_ms) AS faster,
      percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY c.ratio_to_eager)
        FILTER (WHERE c.outcome = 14 AND c.ratio_to_eager > 0) AS quartiles
    FROM candidate c LEFT JOIN round o ON o.search_id = c.search_id AND o.round = c.round
    WHERE c.search_id = s.id GROUP BY c.round),
  best AS (
    SELECT DISTINCT ON (c.round) c.round, c.id, c.median_ms, c.ratio_to_eager, c.log_ratio
    FROM candidate c WHERE c.search_id = s.id AND c.outcome = 14
    ORDER BY c.round, c.log_ratio DESC, c.median_ms, c.seq),
  written AS (SELECT i.round, count(*) AS ideas FROM idea i WHERE i.search_id = s.id GROUP BY i.round)
  SELECT r.round, r.started_at, r.closed_at, coalesce(w.ideas, 0) AS ideas, coalesce(n.generated, 0) AS generated,
    coalesce(n.compiled, 0) AS compiled, coalesce(n.correct, 0) AS correct, coalesce(n.faster, 0) AS faster,
    b.id AS round_best_id, nullif(b.median_ms, 0) AS round_best_ms, 100 * nullif(b.ratio_to_eager, 0) AS round_best_percent,
    100 * n.quartiles[1] AS quartile_1_percent, 100 * n.quartiles[2] AS median_percent, 100 * n.quartiles[3] AS quartile_3_percent,
    nullif(f.median_ms, 0) AS best_so_far_ms, 100 * nullif(f.ratio_to_eager, 0) AS best_so_far_percent,
    min(r.round) OVER () AS first_round, max(r.round) OVER () AS last_round
  FROM round r LEFT JOIN counted n ON n.round = r.round LEFT JOIN best b ON b.round = r.round
    LEFT JOIN written w ON w.round = r.round
    LEFT JOIN LATERAL (SELECT e.median_ms, e.ratio_to_eager FROM best e WHERE e.round <= r.round
                       ORDER BY e.log_ratio DESC, e.round LIMIT 1) f ON true
  WHERE r.search_id = s.id) x
-- The round that opens when the last one closes has nothing in it.
WHERE x.round < x.last_round OR x.round = x.first_round OR x.ideas > 0 OR x.generated > 0;
COMMENT ON VIEW view_search_round IS 'One row a round of a search: its funnel, its best, how its correct kernels spread, the best so far.';
COMMENT ON COLUMN view_search_round.search_id IS 'The search.';
COMMENT ON COLUMN view_search_round.batch_id IS 'Its batch; null: none.';
COMMENT ON COLUMN view_search_round.problem IS 'The problem file''s base name.';
COMMENT ON COLUMN view_search_round.timed_on IS 'GPU or emulated device.';
COMMENT ON COLUMN view_search_round.round IS 'From 1.';
COMMENT ON COLUMN view_search_round.started_at IS 'When it was opened.';
COMMENT ON COLUMN view_search_round.closed_at IS 'When it was closed; null: it is open.';
COMMENT ON COLUMN view_search_round.ideas IS 'Ideas in it.';
COMMENT ON COLUMN view_search_round.generated IS 'Candidates in it, repairs included.';
COMMENT ON COLUMN view_search_round.compiled IS 'Of these, those that compiled and were run.';
COMMENT ON COLUMN view_search_round.correct IS 'Of these, those that were right.';
COMMENT ON COLUMN view_search_round.faster IS 'Of these, those faster than the best before the round.';
COMMENT ON COLUMN view_search_round.best_candidate_id IS 'The round''s best; null: none was right.';
COMMENT ON COLUMN view_search_round.round_best_ms IS 'Its median time in milliseconds.';
COMMENT ON COLUMN view_search_round.round_best_percent IS 'PyTorch eager''s time over it, in per cent.';
COMMENT ON COLUMN view_search_round.quartile_1_percent IS 'A quarter of the round''s correct kernels are at or below this, in per cent of eager.';
COMMENT ON COLUMN view_search_round.median_percent IS 'Half of them are.';
COMMENT ON COLUMN view_search_round.quartile_3_percent IS 'Three quarters are.';
COMMENT ON COLUMN view_search_round.best_so_far_ms IS 'Best time of all rounds up to this one, in milliseconds; null: none was right.';
COMMENT ON COLUMN view_search_round.best_so_far_percent IS 'PyTorch eager''s time over it, in per cent.';

-- A kernel is new best when it was found if none found before it is as good, by the figures that hold now: one that was
-- measured again and turned out slower does not stay in the way of later ones.
CREATE VIEW view_new_best AS
SELECT s.id AS search_id, s.batch_id, s.name AS problem, s.superseded_by IS NOT NULL AS superseded, s.system,
  timed_on(s.device, s.emulated) AS timed_on, n.found_at, n.candidate_id, n.round,
  coalesce(i.title, nullif(n.title, ''), 'injected kernel') AS title, coalesce(i.category, 'injected') AS category,
  nullif(n.model, '') AS model, nullif(n.median_ms, 0) AS median_ms, 100 * nullif(n.ratio_to_eager, 0) AS percent_of_eager,
  CASE WHEN n.before IS NOT NULL THEN 100 * (exp(n.log_ratio - n.before) - 1) END AS gain_percent
FROM search s CROSS JOIN LATERAL (
  SELECT g.* FROM (
    SELECT f.*, max(f.log_ratio) OVER (ORDER BY f.found_at, f.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (SELECT c.id AS candidate_id, c.seq, c.round, c.idea_id, c.title, c.model, c.median_ms, c.ratio_to_eager,
            c.log_ratio, coalesce(e.first_at, c.finished_at) AS found_at
          FROM candidate c LEFT JOIN (
            SELECT candidate_id, min(created_at) AS first_at FROM evaluation
            WHERE search_id = s.id AND outcome = 14 GROUP BY candidate_id) e ON e.candidate_id = c.id
          WHERE c.search_id = s.id AND c.outcome = 14) f) g
  WHERE g.before IS NULL OR g.log_ratio > g.before) n
  LEFT JOIN idea i ON i.id = n.idea_id;
COMMENT ON VIEW view_new_best IS 'One row a time that a search found a faster correct kernel than all before; its first correct one included.';
COMMENT ON COLUMN view_new_best.search_id IS 'The search.';
COMMENT ON COLUMN view_new_best.batch_id IS 'Its batch; null: none.';
COMMENT ON COLUMN view_new_best.problem IS 'The problem file''s base name.';
COMMENT ON COLUMN view_new_best.superseded IS 'Whether another search works on the problem now.';
COMMENT ON COLUMN view_new_best.system IS 'Whether the search verifies kernels of the bank.';
COMMENT ON COLUMN view_new_best.timed_on IS 'GPU or emulated device.';
COMMENT ON COLUMN view_new_best.found_at IS 'When it was found right for the first time.';
COMMENT ON COLUMN view_new_best.candidate_id IS 'The candidate.';
COMMENT ON COLUMN view_new_best.round IS 'Its round.';
COMMENT ON COLUMN view_new_best.title IS 'The idea''s title, a model''s words: plain text, not to be trusted as markup.';
COMMENT ON COLUMN view_new_best.category IS 'The idea''s category; injected: it has none.';
COMMENT ON COLUMN view_new_best.model IS 'The model that wrote it; null: an operator.';
COMMENT ON COLUMN view_new_best.median_ms IS 'Median time in milliseconds, by its last measurement.';
COMMENT ON COLUMN view_new_best.percent_of_eager IS 'PyTorch eager''s time over it, in per cent.';
COMMENT ON COLUMN view_new_best.gain_percent IS 'How much faster than the best before, in per cent; null: it is the first one.';

CREATE VIEW view_best_lineage AS
SELECT s.id AS search_id, s.name AS problem, timed_on(s.device, s.emulated) AS timed_on,
  count(*) OVER (PARTITION BY s.id) - l.steps_back AS step, c.id AS candidate_id, nullif(c.parent_id, '') AS parent_id,
  c.round, c.repair_attempt, coalesce(i.title, nullif(c.title, ''), 'injected kernel') AS title,
  coalesce(i.category, 'injected') AS category, nullif(c.model, '') AS model, nullif(outcome_name(c.outcome), '') AS outcome,
  CASE WHEN c.outcome = 14 THEN nullif(c.median_ms, 0) END AS median_ms,
  CASE WHEN c.outcome = 14 THEN 100 * nullif(c.ratio_to_eager, 0) END AS percent_of_eager, c.source_sha256
FROM search s CROSS JOIN LATERAL (
  WITH RECURSIVE chain AS (
    SELECT b.id, b.parent_id, 0 AS steps_back FROM candidate b WHERE b.id = s.best_candidate_id
    UNION ALL
    SELECT p.id, p.parent_id, chain.steps_back + 1 FROM chain JOIN candidate p ON p.id = chain.parent_id
    WHERE chain.steps_back < 1000)
  SELECT id, steps_back FROM chain) l
  JOIN candidate c ON c.id = l.id LEFT JOIN idea i ON i.id = c.idea_id;
COMMENT ON VIEW view_best_lineage IS 'One row a candidate from which a search''s best descends, the best included.';
COMMENT ON COLUMN view_best_lineage.search_id IS 'The search.';
COMMENT ON COLUMN view_best_lineage.problem IS 'The problem file''s base name.';
COMMENT ON COLUMN view_best_lineage.timed_on IS 'GPU or emulated device.';
COMMENT ON COLUMN view_best_lineage.step IS '1: made from the module itself; the last one is the best.';
COMMENT ON COLUMN view_best_lineage.candidate_id IS 'The candidate.';
COMMENT ON COLUMN view_best_lineage.parent_id IS 'The candidate that it was made from; null: the module itself.';
COMMENT ON COLUMN view_best_lineage.round IS 'Its round.';
COMMENT ON COLUMN view_best_lineage.repair_attempt IS '0: as first written; else which repair.';
COMMENT ON COLUMN view_best_lineage.title IS 'The idea''s title, a model''s words: plain text, not to be trusted as markup.';
COMMENT ON COLUMN view_best_lineage.category IS 'The idea''s category; injected: it has none.';
COMMENT ON COLUMN view_best_lineage.model IS 'The model that wrote it; null: an operator.';
COMMENT ON COLUMN view_best_lineage.outcome IS 'Its verdict: what an idea goes on from need not have been right.';
COMMENT ON COLUMN view_best_lineage.median_ms IS 'Median time in milliseconds; null: not right.';
COMMENT ON COLUMN view_best_lineage.percent_of_eager IS 'PyTorch eager''s time over it, in per cent; null: not right.';
COMMENT ON COLUMN view_best_lineage.source_sha256 IS 'SHA-256 of its source; `warpsmith show CANDIDATE` prints it.';

CREATE VIEW view_baseline AS
SELECT b.search_id, b.name, CASE WHEN b.emulated THEN 'emulated device' ELSE 'GPU' END AS timed_on, b.device_class,
  b.device_name, nullif(b.median_ms, 0) AS median_ms, b.spread, 100 * nullif(s.eager_ms, 0) / nullif(b.median_ms, 0) AS percent_of_eager,
  100 * nullif(b.median_ms, 0) / nullif(s.best_ms, 0) AS best_percent_of_it, b.harness_rev, b.pytorch_version, b.created_at
FROM baseline b JOIN search s ON s.id = b.search_id;
COMMENT ON VIEW view_baseline IS 'One row a way of running the module with PyTorch alone, timed at the search''s intake.';
COMMENT ON COLUMN view_baseline.search_id IS 'The search.';
COMMENT ON COLUMN view_baseline.name IS 'eager, eager without TF32, compiled, ...';
COMMENT ON COLUMN view_baseline.timed_on IS 'GPU or emulated device.';
COMMENT ON COLUMN view_baseline.device_class IS 'Class of device.';
COMMENT ON COLUMN view_baseline.device_name IS 'The device that it was timed on.';
COMMENT ON COLUMN view_baseline.median_ms IS 'Median time in milliseconds.';
COMMENT ON COLUMN view_baseline.spread IS 'Interquartile range over the median.';
COMMENT ON COLUMN view_baseline.percent_of_eager IS 'PyTorch eager''s time over its time, in per cent.';
COMMENT ON COLUMN view_baseline.best_percent_of_it IS 'Its time over the best kernel''s, in per cent: above 100 the kernel is faster; null: there is none.';
COMMENT ON COLUMN view_baseline.harness_rev IS 'Revision of how times are taken.';
COMMENT ON COLUMN view_baseline.pytorch_version IS 'PyTorch''s version.';
COMMENT ON COLUMN view_baseline.created_at IS 'When it was timed.';

CREATE VIEW view_search_cost AS
SELECT s.id AS search_id, s.batch_id, s.name AS problem, s.superseded_by IS NOT NULL AS superseded, s.system,
  timed_on(s.device, s.emulated) AS timed_on, l.calls, l.input_tokens, l.output_tokens,
  l.usd + r.lost_nano_usd * 1e-9::double precision AS usd, e.device_seconds, e.evaluations, n.improvements,
  (l.usd + r.lost_nano_usd * 1e-9::double precision) / nullif(n.improvements, 0) AS usd_per_improvement,
  e.device_seconds / nullif(n.improvements, 0) AS device_seconds_per_improvement
FROM search s
  CROSS JOIN LATERAL (SELECT count(*) AS calls, coalesce(sum(c.input_tokens), 0)::bigint AS input_tokens,
    coalesce(sum(c.output_tokens + c.reasoning_tokens), 0)::bigint AS output_tokens, coalesce(sum(c.usd), 0) AS usd
    FROM llm_call c WHERE c.search_id = s.id) l
  CROSS JOIN LATERAL (SELECT coalesce(sum(v.lost_nano_usd), 0)::bigint AS lost_nano_usd
    FROM reservation v WHERE v.search_id = s.id) r
  CROSS JOIN LATERAL (SELECT count(*) AS evaluations, coalesce(sum(v.gpu_seconds), 0) AS device_seconds
    FROM evaluation v WHERE v.search_id = s.id) e
  CROSS JOIN LATERAL (SELECT count(*) AS improvements FROM view_new_best b WHERE b.search_id = s.id) n;
COMMENT ON VIEW view_search_cost IS 'One row a search: what it cost, and a new best kernel of it.';
COMMENT ON COLUMN view_search_cost.search_id IS 'The search.';
COMMENT ON COLUMN view_search_cost.batch_id IS 'Its batch; null: none.';
COMMENT ON COLUMN view_search_cost.problem IS 'The problem file''s base name.';
COMMENT ON COLUMN view_search_cost.superseded IS 'Whether another search works on the problem now; its cost stays the batch''s.';
COMMENT ON COLUMN view_search_cost.system IS 'Whether it verifies kernels of the bank.';
COMMENT ON COLUMN view_search_cost.timed_on IS 'GPU or emulated device: whose seconds these are.';
COMMENT ON COLUMN view_search_cost.calls IS 'Calls to models.';
COMMENT ON COLUMN view_search_cost.input_tokens IS 'Tokens of their prompts.';
COMMENT ON COLUMN view_search_cost.output_tokens IS 'Tokens of their replies, reasoning included.';
COMMENT ON COLUMN view_search_cost.usd IS 'US dollars, with what calls given up are charged with.';
COMMENT ON COLUMN view_search_cost.device_seconds IS 'Seconds on a device that evaluations took.';
COMMENT ON COLUMN view_search_cost.evaluations IS 'Evaluations.';
COMMENT ON COLUMN view_search_cost.improvements IS 'New best kernels, the first correct one included.';
COMMENT ON COLUMN view_search_cost.usd_per_improvement IS 'US dollars over improvements; null: there was none.';
COMMENT ON COLUMN view_search_cost.device_seconds_per_improvement IS 'Seconds on a device over improvements; null: there was none.';

CREATE VIEW view_batch_problem AS
SELECT t.batch_id, t.search_id, t.name AS problem, s.level, s.number, t.timed_on, t.device_class, t.state, t.paused,
  NOT s.admitted AS waiting, t.round, t.eager_ms, t.best_ms, t.percent_of_eager, t.percent_of_eager / 100 AS ratio_to_eager,
  t.finish_reason, t.error, t.submitted_at, t.finished_at
FROM view_search_status t JOIN search s ON s.id = t.search_id
WHERE t.batch_id IS NOT NULL AND s.superseded_by IS NULL;
COMMENT ON VIEW view_batch_problem IS 'One row a problem of a batch: the search that works on it now.';
COMMENT ON COLUMN view_batch_problem.batch_id IS 'The batch.';
COMMENT ON COLUMN view_batch_problem.search_id IS 'The search.';
COMMENT ON COLUMN view_batch_problem.problem IS 'The problem file''s base name.';
COMMENT ON COLUMN view_batch_problem.level IS 'KernelBench''s level; 0: none.';
COMMENT ON COLUMN view_batch_problem.number IS 'KernelBench''s id within the level; 0: none.';
COMMENT ON COLUMN view_batch_problem.timed_on IS 'GPU or emulated device; null: nothing was timed yet.';
COMMENT ON COLUMN view_batch_problem.device_class IS 'Class of device.';
COMMENT ON COLUMN view_batch_problem.state IS 'intake, running, done, cancelled or failed.';
COMMENT ON COLUMN view_batch_problem.paused IS 'Whether its tasks are not handed out.';
COMMENT ON COLUMN view_batch_problem.waiting IS 'Whether it waits for a place.';
COMMENT ON COLUMN view_batch_problem.round IS 'The round under way, or the last one that had ideas; 0: none yet.';
COMMENT ON COLUMN view_batch_problem.eager_ms IS 'Time of PyTorch eager on the same device in milliseconds.';
COMMENT ON COLUMN view_batch_problem.best_ms IS 'Best kernel''s median time in milliseconds; null: none.';
COMMENT ON COLUMN view_batch_problem.percent_of_eager IS 'PyTorch eager''s time over it, in per cent.';
COMMENT ON COLUMN view_batch_problem.ratio_to_eager IS 'The same as a ratio: KernelBench''s speedup.';
COMMENT ON COLUMN view_batch_problem.finish_reason IS 'Why it ended; null: it has not.';
COMMENT ON COLUMN view_batch_problem.error IS 'What went wrong with a failed search.';
COMMENT ON COLUMN view_batch_problem.submitted_at IS 'When it was submitted.';
COMMENT ON COLUMN view_batch_problem.finished_at IS 'When it ended; null: it has not.';

-- fast_p as KernelBench defines it: the share of all problems, those without a kernel and those that failed included.
CREATE VIEW view_batch_result AS
SELECT b.id AS batch_id, b.name, t.timed_on, p.problems, p.ended, p.failed, t.solved, t.solved::double precision / p.problems AS fast_0,
  t.fast_1::double precision / p.problems AS fast_1, t.fast_1_5::double precision / p.problems AS fast_1_5,
  t.fast_2::double precision / p.problems AS fast_2, t.geometric_mean_percent
FROM batch b
  CROSS JOIN LATERAL (SELECT count(*) AS problems, count(*) FILTER (WHERE state IN ('done', 'cancelled', 'failed')) AS ended,
    count(*) FILTER (WHERE state = 'failed') AS failed
    FROM search s WHERE s.batch_id = b.id AND s.superseded_by IS NULL) p
  CROSS JOIN LATERAL (SELECT timed_on(s.device, s.emulated) AS timed_on,
    count(*) FILTER (WHERE s.best_ms > 0 AND s.best_ratio > 0) AS solved,
    count(*) FILTER (WHERE s.best_ms > 0 AND s.best_ratio > 1) AS fast_1,
    count(*) FILTER (WHERE s.best_ms > 0 AND s.best_ratio > 1.5) AS fast_1_5,
    count(*) FILTER (WHERE s.best_ms > 0 AND s.best_ratio > 2) AS fast_2,
    100 * exp(avg(ln(CASE WHEN s.best_ms > 0 AND s.best_ratio > 0 THEN s.best_ratio END))) AS geometric_mean_percent
    FROM search s WHERE s.batch_id = b.id AND s.superseded_by IS NULL AND s.device IS NOT NULL GROUP BY 1) t;
COMMENT ON VIEW view_batch_result IS 'One row a batch and kind of device that some of its problems were timed on. A batch on which nothing was timed has none.';
COMMENT ON COLUMN view_batch_result.batch_id IS 'The batch.';
COMMENT ON COLUMN view_batch_result.name IS 'Its name.';
COMMENT ON COLUMN view_batch_result.timed_on IS 'GPU or emulated device: kernels of the other kind count as none here.';
COMMENT ON COLUMN view_batch_result.problems IS 'All problems of the batch, whatever became of them.';
COMMENT ON COLUMN view_batch_result.ended IS 'Of these, those whose search has ended.';
COMMENT ON COLUMN view_batch_result.failed IS 'Of these, those whose search failed.';
COMMENT ON COLUMN view_batch_result.solved IS 'Problems with a correct kernel timed on this kind of device.';
COMMENT ON COLUMN view_batch_result.fast_0 IS 'Share of all problems with a correct kernel.';
COMMENT ON COLUMN view_batch_result.fast_1 IS 'Share of all problems whose best correct kernel is faster than PyTorch eager on the same device.';
COMMENT ON COLUMN view_batch_result.fast_1_5 IS 'More than 1.5 times as fast.';
COMMENT ON COLUMN view_batch_result.fast_2 IS 'More than twice as fast.';
COMMENT ON COLUMN view_batch_result.geometric_mean_percent IS 'Geometric mean of PyTorch eager''s time over the best kernel''s in per cent, over the problems that have one; null: none has.';

-- The call that wrote a candidate is the last good one of its reservation for its place; where there is none, the last one.
CREATE VIEW view_model_candidate AS
SELECT c.id AS candidate_id, c.search_id, c.created_at, s.system, timed_on(s.device, s.emulated) AS timed_on,
  coalesce(l.provider, o.provider, 'unknown') AS provider,
  coalesce(l.model, o.model, nullif(c.model, ''), 'unknown') AS model,
  coalesce(l.effort, o.effort, '') AS effort, coalesce(l.prompt_variant, o.prompt_variant, '') AS prompt_variant,
  coalesce(l.prompt_version, o.prompt_version, 'unknown') AS prompt_version,
  CASE WHEN c.repair_attempt > 0 THEN 'repair' ELSE 'implement' END AS kind, c.state <> 'rejected' AS generated,
  nullif(c.reject_reason, '') AS reject_reason, c.state IN ('done', 'rejected') AS ended,
  c.outcome NOT IN (0, 1, 2, 3, 20) AS compiled, c.outcome = 14 AS correct,
  c.outcome = 14 AND c.median_ms < coalesce(r.best_before_ms, 0) AS faster,
  CASE WHEN c.outcome = 14 THEN 100 * nullif(c.ratio_to_eager, 0) END AS percent_of_eager
FROM candidate c JOIN search s ON s.id = c.search_id
  LEFT JOIN round r ON r.search_id = c.search_id AND r.round = c.round
  LEFT JOIN LATERAL (
    SELECT m.provider, m.model, m.effort, m.prompt_variant, m.prompt_version FROM llm_call m
    WHERE m.reservation_id = c.reservation_id AND m.position = CASE WHEN c.repair_attempt > 0 THEN 0 ELSE c.idx END
      AND m.kind <> 'propose' AND m.error = ''
    ORDER BY m.created_at DESC LIMIT 1) l ON true
  LEFT JOIN LATERAL (
    SELECT m.provider, m.model, m.effort, m.prompt_variant, m.prompt_version FROM llm_call m
    WHERE l.provider IS NULL AND m.reservation_id = c.reservation_id AND m.kind <> 'propose'
    ORDER BY m.error <> '', m.created_at DESC, m.position LIMIT 1) o ON true
WHERE c.reservation_id IS NOT NULL;
COMMENT ON VIEW view_model_candidate IS 'One row a candidate that a model wrote, or was asked for and did not write.';
COMMENT ON COLUMN view_model_candidate.candidate_id IS 'The candidate.';
COMMENT ON COLUMN view_model_candidate.search_id IS 'The search.';
COMMENT ON COLUMN view_model_candidate.created_at IS 'When the reply came.';
COMMENT ON COLUMN view_model_candidate.system IS 'Whether its search verifies kernels of the bank.';
COMMENT ON COLUMN view_model_candidate.timed_on IS 'GPU or emulated device.';
COMMENT ON COLUMN view_model_candidate.provider IS 'openai, anthropic, ...; unknown: the call was not recorded.';
COMMENT ON COLUMN view_model_candidate.model IS 'The model''s name in the gateway''s configuration.';
COMMENT ON COLUMN view_model_candidate.effort IS 'Reasoning effort asked for; empty: the model''s own.';
COMMENT ON COLUMN view_model_candidate.prompt_variant IS 'Which variant of the prompt.';
COMMENT ON COLUMN view_model_candidate.prompt_version IS 'The prompts'' version.';
COMMENT ON COLUMN view_model_candidate.kind IS 'implement or repair.';
COMMENT ON COLUMN view_model_candidate.generated IS 'Whether the reply held a candidate.';
COMMENT ON COLUMN view_model_candidate.reject_reason IS 'Why it did not; exhausted: there was nothing left to write.';
COMMENT ON COLUMN view_model_candidate.ended IS 'Whether it was judged, or rejected.';
COMMENT ON COLUMN view_model_candidate.compiled IS 'Whether it compiled and was run.';
COMMENT ON COLUMN view_model_candidate.correct IS 'Whether it was right.';
COMMENT ON COLUMN view_model_candidate.faster IS 'Whether it was right and faster than the best before its round.';
COMMENT ON COLUMN view_model_candidate.percent_of_eager IS 'PyTorch eager''s time over its time, in per cent; null: not right.';

-- One step of the index a model and prompt version.
CREATE VIEW view_model_change AS
WITH RECURSIVE used AS (
  (SELECT provider, model, prompt_version, created_at FROM llm_call
   ORDER BY provider, model, prompt_version, created_at LIMIT 1)
  UNION ALL
  SELECT n.provider, n.model, n.prompt_version, n.created_at FROM used u CROSS JOIN LATERAL (
    SELECT l.provider, l.model, l.prompt_version, l.created_at FROM llm_call l
    WHERE (l.provider, l.model, l.prompt_version) > (u.provider, u.model, u.prompt_version)
    ORDER BY l.provider, l.model, l.prompt_version, l.created_at LIMIT 1) n)
SELECT created_at AS first_call_at, provider, model, prompt_version,
  row_number() OVER (PARTITION BY provider, model ORDER BY created_at, prompt_version) = 1 AS new_model
FROM used;
COMMENT ON VIEW view_model_change IS 'One row a model and version of the prompts: when it was called so for the first time.';
COMMENT ON COLUMN view_model_change.first_call_at IS 'When the first such call was recorded.';
COMMENT ON COLUMN view_model_change.provider IS 'openai, anthropic, ...';
COMMENT ON COLUMN view_model_change.model IS 'The model''s name in the gateway''s configuration.';
COMMENT ON COLUMN view_model_change.prompt_version IS 'The prompts'' version.';
COMMENT ON COLUMN view_model_change.new_model IS 'Whether the model had not been called before at all.';

-- A rolling upgrade is one change, at its first worker; going back to an older revision is another.
CREATE VIEW view_deployment AS
SELECT d.at, d.component, d.subject, d.revision FROM (
  SELECT e.*, lag(e.revision) OVER (PARTITION BY e.component, CASE e.component WHEN 'harness' THEN e.subject END ORDER BY e.id) AS before
  FROM deployment e) d
WHERE d.revision IS DISTINCT FROM d.before
UNION ALL
SELECT min(m.applied_at), 'schema', '', string_agg(m.name, ', ' ORDER BY m.version)
FROM schema_migration m GROUP BY date_trunc('minute', m.applied_at);
COMMENT ON VIEW view_deployment IS 'One row a time that a revision changed: a coordinator took over, workers of another version came, times are taken or judged otherwise, the schema grew.';
COMMENT ON COLUMN view_deployment.at IS 'When.';
COMMENT ON COLUMN view_deployment.component IS 'coordinator, worker, harness or schema.';
COMMENT ON COLUMN view_deployment.subject IS 'The coordinator, the first worker, the class of device.';
COMMENT ON COLUMN view_deployment.revision IS 'The coordinator''s term, the worker''s version, the harness''s and judge''s revisions, the migrations.';

CREATE VIEW view_quarantined_task AS
SELECT t.id AS task_id, t.kind, coalesce(t.finished_at, t.created_at) AS quarantined_at, nullif(t.search_id, '') AS search_id,
  s.name AS problem, nullif(t.candidate_id, '') AS candidate_id, t.attempts, t.failures, t.worker_deaths,
  cardinality(t.killed_workers) AS workers_killed, left(t.last_error, 300) AS last_error
FROM task t LEFT JOIN search s ON s.id = t.search_id WHERE t.state = 'quarantined';
COMMENT ON VIEW view_quarantined_task IS 'One row a task that was given up: it killed workers, or failed too often.';
COMMENT ON COLUMN view_quarantined_task.task_id IS 'The task, for `warpsmith queue quarantine retry`.';
COMMENT ON COLUMN view_quarantined_task.kind IS 'intake, propose, implement, repair or evaluate.';
COMMENT ON COLUMN view_quarantined_task.quarantined_at IS 'When it was given up.';
COMMENT ON COLUMN view_quarantined_task.search_id IS 'Its search.';
COMMENT ON COLUMN view_quarantined_task.problem IS 'The problem file''s base name.';
COMMENT ON COLUMN view_quarantined_task.candidate_id IS 'Its candidate; null: none.';
COMMENT ON COLUMN view_quarantined_task.attempts IS 'How often it was handed out.';
COMMENT ON COLUMN view_quarantined_task.failures IS 'Ordinary failures.';
COMMENT ON COLUMN view_quarantined_task.worker_deaths IS 'Times that a worker died while it ran it.';
COMMENT ON COLUMN view_quarantined_task.workers_killed IS 'Different workers that did.';
COMMENT ON COLUMN view_quarantined_task.last_error IS 'What was last said of it, its first 300 letters.';

CREATE VIEW view_evaluation AS
SELECT e.id AS evaluation_id, e.search_id, e.candidate_id, e.stage, outcome_name(e.outcome) AS outcome,
  nullif(e.reason, '') AS reason, CASE WHEN e.outcome = 14 THEN nullif(e.median_ms, 0) END AS median_ms,
  CASE WHEN e.outcome = 14 AND e.median_ms > 0 THEN e.spread END AS spread, nullif(e.device_name, '') AS device_name,
  CASE WHEN e.device_name = '' THEN NULL WHEN e.emulated THEN 'emulated device' ELSE 'GPU' END AS timed_on, e.worker_id,
  e.gpu_seconds AS device_seconds, e.seconds, e.harness_rev, e.judge_rev, e.created_at
FROM evaluation e;
COMMENT ON VIEW view_evaluation IS 'One row an evaluation; samples and profiles are left out.';
COMMENT ON COLUMN view_evaluation.evaluation_id IS 'In the order in which they were recorded.';
COMMENT ON COLUMN view_evaluation.search_id IS 'The search.';
COMMENT ON COLUMN view_evaluation.candidate_id IS 'The candidate.';
COMMENT ON COLUMN view_evaluation.stage IS 'measure or confirm.';
COMMENT ON COLUMN view_evaluation.outcome IS 'ok, wrong_output, compile_error, ...; infra_error is the machine''s fault.';
COMMENT ON COLUMN view_evaluation.reason IS 'The outcome''s machine-readable reason.';
COMMENT ON COLUMN view_evaluation.median_ms IS 'Median time in milliseconds; null: not right.';
COMMENT ON COLUMN view_evaluation.spread IS 'Interquartile range over the median: how noisy the device was; null: not right.';
COMMENT ON COLUMN view_evaluation.device_name IS 'The device that timed it; null: it was not timed.';
COMMENT ON COLUMN view_evaluation.timed_on IS 'GPU or emulated device; null: it was not timed.';
COMMENT ON COLUMN view_evaluation.worker_id IS 'The worker that did it.';
COMMENT ON COLUMN view_evaluation.device_seconds IS 'Seconds on the device.';
COMMENT ON COLUMN view_evaluation.seconds IS 'Seconds in all.';
COMMENT ON COLUMN view_evaluation.harness_rev IS 'Revision of how times are taken.';
COMMENT ON COLUMN view_evaluation.judge_rev IS 'Revision of how outputs are judged.';
COMMENT ON COLUMN view_evaluation.created_at IS 'When it was recorded.';

CREATE VIEW view_budget AS
SELECT b.scope, b.id, nullif(b.max_nano_usd, 0) * 1e-9::double precision AS max_usd,
  b.used_nano_usd * 1e-9::double precision AS used_usd, b.reserved_nano_usd * 1e-9::double precision AS reserved_usd,
  nullif(b.max_tokens, 0) AS max_tokens, b.used_tokens, b.reserved_tokens, b.spent
FROM budget b;
COMMENT ON VIEW view_budget IS 'One row a search, batch or UTC day for which calls to models were made.';
COMMENT ON COLUMN view_budget.scope IS 'search, batch or day.';
COMMENT ON COLUMN view_budget.id IS 'The search''s or batch''s id, or the date.';
COMMENT ON COLUMN view_budget.max_usd IS 'Limit in US dollars; null: none.';
COMMENT ON COLUMN view_budget.used_usd IS 'US dollars charged.';
COMMENT ON COLUMN view_budget.reserved_usd IS 'US dollars set aside for calls in flight.';
COMMENT ON COLUMN view_budget.max_tokens IS 'Limit in tokens; null: none.';
COMMENT ON COLUMN view_budget.used_tokens IS 'Tokens charged.';
COMMENT ON COLUMN view_budget.reserved_tokens IS 'Tokens set aside for calls in flight.';
COMMENT ON COLUMN view_budget.spent IS 'Whether not even the cheapest call fits any more.';

SELECT grant_reader_views();
