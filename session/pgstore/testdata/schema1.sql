-- The tables of version 1.
CREATE TABLE texttosql_store (version integer NOT NULL);
INSERT INTO texttosql_store VALUES (1);

-- A session: its record as session.Record.Encode writes it, with its checksum, and what lists are sorted and filtered by.
CREATE TABLE texttosql_sessions (
	id text COLLATE "C" PRIMARY KEY,
	scope text COLLATE "C" NOT NULL, -- exec.Scope.Key; '': none
	state text NOT NULL,
	updated bigint NOT NULL,      -- seconds since 1970
	updated_nanos integer NOT NULL,
	record bytea NOT NULL         -- convert_from(record, 'UTF8') shows it
);
CREATE INDEX texttosql_sessions_updated ON texttosql_sessions (scope, updated DESC, updated_nanos DESC, id);

-- The replies of a session's models, a line of llm/replay each.
CREATE TABLE texttosql_journal (
	session text COLLATE "C" NOT NULL REFERENCES texttosql_sessions ON DELETE CASCADE,
	n bigint GENERATED ALWAYS AS IDENTITY,
	line bytea NOT NULL,
	PRIMARY KEY (session, n)
);

-- Who works on a session, and until when unless the lease is renewed.
CREATE TABLE texttosql_leases (
	session text COLLATE "C" PRIMARY KEY,
	process text NOT NULL,        -- the Store that works on it
	hold text NOT NULL,           -- the call of Hold
	until timestamptz NOT NULL    -- by the server's clock
);

-- Learned lessons in the form of memory.OpenLessons.
CREATE TABLE texttosql_lessons (
	name text COLLATE "C" PRIMARY KEY,
	version bigint NOT NULL,
	lessons bytea NOT NULL
);
