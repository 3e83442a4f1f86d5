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
  IF OLD.state IN ('done', 'cancelled', 'quarantined') THEN
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
  ELSIF NEW.lease_until IS NOT NULL THEN
    RAISE EXCEPTION 'simulation: task % is % and keeps its lease', OLD.id, NEW.state;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER simulation_watch BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION simulation.watch_task();

CREATE FUNCTION simulation.watch_evaluation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
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
  IF OLD.state <> 'open' THEN
    RAISE EXCEPTION 'simulation: reservation % was closed twice', OLD.id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER simulation_watch BEFORE UPDATE ON reservation FOR EACH ROW EXECUTE FUNCTION simulation.watch_reservation();

CREATE FUNCTION simulation.watch_budget() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE twice_usd bigint; twice_tokens bigint;
BEGIN
  IF NEW.used_nano_usd < OLD.used_nano_usd OR NEW.used_tokens < OLD.used_tokens THEN
    RAISE EXCEPTION 'simulation: what the % used became less', OLD.scope;
  END IF;
  -- What a call that was given up was charged with, though nobody knows, counts a second time where a repeated call is
  -- answered from what the gateway kept: charges may come out above a limit by that much, and what is spent may not
  -- (final_check.cc).
  IF NEW.max_nano_usd > 0 AND NEW.used_nano_usd + NEW.reserved_nano_usd > NEW.max_nano_usd
     OR NEW.max_tokens > 0 AND NEW.used_tokens + NEW.reserved_tokens > NEW.max_tokens THEN
    SELECT coalesce(sum(lost_nano_usd), 0), coalesce(sum(lost_tokens), 0) INTO twice_usd, twice_tokens FROM reservation
      WHERE state = 'abandoned' AND CASE NEW.scope WHEN 'search' THEN search_id WHEN 'day' THEN day ELSE batch_id END = NEW.id;
    IF NEW.max_nano_usd > 0 AND NEW.used_nano_usd + NEW.reserved_nano_usd > NEW.max_nano_usd + twice_usd
       OR NEW.max_tokens > 0 AND NEW.used_tokens + NEW.reserved_tokens > NEW.max_tokens + twice_tokens THEN
      RAISE EXCEPTION 'simulation: the budget of the % is exceeded: % and % used, % and % reserved of % nanodollars and % tokens',
        NEW.scope, NEW.used_nano_usd, NEW.used_tokens, NEW.reserved_nano_usd, NEW.reserved_tokens, NEW.max_nano_usd,
        NEW.max_tokens;
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER simulation_watch BEFORE UPDATE ON budget FOR EACH ROW EXECUTE FUNCTION simulation.watch_budget();

CREATE FUNCTION simulation.watch_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state IN ('done', 'cancelled', 'failed') AND NEW.state <> OLD.state THEN
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
