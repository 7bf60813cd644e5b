package models_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/models"
	"github.com/texttosql/texttosql/llm"
)

func concerts(t *testing.T) *exec.DB {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "test.sqlite")))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(`CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		CREATE TABLE concert (id INTEGER PRIMARY KEY, singer_id INTEGER, year INTEGER);
		CREATE TABLE "sold tickets" (concert INTEGER, n INTEGER)`))(t)
	return testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
}

func TestPhasesDerived(t *testing.T) {
	tests := []struct {
		name, reply   string
		scope, filter string
		why           string
	}{
		{"one table", "SELECT name FROM singer", "Tables: singer", "No filters needed", ""},
		{"aliases", "```sql\nSELECT T1.name FROM singer AS T1 JOIN concert AS T2 ON T1.id = T2.singer_id " +
			"WHERE T2.year > 2014 AND 'France' = T1.country\n```",
			"Tables: concert, singer\nJoins: concert.singer_id = singer.id", "concert.year > 2014 AND singer.country = 'France'",
			"resolved"},
		{"join in WHERE", "SELECT name FROM singer, concert WHERE singer.id = singer_id AND year = 2014",
			"Tables: concert, singer\nJoins: concert.singer_id = singer.id", "concert.year = 2014", ""},
		{"IN as a join", "SELECT name FROM singer WHERE id NOT IN (SELECT singer_id FROM concert WHERE year = 2014)",
			"Tables: concert, singer", "singer.id NOT IN (SELECT singer_id FROM concert WHERE year = 2014)",
			"NOT IN joins nothing; what is inside stays inside"},
		{"IN", "SELECT name FROM singer WHERE id IN (SELECT singer_id FROM concert)",
			"Tables: concert, singer\nJoins: concert.singer_id = singer.id", "singer.id IN (SELECT singer_id FROM concert)",
			"a join and a condition"},
		{"having", "SELECT country FROM singer GROUP BY country HAVING count(*) > 2", "Tables: singer", "No filters needed",
			"aggregates are left to the projection"},
		{"name with a blank", `SELECT sum(n) FROM "sold tickets" AS s JOIN concert AS c ON s.concert = c.id`,
			"Tables: concert, \"sold tickets\"\nJoins: \"sold tickets\".concert = concert.id", "No filters needed", ""},
		{"string in double quotes", `SELECT name FROM singer WHERE country = "France"`, "Tables: singer",
			"singer.country = 'France'", ""},
		{"no table", "SELECT 1 + 1", "Tables: none", "No filters needed", ""},
		{"does not compile", "SELECT nmae FROM singer", "SELECT nmae FROM singer", "SELECT nmae FROM singer", "the raw text"},
		{"prose", "I do not know.", "I do not know.", "I do not know.", "the raw text"},
	}
	db := concerts(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := testutil.Value(models.NewRecorded("pool",
				[]models.Question{{ID: "1", Text: "Which?", Replies: []models.Reply{{Text: tt.reply}}}}))(t)
			m := testutil.Value(models.NewPhases(t.Context(), r, db, models.PhaseOptions{}))(t)
			got := map[string]string{}
			for _, step := range []string{"maker.scope", "maker.filter", "maker.projection"} {
				reply := testutil.Value(m.Complete(t.Context(),
					llm.Request{Purpose: step, Messages: []llm.Message{{Role: llm.User, Text: "Which?"}}}))(t)
				got[step] = reply.Text
			}
			want := map[string]string{"maker.scope": tt.scope, "maker.filter": tt.filter, "maker.projection": tt.reply}
			golden.Equal(t, want, got, tt.why)
		})
	}
}

func TestPhases(t *testing.T) {
	const question = "Who is from France?"
	r := testutil.Value(models.NewRecorded("pool/two", []models.Question{{ID: "7", Text: question, Replies: []models.Reply{
		{Text: "SELECT name FROM singer WHERE country = 'France'"},
		{Text: "SELECT name FROM singer JOIN concert ON singer.id = singer_id WHERE country = 'France'"},
		{Text: ""},
	}}}))(t)
	db := concerts(t)
	ask := func(o models.PhaseOptions, purpose, lock string, sample int) (string, error) {
		m := testutil.Value(models.NewPhases(t.Context(), r, db, o))(t)
		reply, err := m.Complete(t.Context(), llm.Request{Purpose: purpose, Sample: sample, Messages: []llm.Message{
			{Role: llm.User, Text: "### Schema\nTables: not this line\n" + lock + "### Question\n" + question},
		}})
		return reply.Text, err
	}
	const lock = "### Agreed by vote\nTables: concert, singer\n"
	tests := []struct {
		name, purpose, lock string
		keep                bool
		sample              int
		want                string // "" for ErrNotRecorded
	}{
		{"scope", "maker.scope", "", false, 1, "Tables: concert, singer\nJoins: concert.singer_id = singer.id"},
		{"filter ignores the lock", "maker.filter", lock, false, 0, "singer.country = 'France'"},
		{"projection ignores the lock", "maker.projection", lock, false, 0,
			"SELECT name FROM singer WHERE country = 'France'"},
		{"projection keeps to it", "maker.projection", lock, true, 0,
			"SELECT name FROM singer JOIN concert ON singer.id = singer_id WHERE country = 'France'"},
		{"no second one keeps to it", "maker.projection", lock, true, 1, ""},
		{"nobody keeps to it", "maker.projection", "Tables: concert\n", true, 0,
			"SELECT name FROM singer WHERE country = 'France'"},
		{"the fallback", "generate", "", true, 0, "SELECT name FROM singer WHERE country = 'France'"},
		{"no such sample", "maker.scope", "", false, 3, ""},
		{"a repair", "repair", "", false, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ask(models.PhaseOptions{KeepScope: tt.keep}, tt.purpose, tt.lock, tt.sample)
			if got != tt.want || (tt.want == "") != errors.Is(err, models.ErrNotRecorded) {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	if _, err := ask(models.PhaseOptions{}, "maker.scope", "", 2); err == nil || errors.Is(err, models.ErrNotRecorded) {
		t.Errorf("an empty stored sample: %v", err)
	}
}

// TestPhasesDelivery: a step takes the time of the recorded answer that it is a
// part of, and has its tokens only where it is that answer.
func TestPhasesDelivery(t *testing.T) {
	const question = "Who is from France?"
	usage := llm.Usage{PromptTokens: 900, CompletionTokens: 20, Known: true, Calls: 1}
	r := testutil.Value(models.NewRecorded("pool", []models.Question{{ID: "7", Text: question, Replies: []models.Reply{
		{Text: "SELECT name FROM singer", Model: "small", Usage: usage, Latency: time.Second},
		{Text: "SELECT name FROM singer WHERE country = 'France'", Model: "large", Usage: usage, Latency: time.Minute},
	}}}))(t)
	m := testutil.Value(models.NewPhases(t.Context(), r, concerts(t), models.PhaseOptions{}))(t)
	for _, tt := range []struct {
		purpose string
		known   bool
		why     string
	}{
		{"maker.scope", false, "its text was made here, so nobody counted it"},
		{"maker.filter", false, "so was this"},
		{"maker.projection", true, "it is what was recorded"},
		{"generate", true, "so is the fallback"},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			reply, err := m.Complete(t.Context(), llm.Request{Purpose: tt.purpose, Sample: 1,
				Messages: []llm.Message{{Role: llm.User, Text: question}}})
			if took := time.Since(start); err != nil || took != time.Minute || reply.Model != "large" {
				t.Errorf("%s: %+v, %v after %v, want the large model after a minute", tt.purpose, reply, err, took)
			}
			if (reply.Usage == usage) != tt.known {
				t.Errorf("%s: usage %+v: %s", tt.purpose, reply.Usage, tt.why)
			}
		})
	}
}
