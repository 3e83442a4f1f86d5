-- What must hold at every statement, as triggers that refuse the change (the simulation takes any such error for a
-- violation), and what must hold at the end, as rows of simulation.problems().

CREATE SCHEMA simulation;

-- Tables that migrations fill keep their rows.
CREATE TABLE simulation.kept (name text PRIMARY KEY);
DO $$
DECLARE t record; filled boolean;
BEGIN
  FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM public.%I)', t.relname) INTO filled;
    IF filled THEN INSERT INTO simulation.kept VALUES (t.relname); END IF;
  END LOOP;
END $$;

CREATE FUNCTION simulation.reset() RETURNS void LANGUAGE plpgsql AS $$
DECLARE t record;
BEGIN
  PERFORM set_config('session_replication_role', 'replica', true);  -- no triggers, no foreign keys
  FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
             AND relname NOT IN (SELECT name FROM simulation.kept) ORDER BY relname LOOP
    EXECUTE format('DELETE FROM public.%I', t.relname);
  END LOOP;
  UPDATE leader SET term = 0;
  PERFORM setval(oid::regclass, 1, false) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S';
END $$;

CREATE FUNCTION simulation.watch_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.epoch < OLD.epoch THEN
    RAISE EXCEPTION 'simulation: the epoch of task % fell from % to %', OLD.id, OLD.epoch, NEW.epoch;
  END IF;
  -- A call that a search's end called back is asked for again where the search goes on, and so is what was given up.
  IF OLD.state = 'done' OR OLD.state IN ('cancelled', 'quarantined') AND (NEW.state <> 'available' OR NEW.epoch <> OLD.epoch
       OR NOT EXISTS (SELECT 1 FROM search WHERE id = NEW.search_id AND state = 'running' AND batch_id IS NOT NULL)) THEN
    RAISE EXCEPTION 'simulation: task % had ended (%) and became %', OLD.id, OLD.state, NEW.state;
  END IF;
  IF NEW.state = 'running' THEN
    IF NEW.lease_until IS NULL OR NEW.lease_until > now() + interval '10 minutes' THEN
      RAISE EXCEPTION 'simulation: task % has a lease without end', OLD.id;
    END IF;
    -- A result that an earlier boot left gets the time of a lease to arrive.
    IF NEW.deadline IS NULL
       OR NEW.deadline > greatest(NEW.started_at + make_interval(secs => NEW.deadline_seconds), now() + interval '16 s') THEN
      RAISE EXCEPTION 'simulation: task % runs without a deadline', OLD.id;
    END IF;
    IF NEW.owner_worker = '' OR NEW.owner_boot = '' THEN
      RAISE EXCEPTION 'simulation: task % runs without an owner', OLD.id;
    END IF;
    IF NEW.epoch = OLD.epoch AND (NEW.owner_worker <> OLD.owner_worker OR OLD.owner_boot = '') THEN
      RAISE EXCEPTION 'simulation: task % changed hands without a new epoch', OLD.id;
    END IF;
    IF NEW.epoch > OLD.epoch AND OLD.state <> 'available' THEN
      RAISE EXCEPTION 'simulation: task % was claimed though it was %', OLD.id, OLD.state;
    END IF;
    IF NEW.epoch > OLD.epoch AND EXISTS (
         SELECT 1 FROM search WHERE id = NEW.search_id AND (paused_at IS NOT NULL OR NOT admitted)) THEN
      RAISE EXCEPTION 'simulation: task % was claimed though its search is paused or waits for its place', OLD.id;
    END IF;
  ELSIF NEW.lease_until IS NOT NULL THEN
    RAISE EXCEPTION 'simulation: task % is % and keeps its lease', OLD.id, NEW.state;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER simulation_watch BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION simulation.watch_task();

CREATE FUNCTION simulation.watch_evaluation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    -- Retention takes samples away, of searches that have ended, and nothing else.
    IF EXISTS (SELECT 1 FROM search WHERE id = OLD.search_id AND state IN ('done', 'cancelled', 'failed'))
       AND to_jsonb(NEW) - 'body' - 'trimmed' = to_jsonb(OLD) - 'body' - 'trimmed' THEN
      RETURN NEW;
    END IF;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    RAISE EXCEPTION 'simulation: the recorded evaluation of task % met a %', OLD.task_id, TG_OP;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM task WHERE id = NEW.task_id AND state = 'done' AND epoch = NEW.epoch
                   AND candidate_id = NEW.candidate_id) THEN
    RAISE EXCEPTION 'simulation: an evaluation of task % at epoch % was recorded, which is not the completed one',
      NEW.task_id, NEW.epoch;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM task WHERE id = NEW.task_id AND owner_worker = NEW.worker_id) THEN
    RAISE EXCEPTION 'simulation: an evaluation of task % came from %, which is not its last owner', NEW.task_id,
      NEW.worker_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER simulation_watch BEFORE INSERT OR UPDATE OR DELETE ON evaluation
  FOR EACH ROW EXECUTE FUNCTION simulation.watch_evaluation();

CREATE FUNCTION simulation.watch_reservation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- What an abandoned one was charged without a record may turn out to be a kept reply's cost, and nothing else changes.
  IF OLD.state <> 'open' AND (NEW.state, NEW.charged_nano_usd, NEW.charged_tokens, NEW.closed_at)
       IS DISTINCT FROM (OLD.state, OLD.charged_nano_usd, OLD.charged_tokens, OLD.closed_at) THEN
    RAISE EXCEPTION 'simulation: reservation % was closed twice', OLD.id;
  END IF;
  IF OLD.state = 'settled' OR NEW.lost_nano_usd < 0 OR NEW.lost_tokens < 0
     OR OLD.state = 'abandoned' AND (NEW.lost_nano_usd > OLD.lost_nano_usd OR NEW.lost_tokens > OLD.lost_tokens) THEN
    RAISE EXCEPTION 'simulation: what reservation % lost was changed from % to %', OLD.id, OLD.lost_nano_usd,
      NEW.lost_nano_usd;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER simulation_watch BEFORE UPDATE ON reservation FOR EACH ROW EXECUTE FUNCTION simulation.watch_reservation();

CREATE FUNCTION simulation.watch_budget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.used_nano_usd < OLD.used_nano_usd OR NEW.used_tokens < OLD.used_tokens THEN
    RAISE EXCEPTION 'simulation: what the % used became less', OLD.scope;
  END IF;
  -- A call that was given up is charged, and not once more where it is answered from what the gateway kept.
  IF NEW.max_nano_usd > 0 AND NEW.used_nano_usd + NEW.reserved_nano_usd > NEW.max_nano_usd
     OR NEW.max_tokens > 0 AND NEW.used_tokens + NEW.reserved_tokens > NEW.max_tokens THEN
    RAISE EXCEPTION 'simulation: the budget of the % is exceeded: % and % used, % and % reserved of % nanodollars and % tokens',
      NEW.scope, NEW.used_nano_usd, NEW.used_tokens, NEW.reserved_nano_usd, NEW.reserved_tokens, NEW.max_nano_usd,
      NEW.max_tokens;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER simulation_watch BEFORE UPDATE ON budget FOR EACH ROW EXECUTE FUNCTION simulation.watch_budget();

CREATE FUNCTION simulation.watch_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state IN ('done', 'cancelled', 'failed') AND NEW.state <> OLD.state
     AND NOT (OLD.state = 'done' AND NEW.state = 'running' AND NEW.batch_id IS NOT NULL AND OLD.finish_reason <> 'rounds') THEN
    RAISE EXCEPTION 'simulation: search % had ended (%) and became %', OLD.id, OLD.state, NEW.state;
  END IF;
  IF NEW.round < OLD.round OR NEW.decision_seq NOT IN (OLD.decision_seq, OLD.decision_seq + 1) THEN
    RAISE EXCEPTION 'simulation: search % went back to round % or decision %', OLD.id, NEW.round, NEW.decision_seq;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER simulation_watch BEFORE UPDATE ON search FOR EACH ROW EXECUTE FUNCTION simulation.watch_search();

CREATE FUNCTION simulation.problems() RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT format('search %s did not end: %s', id, state) FROM search
    WHERE state NOT IN ('done', 'cancelled', 'failed') OR finished_at IS NULL
  UNION ALL
  SELECT format('task %s (%s) did not end: %s, %s', id, kind, state, last_error) FROM task
    WHERE state IN ('available', 'running')
  UNION ALL
  SELECT format('evaluation task %s is done and has %s records', t.id, count(e.id))
    FROM task t LEFT JOIN evaluation e ON e.task_id = t.id WHERE t.kind = 'evaluate' AND t.state = 'done'
    GROUP BY t.id HAVING count(e.id) <> 1
  UNION ALL
  SELECT format('evaluation %s belongs to task %s, which is %s', e.id, t.id, t.state)
    FROM evaluation e JOIN task t ON t.id = e.task_id WHERE t.state <> 'done'
  UNION ALL
  SELECT format('candidate %s of a search that is done is still %s', c.id, c.state)
    FROM candidate c JOIN search s ON s.id = c.search_id
    WHERE s.state = 'done' AND c.state IN ('queued', 'evaluating')
      -- What a batch has no GPU time for stays as it is.
      AND NOT EXISTS (SELECT 1 FROM batch b WHERE b.id = s.batch_id AND b.max_gpu_seconds > 0)
      AND NOT EXISTS (SELECT 1 FROM task t WHERE t.candidate_id IN (c.id, c.duplicate_of) AND t.state = 'cancelled')
  UNION ALL
  SELECT format('the decisions of search %s have gaps', s.id)
    FROM search s LEFT JOIN decision d ON d.search_id = s.id GROUP BY s.id, s.decision_seq
    HAVING count(d.seq) <> s.decision_seq OR coalesce(max(d.seq), -1) <> s.decision_seq - 1
  UNION ALL
  SELECT format('round %s of search %s, which has ended, is open', r.round, r.search_id)
    FROM round r WHERE r.closed_at IS NULL
  UNION ALL
  SELECT format('reservation %s (%s) is open', id, idempotency_key) FROM reservation WHERE state = 'open'
  UNION ALL
  SELECT format('the budget of %s %s keeps a reservation', scope, id) FROM budget
    WHERE reserved_nano_usd <> 0 OR reserved_tokens <> 0
  UNION ALL
  SELECT format('search %s used %s nanodollars and %s tokens, and its reservations were charged %s and %s', b.id,
      b.used_nano_usd, b.used_tokens, coalesce(sum(r.charged_nano_usd), 0), coalesce(sum(r.charged_tokens), 0))
    FROM budget b LEFT JOIN reservation r ON r.search_id = b.id WHERE b.scope = 'search'
    GROUP BY b.id, b.used_nano_usd, b.used_tokens
    HAVING b.used_nano_usd <> coalesce(sum(r.charged_nano_usd), 0) OR b.used_tokens <> coalesce(sum(r.charged_tokens), 0)
  UNION ALL
  SELECT format('day %s used %s nanodollars, and its reservations were charged %s', b.id, b.used_nano_usd,
      coalesce(sum(r.charged_nano_usd), 0))
    FROM budget b LEFT JOIN reservation r ON r.day = b.id WHERE b.scope = 'day' GROUP BY b.id, b.used_nano_usd
    HAVING b.used_nano_usd <> coalesce(sum(r.charged_nano_usd), 0)
  UNION ALL
  SELECT format('task %s asked for %s ideas and has %s', t.id, t.wanted, count(i.id))
    FROM task t JOIN idea i ON i.propose_task_id = t.id GROUP BY t.id, t.wanted HAVING count(i.id) > t.wanted
  UNION ALL
  SELECT format('search %s is in the table and the audit says nothing of it', s.request_id) FROM search s
    WHERE s.request_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.action = 'submit ' || s.request_id)
  UNION ALL
  SELECT format('the audit says "%s", and there is no such search', a.action) FROM audit a
    WHERE a.action LIKE 'submit search-%' AND NOT EXISTS (SELECT 1 FROM search s WHERE 'submit ' || s.request_id = a.action)
  UNION ALL
  SELECT format('search %s of a batch has round %s, of which none was granted', s.id, r.round)
    FROM search s JOIN round r ON r.search_id = s.id JOIN task t ON t.search_id = s.id AND t.round = r.round AND t.kind = 'propose'
    WHERE s.batch_id IS NOT NULL AND r.round > s.granted_rounds
  UNION ALL
  SELECT format('candidate %s is in the bank %s times', candidate_id, count(*)) FROM kernel
    GROUP BY candidate_id HAVING count(*) > 1
  UNION ALL
  SELECT format('kernel %s is in the bank though its candidate is not correct', k.id)
    FROM kernel k JOIN candidate c ON c.id = k.candidate_id WHERE c.outcome <> 14
  UNION ALL
  SELECT format('the best of search %s is %s ms, and it has one of %s ms', s.id, s.best_ms, c.median_ms)
    FROM search s JOIN candidate c ON c.search_id = s.id AND c.outcome = 14 JOIN candidate b ON b.id = s.best_candidate_id
    WHERE c.log_ratio > b.log_ratio
$$;
