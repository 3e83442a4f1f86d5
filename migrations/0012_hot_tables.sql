-- Counting what is under way must not read what has ended: evaluations that are held, as in a paused batch, were in no
-- index of their own.
CREATE INDEX task_held ON task (kind) WHERE state = 'available' AND held AND kind IN ('intake', 'evaluate');

-- Each candidate is written to all of its table's indexes. Nothing asks by the first of these any more; most candidates
-- are no repair and were not injected, and need no place among those that are.
DROP INDEX candidate_normalized;
ALTER TABLE candidate DROP CONSTRAINT candidate_search_id_request_id_key,
  DROP CONSTRAINT candidate_repair_of_repair_attempt_key;
CREATE UNIQUE INDEX candidate_request ON candidate (search_id, request_id) WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX candidate_repair ON candidate (repair_of, repair_attempt) WHERE repair_of IS NOT NULL;
