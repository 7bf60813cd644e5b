package exec_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// TestPolicyNames: which tables and columns an entry names. The schema of a table in another catalog is "lake.sales".
func TestPolicyNames(t *testing.T) {
	for _, tt := range []struct {
		entry, why string
		want       string // of main.users, lake.sales.users and their columns name
	}{
		{"users", "a table of every schema", "main lake.sales"},
		{"USERS", "without regard to case", "main lake.sales"},
		{"main.users", "of one schema", "main"},
		{"lake.sales.users", "of one catalog", "lake.sales"},
		{"LAKE.Sales.users", "without regard to case", "lake.sales"},
		{`"lake.sales".users`, "the schema as it is called", "lake.sales"},
		{"sales.users", "half of the schema's name is another schema", ""},
		{"lake.main.users", "another catalog's", ""},
		{"a.lake.sales.users", "too long a name matches nothing", ""},
		{"lake.users", "a catalog is no schema", ""},
		{"", "no name", ""},
	} {
		var tables, columns []string
		for _, schema := range []string{"main", "lake.sales"} {
			if !(exec.Policy{DenyTables: []string{tt.entry}}).AllowsTable(schema, "users") {
				tables = append(tables, schema)
			}
			if !(exec.Policy{DenyColumns: []string{tt.entry + ".name"}}).AllowsColumn(schema, "users", "name") {
				columns = append(columns, schema)
			}
			allowed := exec.Policy{AllowTables: []string{tt.entry}}.AllowsTable(schema, "users")
			if denied := strings.Contains(" "+strings.Join(tables, " ")+" ", " "+schema+" "); allowed != denied {
				t.Errorf("%s in %s: denied %v as AllowTables it allows %v", tt.entry, schema, denied, allowed)
			}
		}
		if got := strings.Join(tables, " "); got != tt.want {
			t.Errorf("table %q: %q, want %q: %s", tt.entry, got, tt.want, tt.why)
		}
		if got := strings.Join(columns, " "); got != tt.want {
			t.Errorf("column %q: %q, want %q: %s", tt.entry, got, tt.want, tt.why)
		}
	}
	for _, p := range []exec.Policy{
		{DenyTables: []string{"a.b.c.d"}}, {DenyColumns: []string{"a.b.c.d.e"}}, {AllowTables: []string{""}}, {Reveal: []string{"a..b"}},
		{AllowFunctions: []string{"pg_catalog.lower"}},
	} {
		if _, err := exec.New(unused(t), sqlite.Dialect{}, exec.Config{Policy: p}); err == nil || !strings.Contains(err.Error(), "is not a name") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// unused returns a pool that is never used.
func unused(t testing.TB) *sql.DB {
	t.Helper()
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

func TestReadPolicy(t *testing.T) {
	all := exec.Policy{
		AllowTables: []string{"a"}, DenyTables: []string{"s.b", `"x.y"`}, DenyColumns: []string{"c.s.t.c"}, AllowFunctions: []string{"f"}, Reveal: []string{"*"},
	}
	for _, tt := range []struct {
		text, why string
		want      exec.Policy
		err       string // in it
	}{
		{`{}`, "everything is allowed", exec.Policy{}, ""},
		{`{"AllowTables":["a"],"DenyTables":["s.b","\"x.y\""],"DenyColumns":["c.s.t.c"],"AllowFunctions":["f"],"Reveal":["*"]}`, "all fields", all, ""},
		{"\ufeff{\r\n \"DenyTables\": [\"a\"]\r\n}\r\n", "an editor of Windows", exec.Policy{DenyTables: []string{"a"}}, ""},
		{"\xff\xfe{\x00}\x00", "UTF-16 is not read", exec.Policy{}, "invalid character"},
		{`{"DenyTables":[]}`, "nothing is denied", exec.Policy{DenyTables: []string{}}, ""},

		{``, "an empty file is no policy", exec.Policy{}, "line 1: the JSON ends in the middle"},
		{"{\n\"DenyTables\": [\"a\"", "torn", exec.Policy{}, "line 2: the JSON ends in the middle"},
		{"{\n\"DenyTables\": [\"a\"]\n", "torn at its end", exec.Policy{}, "the JSON ends in the middle"},
		{`null`, "would be the open policy", exec.Policy{}, "want an object"},
		{`[]`, "a list", exec.Policy{}, "want an object"},
		{`{"DenyTables":["a"]} {}`, "two", exec.Policy{}, "something stands behind the object"},
		{`{"DenyTable":["a"]}`, "a misspelt member", exec.Policy{}, `"DenyTable" is unknown`},
		{`{"deny_tables":["a"]}`, "the member of another program", exec.Policy{}, `"deny_tables" is unknown`},
		{`{"DenyTables":["a"],"DenyTables":[]}`, "the last would win", exec.Policy{}, `"DenyTables" is unknown or given twice`},
		{`{"DenyTables":"a"}`, "no list", exec.Policy{}, "DenyTables: want a list of names"},
		{`{"DenyTables":[7]}`, "no name", exec.Policy{}, "DenyTables: want a list of names"},
		{`{"DenyTables":null}`, "what was meant?", exec.Policy{}, "DenyTables: want a list of names"},
		{`{"DenyTables":[null]}`, "no name", exec.Policy{}, `Policy.DenyTables: "" is not a name`},
		{`{"DenyColumns":["a.b.c.d.e"]}`, "too many parts", exec.Policy{}, `Policy.DenyColumns: "a.b.c.d.e" is not a name`},
		{`{"AllowTables":[]}`, "would allow every table", exec.Policy{}, "AllowTables is empty"},
		{`{"DenyTables":["a",]}`, "a comma too many", exec.Policy{}, "invalid character ']'"},
		{"{\"Reveal\":[\"" + strings.Repeat("x", 1<<20) + "\"]}", "too long", exec.Policy{}, "larger than 1048576 bytes"},
	} {
		got, err := exec.ReadPolicy(strings.NewReader(tt.text))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%.80s: %s: -want +got:\n%s", tt.text, tt.why, diff)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%.80s: %v, want %q: %s", tt.text, err, tt.err, tt.why)
		}
	}
	torn := errors.New("the disk is gone")
	if _, err := exec.ReadPolicy(iotest.ErrReader(torn)); !errors.Is(err, torn) {
		t.Errorf("the reader's error is %v", err)
	}
}

// FuzzReadPolicy: what is read can be used, and only one object with nothing else in it is read.
func FuzzReadPolicy(f *testing.F) {
	for _, text := range []string{`{}`, `{"DenyTables":["a.b","\"c.d\""]}`, `{"Reveal":["*"]}{`, `{"AllowTables":[]}`, `null`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := exec.ReadPolicy(strings.NewReader(text))
		if err != nil {
			if diff := cmp.Diff(exec.Policy{}, p); diff != "" || !strings.HasPrefix(err.Error(), "exec: reading a policy: ") {
				t.Errorf("%v: %s", err, diff)
			}
			return
		}
		if _, err := exec.New(unused(t), sqlite.Dialect{}, exec.Config{Policy: p}); err != nil {
			t.Errorf("read, but: %v", err)
		}
		if _, err := exec.ReadPolicy(strings.NewReader(strings.TrimSpace(text) + "{}")); err == nil {
			t.Error("two objects are read")
		}
	})
}

// A policy from a file of its own.
func ExampleReadPolicy() {
	p, err := exec.ReadPolicy(strings.NewReader(`{"DenyTables": ["salaries"], "DenyColumns": ["customers.password"]}`))
	fmt.Printf("%q %q %v\n", p.DenyTables, p.DenyColumns, err)
	_, err = exec.ReadPolicy(strings.NewReader(`{"DenyColumn": ["customers.password"]}`))
	fmt.Println(err)
	// Output:
	// ["salaries"] ["customers.password"] <nil>
	// exec: reading a policy: line 1: "DenyColumn" is unknown or given twice; the members are AllowTables, DenyTables, DenyColumns, AllowFunctions and Reveal
}
