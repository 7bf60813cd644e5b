package exec_test

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
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
		{DenyTables: []string{"a.b.c.d"}}, {DenyColumns: []string{"a.b.c.d.e"}}, {AllowTables: []string{""}},
		{Reveal: []string{"a..b"}},
		{AllowFunctions: []string{"pg_catalog.lower"}},
	} {
		if _, err := exec.New(unused(t), sqlite.Dialect{}, exec.Config{Policy: p}); err == nil ||
			!strings.Contains(err.Error(), "is not a name") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// unused returns a pool that is never used.
func unused(t testing.TB) *sql.DB {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", ":memory:"))(t)
	t.Cleanup(func() { pool.Close() })
	return pool
}

func TestReadPolicy(t *testing.T) {
	all := exec.Policy{
		AllowTables: []string{"a"}, DenyTables: []string{"s.b", `"x.y"`}, DenyColumns: []string{"c.s.t.c"},
		AllowFunctions: []string{"f"}, Reveal: []string{"*"},
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
		{`{"DenyTables":["a"],"DenyTables":[]}`, "the last would win", exec.Policy{},
			`"DenyTables" is unknown or given twice`},
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
	for _, text := range []string{`{}`, `{"DenyTables":["a.b","\"c.d\""]}`, `{"Reveal":["*"]}{`, `{"AllowTables":[]}`,
		`null`} {
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
	// exec: reading a policy: line 1: "DenyColumn" is unknown or given twice, did you mean "DenyColumns"?
}

// TestSensitive: columns that look like secrets by name are denied, those by value are not profiled or sampled, unless
// the policy reveals them.
func TestSensitive(t *testing.T) {
	const md5, bcrypt = "5f4dcc3b5aa765d61d8327deb882cf99", "$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW"
	for _, test := range []struct {
		why, column string
		values      []string
		secret      string // how it looks so: by "name", by "value"
	}{
		{"a password", "password", []string{"hunter2"}, "name"},
		{"in camel case", "userPassword", []string{"hunter2"}, "name"},
		{"without a mark between words", "userpassword", []string{"hunter2"}, "name"},
		{"its hash", "pwd_hash", []string{"x"}, "name"},
		{"a key of an API", "API_KEY", []string{"x"}, "name"},
		{"a token", "refreshToken", []string{"x"}, "name"},
		{"a card", "credit_card_number", []string{"x"}, "name"},
		{"a social security number", "SSN", []string{"x"}, "name"},
		{"when a password was changed", "password_changed_at", []string{"2026-01-01"}, ""},
		{"whether there is one", "has_password", []string{"yes"}, ""},
		{"a kind of card", "credit_card_type", []string{"visa"}, ""},
		{"a secretary", "secretary", []string{"Ada"}, ""},
		{"a key of a table", "key", []string{"K1"}, ""},
		{"words of a text", "token", []string{"the", "of"}, ""},
		{"a pin on a map", "pin", []string{"north"}, ""},
		{"hashes by value", "h", []string{md5, "7c6a180b36896a0a8c02787eeafb0e4c"}, "value"},
		{"hashes of passwords by value", "h", []string{bcrypt}, "value"},
		{"keys by value", "note", []string{"sk-proj-abcdefgh12345678", "", "ghp_abcdefgh12345678"}, "value"},
		{"tokens by value", "note", []string{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"}, "value"},
		{"cards by value", "no", []string{"4111 1111 1111 1111", "5500-0000-0000-0004"}, "value"},
		{"cards by value, as numbers", "no", []string{"4111111111111111"}, "value"},
		{"one hash among texts", "note", []string{md5, "a", "b", "c"}, ""},
		{"numbers of as many digits", "no", []string{"4111111111111112", "4111111111111113"}, ""},
		{"numbers of books", "isbn", []string{"9780306406157", "9783161484100"}, ""},
		{"identifiers", "id", []string{"0d5e3ee4-3b5c-4b4f-9b5a-0e6e2a3f7a10"}, ""},
		{"names", "name", []string{"Ada", "Bob"}, ""},
	} {
		t.Run(test.why, func(t *testing.T) {
			script := "CREATE TABLE t(n INTEGER, " + test.column + "); "
			for _, v := range test.values {
				if strings.Trim(v, "0123456789") != "" {
					v = "'" + v + "'"
				}
				script += "INSERT INTO t VALUES (1, " + strings.ReplaceAll("("+v+")", "()", "''") + "); "
			}
			for reveal, config := range map[bool]exec.Config{
				false: {},
				true:  {Policy: exec.Policy{Reveal: []string{"t." + test.column}}},
			} {
				_, db := open(t, script, config)
				root := trace.Tracer{}.New("test")
				ctx := trace.NewContext(t.Context(), root)
				s := testutil.Value(db.Schema(ctx))(t)
				profiled := testutil.Value(db.Profile(ctx, s, exec.ProfileOptions{}))(t)
				sample := testutil.Value(db.Sample(ctx, s.Tables[0], exec.SampleOptions{Rows: 3}))(t)
				denied, held := test.secret == "name" && !reveal, test.secret == "value" && !reveal
				columns := profiled.Tables[0].Columns
				if (len(columns) == 1) != denied || !denied &&
					(columns[1].Sensitive != held || (columns[1].Profile == nil) != held) {
					t.Errorf("reveal %v: the columns are %+v", reveal, columns)
				}
				want := 2
				if denied || held {
					want = 1
				}
				if len(sample.Columns) != want || len(sample.Rows[0]) != want {
					t.Errorf("reveal %v: the sample has the columns %v", reveal, sample.Columns)
				}
				var refused *exec.RefusedError
				_, err := db.Query(ctx, "SELECT "+test.column+" FROM t")
				if errors.As(err, &refused) != denied || denied && (refused.Reason != "column" || refused.Name != "") {
					t.Errorf("reveal %v: a statement that names it: %v", reveal, err)
				}
				refused = nil
				if _, err = db.Query(ctx, "SELECT * FROM t"); errors.As(err, &refused) != denied || denied && refused.Name != "*" {
					t.Errorf("reveal %v: a star: %v", reveal, err)
				}
				if warnings := db.Warnings(); denied != (len(warnings) == 1 && warnings[0].Code == "sensitive-columns") {
					t.Errorf("reveal %v: warnings %v", reveal, warnings)
				}
				if again, err := db.Schema(ctx); err != nil || again != s || len(db.Warnings()) > 1 {
					t.Errorf("reveal %v: the second time: %v, %v", reveal, err, db.Warnings())
				}
			}
		})
	}
}

// TestSensitiveGiven: a schema that somebody gives loses what looks like a secret too, and stays as it is. The warning
// comes once, also where the schema changes.
func TestSensitiveGiven(t *testing.T) {
	pool, db := open(t, "CREATE TABLE t(a, password)", exec.Config{})
	given := &schema.Schema{Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "a"}, {Name: "password"}}}}}
	root := trace.Tracer{}.New("test")
	ctx := trace.NewContext(t.Context(), root)
	got, err := db.Permitted(ctx, given)
	if err != nil || len(got.Tables[0].Columns) != 1 || got.Default != "main" || given.Default != "" ||
		len(given.Tables[0].Columns) != 2 {
		t.Errorf("%+v, %v; given %+v", got, err, given)
	}
	for i, statement := range []string{"CREATE TABLE u(a)", "CREATE TABLE v(a, token)", "CREATE TABLE api(api_key TEXT)"} {
		testutil.Value(pool.Exec(statement))(t)
		if _, err := db.Schema(ctx); err != nil || len(db.Warnings()) != max(1, i) {
			t.Errorf("after %s: %v, %v", statement, err, db.Warnings())
		}
	}
	if w := db.Warnings(); !strings.Contains(fmt.Sprint(w), "api.api_key") {
		t.Errorf("the warnings are %v", w)
	}
	_, free := open(t, "CREATE TABLE t(a)", exec.Config{})
	plain := &schema.Schema{Default: "main", Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "a"}}}}}
	if got, err := free.Permitted(ctx, plain); got != plain || err != nil {
		t.Errorf("nothing to leave out: %+v, %v", got, err)
	}
}

// TestPlanNamesNoDeniedColumn: a plan does not name an index over a column that the policy denies.
func TestPlanNamesNoDeniedColumn(t *testing.T) {
	deny := exec.Policy{DenyColumns: []string{"ssn"}}
	const index = "SCAN users USING COVERING INDEX users_ssn_name"
	for _, tt := range []struct {
		why    string
		policy exec.Policy
		sql    string
		want   string // the rows; and the signature behind a "|"
	}{
		{"an index over it", deny, "SELECT name FROM users ORDER BY name",
			"SCAN users USING COVERING INDEX|scan:users:covering"},
		{"under a view", deny, "SELECT name FROM v ORDER BY name",
			"SCAN users USING COVERING INDEX|scan:users:covering"},
		{"an index whose name has blanks and a line break", deny, "SELECT name FROM odd ORDER BY name",
			"SCAN odd USING COVERING INDEX|scan:odd:covering"},
		{"a table without one", deny, "SELECT a FROM t", "SCAN t|scan:t:full"},
		{"nothing is denied", exec.Policy{}, "SELECT name FROM users ORDER BY name", index + "|scan:users:covering"},
		{"a table is denied", exec.Policy{DenyTables: []string{"t"}}, "SELECT name FROM users ORDER BY name",
			index + "|scan:users:covering"},
	} {
		_, db := open(t, `CREATE TABLE users(id, name, ssn); CREATE INDEX users_ssn_name ON users(name, ssn);
			CREATE TABLE odd(name, ssn); CREATE INDEX "odd by ssn
and name" ON odd(name, ssn);
			CREATE VIEW v AS SELECT name FROM users; CREATE TABLE t(a)`, exec.Config{Policy: tt.policy})
		p := testutil.Value(db.Explain(t.Context(), tt.sql))(t)
		var rows []string
		for _, row := range p.Rows {
			rows = append(rows, row.Detail)
		}
		if got := strings.Join(rows, ", ") + "|" + p.Signature(); got != tt.want || len(p.Scans()) != 1 {
			t.Errorf("%s: %s, scans %v", tt.why, got, p.Scans())
		}
	}
}

// TestPlanOfTables: where the plan of an engine is text, indexes and conditions in it may name a denied column, and row
// security a denied table. So it is the tables then, with the cost and what is read completely.
func TestPlanOfTables(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE users(id INTEGER PRIMARY KEY, name, ssn); CREATE TABLE t(a); CREATE TABLE other(a)",
		exec.Config{})
	text := exec.Plan{EngineCost: 7, EngineRows: 3, Rows: []exec.PlanRow{
		{ID: 1, Detail: "Nested Loop"},
		{ID: 2, Detail: "Index Scan using users_ssn on users", Parent: 1}, {ID: 3, Detail: "Filter: (ssn < 5)", Parent: 2},
		{ID: 4, Detail: "Seq Scan on t", Parent: 1, Scans: []schema.TableName{{Name: "t"}}}}}
	tables := exec.Plan{EngineCost: 7, EngineRows: 3, Reduced: true,
		Rows: []exec.PlanRow{{ID: 1, Detail: "reads t", Scans: text.Rows[3].Scans}, {ID: 2, Detail: "reads users"}}}
	dialect := exectest.Change(sqlite.Dialect{}, exectest.Changes{
		Explain: func(*exec.Statement, func() (exec.Plan, error)) (exec.Plan, error) {
			p := text
			p.Rows = slices.Clone(p.Rows)
			return p, nil
		}})
	for _, c := range []struct {
		why    string
		policy exec.Policy
		want   exec.Plan
	}{
		{"nothing is denied", exec.Policy{}, text},
		{"functions are allowed", exec.Policy{AllowFunctions: []string{"f"}}, text},
		{"a table is, which row security may read", exec.Policy{DenyTables: []string{"other"}}, tables},
		{"a table is not allowed", exec.Policy{AllowTables: []string{"t", "users"}}, tables},
		{"a column is", exec.Policy{DenyColumns: []string{"users.ssn"}}, tables},
	} {
		db := testutil.Value(exec.New(pool, dialect, exec.Config{Policy: c.policy}))(t)
		got := testutil.Value(db.Explain(t.Context(), "SELECT t.a FROM t JOIN users u ON u.id = t.a"))(t)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

// TestSecretsStayBack: what looks like a secret is in no sample and in no profile, however it is stored and however
// much of a value is read.
func TestSecretsStayBack(t *testing.T) {
	const hash, key = "5f4dcc3b5aa765d61d8327deb882cf99", "nvapi-abcdefgh12345678"
	for _, test := range []struct{ why, kind, value, canary string }{
		{"a hash", "TEXT", "'" + hash + "'", hash[:4]},
		{"a hash in bytes", "BLOB", "CAST('" + hash + "' AS BLOB)", fmt.Sprintf("%x", hash[:4])},
		{"the number of a card in a float", "REAL", "4111111111111111.0", "4111"},
		{"the number of a card in an integer", "INTEGER", "4111111111111111", "4111"},
		{"a key of a provider that only traces knew", "TEXT", "'" + key + "'", "nvapi"},
	} {
		for _, cut := range []int{0, 4, 300} {
			_, db := open(t,
				fmt.Sprintf("CREATE TABLE t(n INTEGER, v %s); INSERT INTO t VALUES (1, %[2]s), (2, %[2]s), (3, %[2]s)", test.kind,
					test.value),
				exec.Config{})
			ctx := t.Context()
			now := testutil.Value(db.Snapshot(ctx))(t)
			one := exec.SampleOptions{Rows: 3, Cut: cut}
			seen := []any{
				testutil.Value(db.Sample(ctx, now.Schema.Tables[0], one))(t),
				testutil.Value(db.Samples(ctx, now, now.Schema, one))(t),
				testutil.Value(db.Profile(ctx, now.Schema, exec.ProfileOptions{}))(t),
				testutil.Value(db.Profiled(ctx, now, now.Schema))(t),
			}
			for i, s := range seen {
				text := string(testutil.Value(json.Marshal(s))(t))
				if strings.Contains(text, test.canary) ||
					strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(hash))[:8]) {
					t.Errorf("%s, cut to %d: look %d shows %s", test.why, cut, i, text)
				}
			}
			if w := fmt.Sprint(db.Warnings()); strings.Count(w, "t.v") != 1 {
				t.Errorf("%s: the operator is told %s", test.why, w)
			}
		}
	}
}
