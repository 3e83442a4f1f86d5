-- Batches: many problems that share GPUs and budget; whose turn it is; and where a task can run.

ALTER TABLE batch
  ADD COLUMN request_id text UNIQUE,
  ADD COLUMN owner text NOT NULL DEFAULT '',
  ADD COLUMN submitted_by text NOT NULL DEFAULT '',
  ADD COLUMN state text NOT NULL DEFAULT 'running' CHECK (state IN ('assembling', 'running', 'done', 'cancelled')),
  ADD COLUMN paused boolean NOT NULL DEFAULT false,
  ADD COLUMN priority integer NOT NULL DEFAULT 0 CHECK (priority BETWEEN -100 AND 100),  -- larger goes first
  ADD COLUMN parallel integer NOT NULL DEFAULT 0 CHECK (parallel >= 0),  -- problems searched at once; 0: all
  ADD COLUMN max_gpu_seconds double precision NOT NULL DEFAULT 0 CHECK (max_gpu_seconds >= 0),  -- 0: no limit
  ADD COLUMN finished_at timestamptz;
CREATE INDEX batch_prefix ON batch (id text_pattern_ops);
CREATE INDEX batch_submitted ON batch (submitted_at DESC);

ALTER TABLE search
  ADD COLUMN batch_key text NOT NULL DEFAULT '',      -- of the problem within its batch
  ADD COLUMN level integer NOT NULL DEFAULT 0,        -- KernelBench's; 0: none
  ADD COLUMN number integer NOT NULL DEFAULT 0,       -- KernelBench's id within the level; 0: none
  ADD COLUMN superseded_by text,                      -- the search that works on the problem after this one failed
  ADD COLUMN owner text NOT NULL DEFAULT '',          -- whose quota it counts against
  ADD COLUMN priority integer NOT NULL DEFAULT 0,     -- its batch's
  ADD COLUMN paused_at timestamptz,                   -- since when its tasks are not handed out
  ADD COLUMN admitted boolean NOT NULL DEFAULT true,  -- false: waits for a place in its batch or its owner's quota
  ADD COLUMN granted_rounds integer NOT NULL DEFAULT 0,  -- of a batch's search: the last round that it may begin
  ADD COLUMN reserve_rounds integer NOT NULL DEFAULT 0,  -- of these, those after the first begun without a kernel
  ADD COLUMN stop_reason text NOT NULL DEFAULT '',    -- not empty: it is to end where it stands between two rounds
  ADD COLUMN bytes_min bigint NOT NULL DEFAULT 0;     -- device memory that its evaluations need; 0: not known
CREATE UNIQUE INDEX search_batch_key ON search (batch_id, batch_key) WHERE batch_id IS NOT NULL AND superseded_by IS NULL;
CREATE INDEX search_batch ON search (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX search_owner ON search (owner) WHERE state IN ('intake', 'running');
UPDATE search SET owner = submitted_by;

ALTER TABLE problem ADD COLUMN bytes_min bigint NOT NULL DEFAULT 0;

-- Copies of what the claim looks at, so that it reads this table alone.
ALTER TABLE task
  ADD COLUMN problem_id text NOT NULL DEFAULT '',
  ADD COLUMN bytes_min bigint NOT NULL DEFAULT 0,
  ADD COLUMN held boolean NOT NULL DEFAULT false;     -- its search is paused or waits for a place
UPDATE task t SET problem_id = s.problem_id FROM search s WHERE s.id = t.search_id AND t.state IN ('available', 'running');
-- Workers walk it from its beginning.
CREATE INDEX task_claim_work ON task (priority, run_at, id)
  WHERE state = 'available' AND kind IN ('intake', 'evaluate') AND NOT held;
