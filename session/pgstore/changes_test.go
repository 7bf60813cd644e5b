package pgstore_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/session/pgstore"
)

// TestSaveWritesATurn: the hundredth turn of a conversation makes the server write as much as the twentieth, by its log
// (WAL).
func TestSaveWritesATurn(t *testing.T) {
	dsn, db := newDSN(t)
	s := open(t, dsn, pgstore.Config{})
	r := session.New(session.NewID(), time.Unix(0, 0).UTC())
	const turns, window = 100, 20
	var windows []int
	for range turns / window {
		var start string
		testutil.OK(t, db.QueryRow("SELECT pg_current_wal_insert_lsn()").Scan(&start))
		for range window {
			r.Turns = append(r.Turns, session.Turn{Kind: "follow_up", Text: strings.Repeat("word ", 100) +
				fmt.Sprint(len(r.Turns))})
			for range 5 {
				testutil.OK(t, s.Save(t.Context(), r))
				r.Revision++
			}
		}
		var written int
		testutil.OK(t, db.QueryRow("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::bigint", start).Scan(&written))
		windows = append(windows, written/window)
	}
	whole, changes := 0, 0
	testutil.OK(t,
		db.QueryRow("SELECT length(whole), (SELECT sum(length(line)) FROM texttosql_changes) FROM texttosql_sessions").Scan(
			&whole, &changes))
	t.Logf("bytes written a turn, by twenties: %d; the record has %d bytes, and %d of changes", windows, whole, changes)
	if first, last := windows[1], windows[len(windows)-1]; last > 3*first {
		t.Errorf("a turn writes %d bytes after %d turns, and %d after %d", last, turns, first, 2*window)
	}
	if diff := cmp.Diff(r, testutil.Value(s.Load(t.Context(), r.ID))(t)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestWritesOfAnAnswer measures what a question with seven samples writes, on a store of one connection.
// docs/lab/scale.md has the figures.
func TestWritesOfAnAnswer(t *testing.T) {
	dsn, db := newDSN(t)
	s := open(t, dsn, pgstore.Config{Connections: 1})
	var start string
	commits := func() (n int) {
		t.Helper()
		testutil.OK(t, db.QueryRow("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()").Scan(&n))
		return n
	}
	testutil.OK(t, db.QueryRow("SELECT pg_current_wal_insert_lsn()").Scan(&start))
	before := commits()
	e := testutil.Value(newEngine(7, func(int) {}))(t)
	talk := e.NewConversation(s)
	const questions = 20
	for i := range questions {
		testutil.Value(talk.Ask(t.Context(), fmt.Sprintf("How many singers are there beside number %d?", i)))(t)
	}
	var written, lines int
	testutil.OK(t, db.QueryRow("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::bigint", start).Scan(&written))
	testutil.OK(t, db.QueryRow("SELECT count(*) FROM texttosql_journal").Scan(&lines))
	testutil.OK(t, s.Close()) // the server counts what a connection did when it ends
	var after int
	for range 100 {
		if after = commits() - before; after > 100 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	r := talk.Record()
	t.Logf("an answer: %d saves, %d lines of the journal, %d transactions, %d bytes of WAL",
		r.Revision/questions, lines/questions, after/questions, written/questions)
	if most := 40 * questions; after > most || after == 0 {
		t.Errorf("%d transactions, want 1 to %d", after, most)
	}
}

// TestUpgrade: Open makes the tables of version 1 those of today, with their sessions, and a program of version 1
// writes no more.
func TestUpgrade(t *testing.T) {
	dsn, db := newDSN(t)
	run(t, db, string(testutil.Value(os.ReadFile("testdata/schema1.sql"))(t)))
	r := session.New(session.NewID(), time.Unix(0, 0).UTC())
	text, _, err := r.Encode(nil)
	testutil.OK(t, err)
	run(t, db, "INSERT INTO texttosql_sessions VALUES ($1, '', $2, 0, 0, $3)", r.ID, string(r.State), text)
	r.Revision++
	for range 2 {
		s := open(t, dsn, pgstore.Config{})
		if diff := cmp.Diff(r, testutil.Value(s.Load(t.Context(), r.ID))(t)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		testutil.OK(t, s.Save(t.Context(), r))
		r.Revision++
	}
	if _, err := db.Exec("UPDATE texttosql_sessions SET record = $1", text); err == nil {
		t.Error("a program of version 1 can write")
	}
	run(t, db, "CREATE ROLE guest LOGIN")
	run(t, db, "UPDATE texttosql_store SET version = 1; GRANT SELECT ON texttosql_store TO guest")
	guest := strings.Replace(dsn, "postgres@", "guest@", 1)
	if _, err := pgstore.Open(t.Context(), guest, pgstore.Config{}); err == nil ||
		!strings.Contains(err.Error(), "owner") {
		t.Errorf("an upgrade by a role that may not: %v", err)
	}
}
