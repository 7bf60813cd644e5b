package exec_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// TestSensitive: columns that look like secrets by name or by value are not profiled or sampled, unless the policy reveals them.
func TestSensitive(t *testing.T) {
	const md5, bcrypt = "5f4dcc3b5aa765d61d8327deb882cf99", "$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW"
	for _, test := range []struct {
		why, column string
		values      []string
		sensitive   bool
	}{
		{"a password", "password", []string{"hunter2"}, true},
		{"in camel case", "userPassword", []string{"hunter2"}, true},
		{"without a mark between words", "userpassword", []string{"hunter2"}, true},
		{"its hash", "pwd_hash", []string{"x"}, true},
		{"a key of an API", "API_KEY", []string{"x"}, true},
		{"a token", "refreshToken", []string{"x"}, true},
		{"a card", "credit_card_number", []string{"x"}, true},
		{"a social security number", "SSN", []string{"x"}, true},
		{"when a password was changed", "password_changed_at", []string{"2026-01-01"}, false},
		{"whether there is one", "has_password", []string{"yes"}, false},
		{"a kind of card", "credit_card_type", []string{"visa"}, false},
		{"a secretary", "secretary", []string{"Ada"}, false},
		{"a key of a table", "key", []string{"K1"}, false},
		{"words of a text", "token", []string{"the", "of"}, false},
		{"a pin on a map", "pin", []string{"north"}, false},
		{"hashes by value", "h", []string{md5, "7c6a180b36896a0a8c02787eeafb0e4c"}, true},
		{"hashes of passwords by value", "h", []string{bcrypt}, true},
		{"keys by value", "note", []string{"sk-proj-abcdefgh12345678", "", "ghp_abcdefgh12345678"}, true},
		{"tokens by value", "note", []string{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"}, true},
		{"cards by value", "no", []string{"4111 1111 1111 1111", "5500-0000-0000-0004"}, true},
		{"cards by value, as numbers", "no", []string{"4111111111111111"}, true},
		{"one hash among texts", "note", []string{md5, "a", "b", "c"}, false},
		{"numbers of as many digits", "no", []string{"4111111111111112", "4111111111111113"}, false},
		{"numbers of books", "isbn", []string{"9780306406157", "9783161484100"}, false},
		{"identifiers", "id", []string{"0d5e3ee4-3b5c-4b4f-9b5a-0e6e2a3f7a10"}, false},
		{"names", "name", []string{"Ada", "Bob"}, false},
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
				want := test.sensitive && !reveal
				if c := profiled.Tables[0].Columns[1]; c.Sensitive != want || (c.Profile == nil) != want {
					t.Errorf("reveal %v: sensitive %v, profile %v", reveal, c.Sensitive, c.Profile)
				}
				if columns := 2; want && len(sample.Columns) != 1 || !want && (len(sample.Columns) != columns || len(sample.Rows[0]) != columns) {
					t.Errorf("reveal %v: the sample has the columns %v", reveal, sample.Columns)
				}
				named := s.Tables[0].Columns[1].Sensitive
				if warnings := root.Warnings(); named != (len(warnings) == 1 && warnings[0].Code == "sensitive-columns") {
					t.Errorf("reveal %v: warnings %v", reveal, warnings)
				}
				if again, err := db.Schema(ctx); err != nil || again != s || len(root.Warnings()) > 1 {
					t.Errorf("reveal %v: the second time: %v, %v", reveal, err, root.Warnings())
				}
			}
		})
	}
}

// TestSensitiveGiven: a schema that somebody gives is marked too, and stays as it is.
func TestSensitiveGiven(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a, password)", exec.Config{})
	given := &schema.Schema{Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "a"}, {Name: "password"}}}}}
	got, err := db.Permitted(t.Context(), given)
	if err != nil || !got.Tables[0].Columns[1].Sensitive || got.Tables[0].Columns[0].Sensitive || given.Tables[0].Columns[1].Sensitive ||
		got.Default != "main" || given.Default != "" {
		t.Errorf("%+v, %v; given %+v", got, err, given)
	}
	for _, columns := range [][]schema.Column{{{Name: "a"}}, {{Name: "password", Sensitive: true}}} {
		plain := &schema.Schema{Default: "main", Tables: []schema.Table{{Name: "t", Columns: columns}}}
		if got, err := db.Permitted(t.Context(), plain); got != plain || err != nil {
			t.Errorf("nothing to mark: %+v, %v", got, err)
		}
	}
}
