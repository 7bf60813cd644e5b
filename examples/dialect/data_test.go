package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
)

// hostile is a line of security/payloads*.jsonl of the recorded data.
type hostile struct {
	ID, Engine, Expect, Why, Text string
	Base64                        []byte
	Rows                          int
	Generator                     struct {
		Prefix, Repeat, Middle, Close, Suffix string
		Times                                 int
	}
	Policy struct {
		DenyColumns []string `json:"deny_columns"`
		DenyTables  []string `json:"deny_tables"`
	}
}

// excess are harmless statements that this dialect refuses, and why.
var excess = map[string]string{}

// TestHostile runs the hostile and the harmless statements for SQLite of the recorded data.
func TestHostile(t *testing.T) {
	data := os.Getenv("TEXTTOSQL_DATA")
	if data == "" {
		t.Skip("TEXTTOSQL_DATA is not set: no recorded data")
	}
	e := engine()
	for _, name := range []string{"payloads.jsonl", "payloads_resources.jsonl"} {
		file, err := os.Open(filepath.Join(data, "security", name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for lines := json.NewDecoder(file); lines.More(); {
			var h hostile
			if err := lines.Decode(&h); err != nil {
				t.Fatal(err)
			}
			if h.Engine != "sqlite" {
				continue
			}
			g := h.Generator
			p := exectest.Payload{
				Name: h.ID, Why: h.Why, Expect: h.Expect, Rows: h.Rows,
				SQL: h.Text + string(h.Base64) + g.Prefix + strings.Repeat(g.Repeat, g.Times) + g.Middle +
					strings.Repeat(g.Close, g.Times) + g.Suffix,
				Policy: exec.Policy{DenyColumns: h.Policy.DenyColumns, DenyTables: h.Policy.DenyTables},
			}
			if why := excess[h.ID]; why != "" {
				p.Expect, p.Why = "refuse", why
			}
			e.Payloads = append(e.Payloads, p)
		}
	}
	e.CheckPayloads(t)
}

// TestReads compares what names tell with the driver's authorizer, which the dialect does without: of recorded
// statements, whatever SQLite reads by its authorizer is among what [exec.DB.Analyze] tells.
func TestReads(t *testing.T) {
	data := os.Getenv("TEXTTOSQL_DATA")
	if data == "" {
		t.Skip("TEXTTOSQL_DATA is not set: no recorded data")
	}
	statements, compared, refused := recorded(t, data), 0, 0
	for _, id := range slices.Sorted(maps.Keys(statements)) {
		files, err := filepath.Glob(filepath.Join(data, "db", "*", id+".sqlite"))
		if err != nil || len(files) == 0 {
			continue
		}
		pool, err := sql.Open("sqlite", "file:"+files[0]+"?mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		c, r := compare(t, pool, id, statements[id])
		compared, refused = compared+c, refused+r
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d statements compared; %d refused that compile", compared, refused)
	if compared == 0 || refused*1000 > compared {
		t.Errorf("%d statements compared, %d refused that compile", compared, refused)
	}
}

func compare(t *testing.T, pool *sql.DB, id string, statements []string) (compared, refused int) {
	db, err := exec.New(pool, Dialect{}, exec.Config{})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := db.Runner(exec.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	s, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, text := range statements {
		reads, compiles := authorized(t, conn, text)
		if !compiles || bracketed(text) {
			continue
		}
		a, err := runner.Analyze(t.Context(), text)
		if err != nil {
			refused++
			t.Logf("%s: %s: %v", id, text, err)
			continue
		}
		compared++
		told := map[string]bool{}
		for _, table := range a.Tables {
			for _, column := range append(table.Columns, "", "ROWID") {
				told[strings.ToLower(table.Table+"."+column)] = true
			}
		}
		for _, read := range reads {
			table, _, _ := strings.Cut(read, ".")
			if _, ok := s.Lookup("", table); ok && !told[read] {
				t.Errorf("%s: %s: SQLite reads %s, which is not among %v", id, text, read, a.Tables)
			}
		}
	}
	return compared, refused
}

// bracketed reports whether a text may have a bracketed join. SQLite makes a SELECT * of one, so its authorizer hears
// of every column of the tables in it.
func bracketed(text string) bool {
	return slices.ContainsFunc(inBracket.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return !strings.EqualFold(m[1], "SELECT") && !strings.EqualFold(m[1], "WITH") && !strings.EqualFold(m[1], "VALUES")
	})
}

var inBracket = regexp.MustCompile(`(?i)\b(?:from|join)\s*\([\s(]*(\w+)`)

// authorized returns what SQLite's authorizer is asked for, as "table.column" in lower case.
func authorized(t *testing.T, conn *sql.Conn, text string) (reads []string, compiles bool) {
	err := conn.Raw(func(dc any) error {
		c := dc.(interface {
			RegisterAuthorizer(sqlite.AuthorizerFn) error
		})
		return c.RegisterAuthorizer(func(op sqlite.AuthorizerActionCode, table, column, _,
			_ string) sqlite.AuthorizerReturnCode {
			if op == sqlite.AuthRead {
				reads = append(reads, strings.ToLower(table+"."+column))
			}
			return 0
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := conn.QueryContext(t.Context(), "EXPLAIN "+text)
	if err == nil {
		err = rows.Close()
	}
	return reads, err == nil
}

// recorded returns statements of people and models by their database, each once.
func recorded(t *testing.T, data string) map[string][]string {
	files, err := filepath.Glob(filepath.Join(data, "*", "*.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(text)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var line struct {
				ID        string `json:"db_id"`
				SQL, Gold string
			}
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.ID != "" {
				all[line.ID] = append(all[line.ID], cmp.Or(line.SQL, line.Gold))
			}
		}
		if err := cmp.Or(lines.Err(), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for id, list := range all {
		slices.Sort(list)
		all[id] = slices.Compact(list)
	}
	return all
}
