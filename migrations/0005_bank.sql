-- The kernel bank as confirmations fill it: who may be in it, where each kernel comes from, what waits at its door.

-- Searches that the coordinator makes itself, to verify kernels of the bank. Ordinary lists leave them out.
ALTER TABLE search ADD COLUMN system boolean NOT NULL DEFAULT false;

-- trusted: confirmed by the newest harness and judge known for its device class. stale: by an older one. failed: a later
-- verification did not pass. unconfirmed: admitted on a measurement, before confirmations were asked for.
ALTER TABLE kernel
  ADD COLUMN state text NOT NULL DEFAULT 'unconfirmed'
    CHECK (state IN ('trusted', 'stale', 'failed', 'unconfirmed')),
  ADD COLUMN state_reason text NOT NULL DEFAULT '',
  ADD COLUMN code_sha256 text,                -- of the code without layout, comments and names of its own
  ADD COLUMN module_sha256 text,              -- of the compiled module and how the plan launches it
  ADD COLUMN harness_rev text NOT NULL DEFAULT '',
  ADD COLUMN judge_rev text NOT NULL DEFAULT '',
  ADD COLUMN device_name text NOT NULL DEFAULT '',
  ADD COLUMN ratio double precision NOT NULL DEFAULT 0,       -- reference over kernel, of its last confirmation
  ADD COLUMN ratio_low double precision NOT NULL DEFAULT 0,
  ADD COLUMN ratio_high double precision NOT NULL DEFAULT 0,
  ADD COLUMN accepted integer[] NOT NULL DEFAULT '{1}',       -- precision classes that it was judged for
  ADD COLUMN frozen_weights boolean NOT NULL DEFAULT false,
  ADD COLUMN confirmed_at timestamptz;
ALTER TABLE kernel ALTER COLUMN state DROP DEFAULT;

UPDATE kernel SET accepted = CASE precision_class WHEN 2 THEN '{1,2}'::integer[] WHEN 3 THEN '{1,2,3}'::integer[]
  ELSE '{1}'::integer[] END;
UPDATE kernel k SET harness_rev = e.harness_rev, judge_rev = e.judge_rev, device_name = e.device_name,
  confirmed_at = e.created_at, state = 'stale', state_reason = 'confirmed before the bank kept intervals'
FROM candidate c JOIN evaluation e ON e.id = c.evaluation_id
WHERE c.id = k.candidate_id AND e.stage = 'confirm' AND e.outcome = 14;
UPDATE kernel SET state_reason = 'admitted on a measurement alone' WHERE state = 'unconfirmed';
-- One row a problem, device class and code keeps its code's name: the best one.
UPDATE kernel k SET code_sha256 = best.renamed_sha256 FROM (
  SELECT DISTINCT ON (b.problem_id, b.device_class, c.renamed_sha256) b.id, c.renamed_sha256
  FROM kernel b JOIN candidate c ON c.id = b.candidate_id WHERE c.renamed_sha256 IS NOT NULL
  ORDER BY b.problem_id, b.device_class, c.renamed_sha256, b.state = 'unconfirmed', b.log_ratio DESC, b.id) best
WHERE best.id = k.id;
UPDATE kernel SET state = 'failed', state_reason = 'another kernel of the bank has the same code'
FROM candidate c WHERE c.id = kernel.candidate_id AND c.renamed_sha256 IS NOT NULL AND kernel.code_sha256 IS NULL;
UPDATE kernel SET champion = false;

CREATE UNIQUE INDEX kernel_code ON kernel (problem_id, device_class, code_sha256) WHERE code_sha256 IS NOT NULL;
CREATE UNIQUE INDEX kernel_module ON kernel (problem_id, device_class, module_sha256) WHERE module_sha256 IS NOT NULL;
CREATE INDEX kernel_state ON kernel (device_class, state);
CREATE INDEX kernel_prefix ON kernel (id text_pattern_ops);

-- Each search or import that brought a kernel; origin is "search/candidate" of where it was found.
CREATE TABLE kernel_provenance (
  seq        bigint GENERATED ALWAYS AS IDENTITY,
  kernel_id  text NOT NULL REFERENCES kernel,
  origin     text NOT NULL,
  body       bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (kernel_id, origin)
);
CREATE INDEX kernel_provenance_origin ON kernel_provenance (origin);

-- Each confirmation of a kernel.
CREATE TABLE kernel_check (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kernel_id     text NOT NULL REFERENCES kernel,
  search_id     text NOT NULL REFERENCES search,
  evaluation_id bigint NOT NULL UNIQUE,
  verdict       text NOT NULL
                CHECK (verdict IN ('admitted', 'found_again', 'confirmed', 'remeasured', 'drifted', 'failed')),
  message       text NOT NULL,
  harness_rev   text NOT NULL,
  judge_rev     text NOT NULL,
  device_name   text NOT NULL,
  median_ms     double precision NOT NULL,
  ratio         double precision NOT NULL,
  ratio_low     double precision NOT NULL,
  ratio_high    double precision NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX kernel_check_kernel ON kernel_check (kernel_id, id DESC);
CREATE INDEX kernel_check_search ON kernel_check (search_id);

-- What may become a kernel of the bank once it is confirmed: a search's best that its search did not confirm, and what
-- an archive brought.
CREATE TABLE kernel_pending (
  id              text PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN ('search', 'import')),
  state           text NOT NULL CHECK (state IN ('waiting', 'refused')),
  reason          text NOT NULL,
  problem_id      text NOT NULL REFERENCES problem,
  problem_name    text NOT NULL,
  device_class    text NOT NULL,
  operator_family text NOT NULL,
  emulated        boolean NOT NULL,
  candidate_id    text REFERENCES candidate,
  search_id       text REFERENCES search,
  title           text NOT NULL,
  model           text NOT NULL,
  source_sha256   text NOT NULL REFERENCES blob,
  code_sha256     text NOT NULL,
  accepted        integer[] NOT NULL,
  frozen_weights  boolean NOT NULL,
  median_ms       double precision NOT NULL,
  body            bytea NOT NULL,             -- ArchivedKernel without sources
  created_at      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (problem_id, device_class, code_sha256)
);
CREATE INDEX kernel_pending_since ON kernel_pending (created_at);

-- Kernels under verification, and what came of it: a candidate of a system search each.
CREATE TABLE kernel_verification (
  candidate_id text PRIMARY KEY REFERENCES candidate,
  search_id    text NOT NULL REFERENCES search,
  kernel_id    text REFERENCES kernel,
  pending_id   text,                          -- its row goes when it is admitted
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  finished_at  timestamptz,
  verdict      text NOT NULL DEFAULT '',
  message      text NOT NULL DEFAULT '',
  old_ms       double precision NOT NULL DEFAULT 0,
  new_ms       double precision NOT NULL DEFAULT 0,
  old_ratio    double precision NOT NULL DEFAULT 0,
  new_ratio    double precision NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX kernel_verification_open_kernel ON kernel_verification (kernel_id) WHERE finished_at IS NULL;
CREATE UNIQUE INDEX kernel_verification_open_pending ON kernel_verification (pending_id) WHERE finished_at IS NULL;
CREATE INDEX kernel_verification_search ON kernel_verification (search_id);
CREATE INDEX kernel_verification_time ON kernel_verification (requested_at DESC);

-- The newest harness and judge that a worker of the class has reported.
CREATE TABLE bank_revision (
  device_class text PRIMARY KEY,
  harness_rev  text NOT NULL,
  judge_rev    text NOT NULL,
  updated_at   timestamptz NOT NULL DEFAULT now()
);

-- The bank's kernels that a search may begin from, chosen when a round opens.
CREATE TABLE search_seed (
  search_id text NOT NULL REFERENCES search,
  position  integer NOT NULL,
  kernel_id text NOT NULL REFERENCES kernel,
  PRIMARY KEY (search_id, position)
);
