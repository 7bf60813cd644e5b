package exec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// TestSensitive: columns that look like secrets by name are denied, those by value are not profiled or sampled, unless the
// policy reveals them.
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
				root := trace.New("test")
				ctx := trace.Into(t.Context(), root)
				s, err := db.Schema(ctx)
				if err != nil {
					t.Fatal(err)
				}
				profiled, err := db.Profile(ctx, s, exec.ProfileOptions{})
				if err != nil {
					t.Fatal(err)
				}
				sample, err := db.Sample(ctx, s.Tables[0], exec.SampleOptions{Rows: 3})
				if err != nil {
					t.Fatal(err)
				}
				denied, held := test.secret == "name" && !reveal, test.secret == "value" && !reveal
				columns := profiled.Tables[0].Columns
				if (len(columns) == 1) != denied || !denied && (columns[1].Sensitive != held || (columns[1].Profile == nil) != held) {
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
				_, err = db.Query(ctx, "SELECT "+test.column+" FROM t")
				if errors.As(err, &refused) != denied || denied && (refused.Reason != exec.ReasonColumn || refused.Name != "") {
					t.Errorf("reveal %v: a statement that names it: %v", reveal, err)
				}
				refused = nil
				if _, err = db.Query(ctx, "SELECT * FROM t"); errors.As(err, &refused) != denied || denied && refused.Name != "*" {
					t.Errorf("reveal %v: a star: %v", reveal, err)
				}
				if warnings := root.Warnings(); denied != (len(warnings) == 1 && warnings[0].Code == "sensitive-columns") {
					t.Errorf("reveal %v: warnings %v", reveal, warnings)
				}
				if again, err := db.Schema(ctx); err != nil || again != s || len(root.Warnings()) > 1 {
					t.Errorf("reveal %v: the second time: %v, %v", reveal, err, root.Warnings())
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
	root := trace.New("test")
	ctx := trace.Into(t.Context(), root)
	got, err := db.Permitted(ctx, given)
	if err != nil || len(got.Tables[0].Columns) != 1 || got.Default != "main" || given.Default != "" || len(given.Tables[0].Columns) != 2 {
		t.Errorf("%+v, %v; given %+v", got, err, given)
	}
	for i, statement := range []string{"CREATE TABLE u(a)", "CREATE TABLE v(a, token)", "CREATE TABLE api(api_key TEXT)"} {
		if _, err := pool.Exec(statement); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Schema(ctx); err != nil || len(root.Warnings()) != max(1, i) {
			t.Errorf("after %s: %v, %v", statement, err, root.Warnings())
		}
	}
	if w := root.Warnings(); len(w) > 1 && !strings.Contains(w[1].Message, "api.api_key") {
		t.Errorf("the second warning is %v", w[1])
	}
	_, free := open(t, "CREATE TABLE t(a)", exec.Config{})
	plain := &schema.Schema{Default: "main", Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "a"}}}}}
	if got, err := free.Permitted(ctx, plain); got != plain || err != nil {
		t.Errorf("nothing to leave out: %+v, %v", got, err)
	}
}
