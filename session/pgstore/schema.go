package pgstore

import (
	"context"
	"database/sql"
	"fmt"
)

// version is the version of Schema. A change of it raises it.
const version = 2

// Schema creates the tables of a Store. Open runs it if the table texttosql_store does not exist. Run it yourself if
// the role of the DSN may not create tables. The tables belong to Config.Schema. The role also needs SELECT, INSERT,
// UPDATE and DELETE.
const Schema = `
CREATE TABLE texttosql_store (version integer NOT NULL);
INSERT INTO texttosql_store VALUES (2);

-- A session: its record as session.Record.Encode writes it, with its checksum, and the columns of lists.
CREATE TABLE texttosql_sessions (
	id text COLLATE "C" PRIMARY KEY,
	scope text COLLATE "C" NOT NULL, -- exec.Scope.Key; '': none
	state text NOT NULL,
	updated bigint NOT NULL,      -- seconds since 1970
	updated_nanos integer NOT NULL,
	whole bytea NOT NULL          -- the record; convert_from(whole, 'UTF8') shows it
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
` + since1

// since1 are the tables that version 1 did not have.
const since1 = `
-- The changes of a record since it was written as a whole, a line each.
CREATE TABLE texttosql_changes (
	session text COLLATE "C" NOT NULL REFERENCES texttosql_sessions ON DELETE CASCADE,
	n bigint GENERATED ALWAYS AS IDENTITY,
	line bytea NOT NULL,
	PRIMARY KEY (session, n)
);

-- Verified answers in the form of memory.OpenVerifiedAnswers.
CREATE TABLE texttosql_answers (
	name text COLLATE "C" NOT NULL,
	place bigint NOT NULL,        -- bytes of all lines before
	lines bytea NOT NULL,
	PRIMARY KEY (name, place)
);
`

// upgrade makes version 2 out of version 1. The new name of the column stops programs of version 1.
const upgrade = `ALTER TABLE texttosql_sessions RENAME COLUMN record TO whole; UPDATE texttosql_store SET version = 2;` + since1

// versionError reports that another version of this package made the tables.
type versionError struct{ Have int }

// Error returns one line with advice.
func (e *versionError) Error() string {
	return fmt.Sprintf("pgstore: the tables have version %d and this program knows %d: use the program that made them, "+
		"or another schema", e.Have, version)
}

// setUp makes the tables if there are none and checks their version. Of several processes one makes them.
func (s *Store) setUp(ctx context.Context) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", 0x7465787473716c); err != nil {
			return err
		}
		there := false
		if err := tx.QueryRowContext(ctx, "SELECT to_regclass('texttosql_store') IS NOT NULL").Scan(&there); err != nil {
			return err
		}
		if !there {
			if err := s.makeSchema(ctx, tx); err != nil {
				return fmt.Errorf("making the schema: %w", err)
			}
			if _, err := tx.ExecContext(ctx, Schema); err != nil {
				return fmt.Errorf("making the tables: %w", err)
			}
		}
		have := 0
		if err := tx.QueryRowContext(ctx, "SELECT version FROM texttosql_store").Scan(&have); err != nil {
			return err
		}
		switch have {
		case version:
		case 1:
			if _, err := tx.ExecContext(ctx, upgrade); err != nil {
				return fmt.Errorf("upgrading the tables, as their owner can: %w", err)
			}
		default:
			return &versionError{have}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM texttosql_leases WHERE until < clock_timestamp() - interval '1 day'")
		return err
	})
}

// makeSchema makes Config.Schema. What is there needs no right to make it.
func (s *Store) makeSchema(ctx context.Context, tx *sql.Tx) error {
	there := false
	err := tx.QueryRowContext(ctx, "SELECT $1 = '' OR to_regnamespace($1) IS NOT NULL", s.schema).Scan(&there)
	if err == nil && !there {
		_, err = tx.ExecContext(ctx, "CREATE SCHEMA "+s.schema)
	}
	return err
}
