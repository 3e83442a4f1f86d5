-- What calls to models may cost and did cost, which model made what, and whose code is the same.
-- Money in budgets is whole nanodollars, rounded up, so that sums are exact and nothing is lost by rounding.

CREATE TABLE budget (
  scope              text NOT NULL CHECK (scope IN ('search', 'batch', 'day')),
  id                 text NOT NULL,  -- of the search or batch; the UTC date
  max_nano_usd       bigint NOT NULL DEFAULT 0 CHECK (max_nano_usd >= 0),  -- 0: no limit
  max_tokens         bigint NOT NULL DEFAULT 0 CHECK (max_tokens >= 0),
  used_nano_usd      bigint NOT NULL DEFAULT 0 CHECK (used_nano_usd >= 0),
  used_tokens        bigint NOT NULL DEFAULT 0 CHECK (used_tokens >= 0),
  reserved_nano_usd  bigint NOT NULL DEFAULT 0 CHECK (reserved_nano_usd >= 0),
  reserved_tokens    bigint NOT NULL DEFAULT 0 CHECK (reserved_tokens >= 0),
  spent              boolean NOT NULL DEFAULT false,  -- not even the cheapest call fits any more
  PRIMARY KEY (scope, id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);

-- One row a request to the gateway: what was set aside for it and what it was charged in the end.
CREATE TABLE reservation (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id           bigint NOT NULL,
  epoch             bigint NOT NULL,
  idempotency_key   text NOT NULL,
  search_id         text NOT NULL REFERENCES search,
  batch_id          text NOT NULL DEFAULT '',
  day               text NOT NULL,
  kind              text NOT NULL CHECK (kind IN ('propose', 'implement', 'repair')),
  arm               text NOT NULL DEFAULT '',  -- model|effort|prompt variant; empty: the gateway chose
  pulls             integer NOT NULL,          -- ideas or implementations asked for
  nano_usd          bigint NOT NULL CHECK (nano_usd >= 0),
  tokens            bigint NOT NULL CHECK (tokens >= 0),
  state             text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'settled', 'abandoned')),
  charged_nano_usd  bigint NOT NULL DEFAULT 0,
  charged_tokens    bigint NOT NULL DEFAULT 0,
  lost_nano_usd     bigint NOT NULL DEFAULT 0,  -- part of charged that no llm_call accounts for
  lost_tokens       bigint NOT NULL DEFAULT 0,
  created_at        timestamptz NOT NULL DEFAULT now(),
  closed_at         timestamptz
);
CREATE INDEX reservation_search ON reservation (search_id, id);
CREATE INDEX reservation_open ON reservation (task_id) WHERE state = 'open';
CREATE INDEX reservation_key ON reservation (idempotency_key);

ALTER TABLE llm_call
  ADD COLUMN reservation_id bigint,
  ADD COLUMN cache_write_5m_tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN cache_write_1h_tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN price_id text NOT NULL DEFAULT '',
  ADD COLUMN estimated boolean NOT NULL DEFAULT false,
  ADD COLUMN effort text NOT NULL DEFAULT '',
  ADD COLUMN prompt_variant text NOT NULL DEFAULT '',
  ADD COLUMN error_class text NOT NULL DEFAULT '';
CREATE INDEX llm_call_reservation ON llm_call (reservation_id) WHERE reservation_id IS NOT NULL;

ALTER TABLE idea ADD COLUMN reservation_id bigint;

ALTER TABLE candidate
  ADD COLUMN reservation_id bigint,
  ADD COLUMN renamed_sha256 text,                     -- of the code without layout, comments and names of its own
  ADD COLUMN reused boolean NOT NULL DEFAULT false,   -- duplicate_of is another search's candidate, its result ours
  ADD COLUMN cubin_sha256 text,
  ADD COLUMN twin_of text REFERENCES candidate;       -- another text that compiled to the same cubin before
CREATE INDEX candidate_renamed ON candidate (renamed_sha256) WHERE renamed_sha256 IS NOT NULL;
CREATE INDEX candidate_cubin ON candidate (cubin_sha256) WHERE cubin_sha256 IS NOT NULL;

ALTER TABLE evaluation
  ADD COLUMN harness_rev text NOT NULL DEFAULT '',
  ADD COLUMN judge_rev text NOT NULL DEFAULT '';

-- Searches with the same key judge alike: problem, device class, accepted classes, harness. Empty: not known.
ALTER TABLE search
  ADD COLUMN reuse_key text NOT NULL DEFAULT '',
  ADD COLUMN harness_rev text NOT NULL DEFAULT '';
CREATE INDEX search_reuse ON search (reuse_key) WHERE reuse_key <> '';

-- Sets aside the most that up to `wanted` calls can cost, for as many of them as fit into every budget concerned, or
-- refuses them all. The rows are locked in the order batch, day, search, here and in close_reservation.
-- Where not one whole call fits and no other is in flight, one is let go with what is left, if that is a quarter of it:
-- the gateway then makes do with a smaller cap of output. may_fit_later: what is in flight may be settled for less.
CREATE FUNCTION reserve_budget(
  p_task bigint, p_epoch bigint, p_key text, p_search text, p_batch text, p_day text, p_kind text, p_arm text,
  p_wanted integer, p_pulls integer, p_nano_usd bigint, p_tokens bigint,
  p_search_max_nano_usd bigint, p_search_max_tokens bigint, p_day_max_nano_usd bigint,
  OUT reservation_id bigint, OUT calls integer, OUT nano_usd bigint, OUT tokens bigint, OUT limited_usd boolean,
  OUT limited_tokens boolean, OUT refused_by text, OUT may_fit_later boolean) LANGUAGE plpgsql AS $$
DECLARE
  b budget%ROWTYPE;
  max_usd bigint; max_tok bigint; free_usd bigint; free_tok bigint;
  one_usd bigint := p_nano_usd;
  one_tok bigint := p_tokens;
BEGIN
  reservation_id := 0; calls := p_wanted; nano_usd := 0; tokens := 0;
  limited_usd := false; limited_tokens := false; refused_by := ''; may_fit_later := false;
  INSERT INTO budget (scope, id) VALUES ('day', p_day) ON CONFLICT DO NOTHING;
  INSERT INTO budget (scope, id, used_nano_usd, used_tokens)
    SELECT 'search', p_search, coalesce(sum(ceil(c.usd * 1e9)), 0),
      coalesce(sum(c.input_tokens + c.output_tokens + c.reasoning_tokens), 0)
    FROM llm_call c WHERE c.search_id = p_search
      AND NOT EXISTS (SELECT 1 FROM budget e WHERE e.scope = 'search' AND e.id = p_search)
    ON CONFLICT DO NOTHING;
  FOR b IN SELECT * FROM budget e
    WHERE (e.scope, e.id) IN (('batch', p_batch), ('day', p_day), ('search', p_search))
    ORDER BY e.scope, e.id FOR UPDATE
  LOOP
    max_usd := CASE b.scope WHEN 'day' THEN p_day_max_nano_usd WHEN 'search' THEN p_search_max_nano_usd
                 ELSE b.max_nano_usd END;
    max_tok := CASE b.scope WHEN 'day' THEN 0 WHEN 'search' THEN p_search_max_tokens ELSE b.max_tokens END;
    IF max_usd > 0 THEN
      limited_usd := true;
      free_usd := greatest(0, max_usd - b.used_nano_usd - b.reserved_nano_usd);
      IF p_nano_usd > 0 THEN
        IF free_usd >= p_nano_usd THEN
          calls := least(calls::bigint, free_usd / p_nano_usd);
        ELSIF b.reserved_nano_usd = 0 AND free_usd >= (p_nano_usd + 3) / 4 THEN
          calls := 1;
          one_usd := least(one_usd, free_usd);
        ELSE
          refused_by := b.scope;
          may_fit_later := max_usd - b.used_nano_usd >= (p_nano_usd + 3) / 4;
          RETURN;
        END IF;
      END IF;
    END IF;
    IF max_tok > 0 THEN
      limited_tokens := true;
      free_tok := greatest(0, max_tok - b.used_tokens - b.reserved_tokens);
      IF p_tokens > 0 THEN
        IF free_tok >= p_tokens THEN
          calls := least(calls::bigint, free_tok / p_tokens);
        ELSIF b.reserved_tokens = 0 AND free_tok >= (p_tokens + 3) / 4 THEN
          calls := 1;
          one_tok := least(one_tok, free_tok);
        ELSE
          refused_by := b.scope;
          may_fit_later := max_tok - b.used_tokens >= (p_tokens + 3) / 4;
          RETURN;
        END IF;
      END IF;
    END IF;
  END LOOP;
  nano_usd := one_usd * calls;
  tokens := one_tok * calls;
  UPDATE budget e SET reserved_nano_usd = e.reserved_nano_usd + reserve_budget.nano_usd,
      reserved_tokens = e.reserved_tokens + reserve_budget.tokens,
      max_nano_usd = CASE e.scope WHEN 'day' THEN p_day_max_nano_usd WHEN 'search' THEN p_search_max_nano_usd
                       ELSE e.max_nano_usd END,
      max_tokens = CASE e.scope WHEN 'search' THEN p_search_max_tokens ELSE e.max_tokens END
    WHERE (e.scope, e.id) IN (('batch', p_batch), ('day', p_day), ('search', p_search));
  INSERT INTO reservation (task_id, epoch, idempotency_key, search_id, batch_id, day, kind, arm, pulls, nano_usd,
      tokens)
    VALUES (p_task, p_epoch, p_key, p_search, p_batch, p_day, p_kind, p_arm,
      CASE p_kind WHEN 'implement' THEN calls ELSE p_pulls END, reserve_budget.nano_usd, reserve_budget.tokens)
    RETURNING id INTO reservation_id;
END $$;

-- Charges what the recorded calls cost; an abandoned one at least what was set aside. Closing it again changes nothing.
CREATE FUNCTION close_reservation(p_id bigint, p_abandoned boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  r reservation%ROWTYPE;
  actual_usd bigint; actual_tok bigint; charged_usd bigint; charged_tok bigint;
BEGIN
  SELECT * INTO r FROM reservation WHERE id = p_id AND state = 'open' FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT coalesce(sum(ceil(c.usd * 1e9)), 0), coalesce(sum(c.input_tokens + c.output_tokens + c.reasoning_tokens), 0)
    INTO actual_usd, actual_tok FROM llm_call c WHERE c.reservation_id = p_id;
  charged_usd := CASE WHEN p_abandoned THEN greatest(r.nano_usd, actual_usd) ELSE actual_usd END;
  charged_tok := CASE WHEN p_abandoned THEN greatest(r.tokens, actual_tok) ELSE actual_tok END;
  PERFORM 1 FROM budget e WHERE (e.scope, e.id) IN (('batch', r.batch_id), ('day', r.day), ('search', r.search_id))
    ORDER BY e.scope, e.id FOR UPDATE;
  UPDATE budget e SET reserved_nano_usd = e.reserved_nano_usd - r.nano_usd,
      reserved_tokens = e.reserved_tokens - r.tokens,
      used_nano_usd = e.used_nano_usd + charged_usd, used_tokens = e.used_tokens + charged_tok
    WHERE (e.scope, e.id) IN (('batch', r.batch_id), ('day', r.day), ('search', r.search_id));
  UPDATE reservation SET state = CASE WHEN p_abandoned THEN 'abandoned' ELSE 'settled' END,
      charged_nano_usd = charged_usd, charged_tokens = charged_tok, lost_nano_usd = charged_usd - actual_usd,
      lost_tokens = charged_tok - actual_tok, closed_at = now()
    WHERE id = p_id;
END $$;
