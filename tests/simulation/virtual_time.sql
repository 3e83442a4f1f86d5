-- now() of the product's statements, functions and column defaults becomes virtual time: public stands before
-- pg_catalog, and the setting is the simulation's to move.
CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT pg_catalog.to_timestamp(pg_catalog.current_setting('warpsmith.now_us')::double precision / 1000000)
$$;
DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
  EXECUTE format('ALTER DATABASE %I SET warpsmith.now_us = ''0''', current_database());
END $$;
