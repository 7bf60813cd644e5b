package duckdb_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
)

// script copies a SQLite database: DuckDB's own reader of SQLite is an extension. A column has the type of what is in
// it.
func script(t *testing.T, path string) string {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", "file:"+url.PathEscape(path)+"?mode=ro"))(t)
	defer pool.Close()
	tables, err := dbtest.Texts(t.Context(), pool,
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	quote := duckdb.Dialect{}.Language().Quote
	for _, table := range tables {
		columns := testutil.Value(dbtest.Texts(t.Context(), pool, "SELECT name FROM pragma_table_info('"+
			strings.ReplaceAll(table, "'", "''")+"')"))(t)
		var declared, quoted []string
		for _, c := range columns {
			kinds := testutil.Value(dbtest.Texts(t.Context(), pool, fmt.Sprintf("SELECT DISTINCT typeof(%s) FROM %s", quote(c),
				quote(table))))(t)
			kind := "VARCHAR"
			switch {
			case slices.Contains(kinds, "text") || slices.Contains(kinds, "blob") || len(kinds) == 0:
			case slices.Contains(kinds, "real"):
				kind = "DOUBLE"
			case slices.Contains(kinds, "integer"):
				kind = "BIGINT"
			}
			declared = append(declared, quote(c)+" "+kind)
			quoted = append(quoted, "quote("+quote(c)+")")
		}
		fmt.Fprintf(&out, "CREATE TABLE %s(%s);\n", quote(table), strings.Join(declared, ", "))
		rows, err := dbtest.Texts(t.Context(), pool, fmt.Sprintf("SELECT '(' || %s || ')' FROM %s",
			strings.Join(quoted, " || ', ' || "), quote(table)))
		if err != nil {
			t.Fatal(err)
		}
		for chunk := range slices.Chunk(rows, 2000) {
			fmt.Fprintf(&out, "INSERT INTO %s VALUES %s;\n", quote(table), strings.Join(chunk, ", "))
		}
	}
	return out.String()
}

// TestPayloads runs the statements of the data set.
func TestPayloads(t *testing.T) {
	e := engine()
	e.Payloads = slices.DeleteFunc(attack.Payloads(t, "duckdb"), func(p exectest.Payload) bool {
		return race.Enabled && p.Expect == "survive" // the race detector takes memory and time of its own
	})
	e.CheckPayloads(t)
}

// TestGolds: what DuckDB runs of the gold statements of Spider the guard lets through, and Analyze names all columns
// that DuckDB's own plan reads.
func TestGolds(t *testing.T) {
	type question struct {
		Database string `json:"db_id"`
		Gold     string `json:"gold"`
	}
	golds := map[string][]string{}
	for q := range evaldata.Lines[question](t, evaldata.Path(t, "questions", "questions_spider_dev.jsonl.gz")) {
		golds[q.Database] = append(golds[q.Database], q.Gold)
	}
	ran, refused, databases, scans := 0, 0, 0, 0
	names := []string{"concert_singer", "pets_1", "car_1", "employee_hire_evaluation", "tvshow",
		"student_transcripts_tracking", "dog_kennels", "world_1"}
	if os.Getenv("TEXTTOSQL_EVERY_WAY") != "" {
		names = slices.DeleteFunc(slices.Sorted(maps.Keys(golds)), func(name string) bool {
			_, err := os.Stat(filepath.Join(evaldata.Path(t, "db", "spider"), name+".sqlite"))
			return err != nil
		})
	}
	for _, name := range names {
		file := makeFile(t, script(t, filepath.Join(evaldata.Path(t, "db", "spider"), name+".sqlite")))
		pool, bare := openPath(t, file, duckdb.Options{}), openPath(t, file, duckdb.Options{})
		db := onPool(t, pool, exec.Config{})
		databases++
		for _, gold := range golds[name] {
			rows, err := bare.QueryContext(t.Context(), gold)
			if err != nil {
				continue // SQLite's own words, or its types
			}
			testutil.OK(t, errors.Join(rows.Err(), rows.Close()))
			ran++
			if _, err := db.Query(t.Context(), gold); err != nil {
				refused++
				t.Errorf("%s: %s: %v", name, gold, err)
				continue
			}
			a := testutil.Value(db.Analyze(t.Context(), gold))(t)
			for table, columns := range planned(t, bare, gold) {
				i := slices.IndexFunc(a.Tables, func(r exec.TableRead) bool { return strings.EqualFold(r.Table, table) })
				for _, c := range columns {
					if c == "" { // only the rows count
						continue
					}
					scans++
					if i < 0 || !slices.ContainsFunc(a.Tables[i].Columns, func(other string) bool {
						return strings.EqualFold(other, c)
					}) {
						t.Errorf("%s: %s: DuckDB reads %s.%s, and Analyze says %+v", name, gold, table, c, a.Tables)
					}
				}
			}
		}
	}
	t.Logf("%d gold statements that DuckDB runs on %d databases, %d refused; %d columns of its plans", ran, databases,
		refused, scans)
	if ran < 150 {
		t.Errorf("%d statements; want more", ran)
	}
}

// planned is what DuckDB's plan of a statement reads: columns by table.
func planned(t *testing.T, pool *sql.DB, text string) map[string][]string {
	t.Helper()
	var kind, raw string
	testutil.OK(t, pool.QueryRowContext(t.Context(), "EXPLAIN (FORMAT JSON) "+text).Scan(&kind, &raw))
	type step struct {
		Children []step         `json:"children"`
		Info     map[string]any `json:"extra_info"`
	}
	var steps []step
	testutil.OK(t, json.Unmarshal([]byte(raw), &steps))
	found := map[string][]string{}
	var walk func(s step)
	walk = func(s step) {
		if table, ok := s.Info["Table"].(string); ok {
			name := table[strings.LastIndexByte(table, '.')+1:]
			switch p := s.Info["Projections"].(type) {
			case string:
				found[name] = append(found[name], p)
			case []any:
				for _, c := range p {
					found[name] = append(found[name], fmt.Sprint(c))
				}
			}
		}
		for _, child := range s.Children {
			walk(child)
		}
	}
	for _, s := range steps {
		walk(s)
	}
	return found
}
