-- A call that was given up is charged whole. Where the same call is made again and answered from the reply that the
-- gateway had kept of it, nothing is paid anew: what was charged for the first is what the reply cost.

ALTER TABLE llm_call ADD COLUMN kept boolean NOT NULL DEFAULT false;  -- answered from a reply that an earlier call paid for

-- Charges what the recorded calls cost; an abandoned one at least what was set aside. Replies that were kept are taken
-- off what abandoned calls of the same key were charged without a record, as far as that goes: they stay charged there.
-- Closing it again changes nothing.
CREATE OR REPLACE FUNCTION close_reservation(p_id bigint, p_abandoned boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  r reservation%ROWTYPE;
  earlier reservation%ROWTYPE;
  actual_usd bigint; actual_tok bigint; kept_usd bigint; kept_tok bigint;
  net_usd bigint; net_tok bigint; charged_usd bigint; charged_tok bigint;
  part_usd bigint; part_tok bigint;
BEGIN
  SELECT * INTO r FROM reservation WHERE id = p_id AND state = 'open' FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT coalesce(sum(ceil(c.usd * 1e9)), 0), coalesce(sum(c.input_tokens + c.output_tokens + c.reasoning_tokens), 0),
      coalesce(sum(ceil(c.usd * 1e9)) FILTER (WHERE c.kept), 0),
      coalesce(sum(c.input_tokens + c.output_tokens + c.reasoning_tokens) FILTER (WHERE c.kept), 0)
    INTO actual_usd, actual_tok, kept_usd, kept_tok FROM llm_call c WHERE c.reservation_id = p_id;
  net_usd := actual_usd;
  net_tok := actual_tok;
  IF kept_usd > 0 OR kept_tok > 0 THEN
    FOR earlier IN SELECT * FROM reservation e
      WHERE e.idempotency_key = r.idempotency_key AND e.search_id = r.search_id AND e.id <> r.id AND e.state = 'abandoned'
        AND (e.lost_nano_usd > 0 OR e.lost_tokens > 0)
      ORDER BY e.id FOR UPDATE
    LOOP
      part_usd := least(kept_usd, earlier.lost_nano_usd);
      part_tok := least(kept_tok, earlier.lost_tokens);
      UPDATE reservation SET lost_nano_usd = lost_nano_usd - part_usd, lost_tokens = lost_tokens - part_tok
        WHERE id = earlier.id;
      kept_usd := kept_usd - part_usd;
      kept_tok := kept_tok - part_tok;
      net_usd := net_usd - part_usd;
      net_tok := net_tok - part_tok;
    END LOOP;
  END IF;
  charged_usd := CASE WHEN p_abandoned THEN greatest(r.nano_usd, net_usd) ELSE net_usd END;
  charged_tok := CASE WHEN p_abandoned THEN greatest(r.tokens, net_tok) ELSE net_tok END;
  PERFORM 1 FROM budget e WHERE (e.scope, e.id) IN (('batch', r.batch_id), ('day', r.day), ('search', r.search_id))
    ORDER BY e.scope, e.id FOR UPDATE;
  UPDATE budget e SET reserved_nano_usd = e.reserved_nano_usd - r.nano_usd,
      reserved_tokens = e.reserved_tokens - r.tokens,
      used_nano_usd = e.used_nano_usd + charged_usd, used_tokens = e.used_tokens + charged_tok
    WHERE (e.scope, e.id) IN (('batch', r.batch_id), ('day', r.day), ('search', r.search_id));
  UPDATE reservation SET state = CASE WHEN p_abandoned THEN 'abandoned' ELSE 'settled' END,
      charged_nano_usd = charged_usd, charged_tokens = charged_tok, lost_nano_usd = charged_usd - net_usd,
      lost_tokens = charged_tok - net_tok, closed_at = now()
    WHERE id = p_id;
END $$;

-- What every result pays for. An evaluation is written in the transaction that locks its search and changes its
-- candidate, and neither is ever deleted: asking for both once more by foreign keys costs a tenth of a result.
ALTER TABLE evaluation DROP CONSTRAINT evaluation_search_id_fkey, DROP CONSTRAINT evaluation_candidate_id_fkey;

-- Work for devices has its own line (task_claim_work): only calls to models are claimed by this one.
DROP INDEX task_claim;
CREATE INDEX task_claim ON task (priority, run_at, id)
  WHERE state = 'available' AND kind IN ('propose', 'implement', 'repair');
