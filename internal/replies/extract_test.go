package replies_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// replyCase is one line of testdata/replies.jsonl: a reply, and either what is
// extracted from it or why nothing is.
type replyCase struct {
	Name    string   `json:"name"`
	Why     string   `json:"why"`
	Dialect string   `json:"dialect"`
	Reply   string   `json:"reply"`
	SQL     string   `json:"sql"`
	Step    string   `json:"step"`
	Notes   []string `json:"notes"`
	Reason  string   `json:"reason"`
}

func replyCases(t testing.TB) []replyCase {
	t.Helper()
	f := testutil.Value(os.Open("testdata/replies.jsonl"))(t)
	defer f.Close()
	var cases []replyCase
	for in := bufio.NewScanner(f); in.Scan(); {
		var c replyCase
		testutil.OK(t, json.Unmarshal(in.Bytes(), &c), "testdata/replies.jsonl:")
		cases = append(cases, c)
	}
	return cases
}

func (c replyCase) dialect() sqltext.Dialect {
	return map[string]sqltext.Dialect{
		"sqlite": sqltext.SQLite(), "postgres": sqltext.PostgreSQL(), "mysql": sqltext.MySQL(), "duckdb": sqltext.DuckDB(),
		"bigquery": sqltext.BigQuery(),
	}[c.Dialect]
}

func TestExtract(t *testing.T) {
	for _, c := range replyCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			got, err := replies.Extractor{Dialect: c.dialect()}.Extract(c.Reply)
			if c.Reason != "" {
				var reply *replies.Error
				if !errors.As(err, &reply) || reply.Reason != c.Reason {
					t.Fatalf("%s: got %+v, %v, want reason %s", c.Why, got, err, c.Reason)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.Why, err)
			}
			type found struct {
				SQL, Step string
				Notes     []string
			}
			golden.Equal(t, found{c.SQL, c.Step, c.Notes}, found{got.SQL(), got.Step, got.Notes}, c.Why)
		})
	}
}

// TestExtractEnded: where the provider says that the model was done, a statement
// that looks cut off is left to the engine.
func TestExtractEnded(t *testing.T) {
	valid := func(*sqltext.Statement) bool { return false } // what the engine says of SELECT id FROM order
	for _, c := range []struct {
		why, reply    string
		cut, complete string // the reason, or the statement
	}{
		{"a keyword for a name", "SELECT id FROM order", "truncated", "SELECT id FROM order"},
		{"the same in a fence", "```sql\nSELECT id FROM order\n```", "SELECT id FROM order", "SELECT id FROM order"},
		{"the same in a fence without an end", "```sql\nSELECT id FROM order", "truncated", "SELECT id FROM order"},
		{"half a name in a fence without an end", "```sql\nSELECT id FROM custom", "truncated", "SELECT id FROM custom"},
		{"the same with a semicolon", "```sql\nSELECT id FROM custom;", "SELECT id FROM custom", "SELECT id FROM custom"},
		{"nothing in a fence without an end", "Here it is:\n```sql\n", "truncated", "no-sql"},
		{"JSON without an end", `{"sql": "SELECT id FR`, "truncated", "broken-json"},
		{"an open bracket", "SELECT count(id FROM t WHERE (", "truncated", "SELECT count(id FROM t WHERE ("},
		{"an open string", "SELECT id FROM t WHERE a = 'x", "truncated", "refused"},
		{"reasoning without an end", "<think>SELECT id FROM order", "truncated", "truncated"},
		{"nothing odd", "SELECT id FROM t", "SELECT id FROM t", "SELECT id FROM t"},
	} {
		for _, ended := range []bool{false, true} {
			found, err := replies.Extractor{Valid: valid, Ended: ended}.Extract(c.reply)
			got := found.SQL()
			var reply *replies.Error
			if errors.As(err, &reply) {
				got = reply.Reason
			}
			want := c.cut
			if ended {
				want = c.complete
			}
			if got != want {
				t.Errorf("%s, ended %v: %q: got %q, want %q", c.why, ended, c.reply, got, want)
			}
		}
	}
}

func TestPasted(t *testing.T) {
	for _, tt := range []struct{ why, text, want string }{
		{"a statement", "SELECT a FROM t", "SELECT a FROM t"},
		{"blanks around it", "\n  SELECT a FROM t \n", "SELECT a FROM t"},
		{"a fence", "```sql\nSELECT a FROM t\n```", "SELECT a FROM t"},
		{"a fence without a language", "```\nSELECT a FROM t\n```\n", "SELECT a FROM t"},
		{"a fence and words: nobody pastes an answer", "Run:\n```\nSELECT a FROM t\n```", "Run:\n```\nSELECT a FROM t\n```"},
		{"two fences", "```\nSELECT a FROM t\n```\n```\nSELECT b FROM t\n```",
			"```\nSELECT a FROM t\n```\n```\nSELECT b FROM t\n```"},
		{"code in a line", "`SELECT a FROM t`", "SELECT a FROM t"},
		{"a quotation", "> SELECT a\n> FROM t", "SELECT a\nFROM t"},
		{"the prompt of psql", "shop=# SELECT a\nshop-# FROM t", "SELECT a\nFROM t"},
		{"entities", "SELECT a FROM t WHERE b &lt;= 2 AND c = &#39;x&#39;", "SELECT a FROM t WHERE b <= 2 AND c = 'x'"},
		{"an entity in a string is data", "SELECT a FROM t WHERE b = 'x &amp; y'", "SELECT a FROM t WHERE b = 'x &amp; y'"},
		{"a semicolon of another keyboard", "SELECT a FROM t；", "SELECT a FROM t;"},
		{"typographic quotes", "SELECT a FROM t WHERE b = “c” ;；SELECT", "SELECT a FROM t WHERE b = \"c\" ;;SELECT"},
		{"characters that nobody sees", "\ufeffSELECT\u00a0a FROM t", "SELECT a FROM t"},
		{"what is no query stays what it is, so that the guard refuses it", "```sql\nDROP TABLE t\n```", "DROP TABLE t"},
		{"two statements stay two", "SELECT a FROM t; DROP TABLE t", "SELECT a FROM t; DROP TABLE t"},
		{"words", "the name of all", "the name of all"},
		{"nothing", "", ""},
	} {
		if got := replies.Pasted(sqltext.SQLite(), tt.text); got != tt.want {
			t.Errorf("%s: %q became %q, want %q", tt.why, tt.text, got, tt.want)
		}
	}
}

func TestExtractPayloads(t *testing.T) {
	for _, p := range evaldata.Payloads(t) {
		if p.Engine != "prompt" || p.Where != "reply" {
			continue
		}
		t.Run(p.ID, func(t *testing.T) {
			got, err := replies.Extractor{}.Extract(p.Text)
			var reply *replies.Error
			switch {
			case err != nil && !errors.As(err, &reply):
				t.Errorf("%s: untyped error %v", p.Why, err)
			case p.Expect == "accept" && (err != nil || got.SQL() != p.Want):
				t.Errorf("%s: got %q, %v, want %q", p.Why, got.SQL(), err, p.Want)
			case p.Expect == "refuse" && err == nil:
				t.Errorf("%s: got %q", p.Why, got.SQL())
			}
		})
	}
}

// A reply gives a statement that passes the text check, or a reason.
func FuzzExtract(f *testing.F) {
	for _, c := range replyCases(f) {
		f.Add(c.Reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		for i, d := range []sqltext.Dialect{sqltext.SQLite(), sqltext.PostgreSQL(), sqltext.MySQL()} {
			x := replies.Extractor{Dialect: d}
			if i == 0 {
				x.Valid = func(s *sqltext.Statement) bool { return len(s.SQL())%2 == 0 } // an engine with whims
			}
			got, err := x.Extract(reply)
			if err != nil {
				var reason *replies.Error
				if !errors.As(err, &reason) || reason.Reason == "" || got.SQL() != "" {
					t.Fatalf("%q: %+v, %v", reply, got, err)
				}
				continue
			}
			if stmt, err := d.Check(got.SQL()); err != nil || stmt.SQL() != got.SQL() || got.Step == "" {
				t.Fatalf("%q gives %q, which the text check makes %q, %v", reply, got.SQL(), stmt.SQL(), err)
			}
		}
	})
}

// TestExtractValid: what the engine prepares tells where a statement ends, and what its marks mean.
func TestExtractValid(t *testing.T) {
	const count, two = "SELECT count(*) FROM t", "SELECT a, count(*)\nFROM t"
	const drops = "SELECT a FROM t"
	for _, c := range []struct{ why, reply, want string }{
		{"a sentence in the next line", count + "\nThis query counts all rows.", count},
		{"a sentence behind a full stop", "Запрос: " + count + ". Он считает всех.", count},
		{"an apostrophe in that sentence", "It's simple: " + count + ". That's it!", count},
		{"a full stop", count + ".", count},
		{"a heading", "### SQL\n" + count + "\n### Explanation\nIt counts", count},
		{"a list", count + "\n1. It counts\n2. It ends", count},
		{"YAML", "sql: " + count + "\nconfidence: 0.9", count},
		{"the end of a batch", "```sql\n" + count + " WHERE\nGO\n```", "not-valid"},
		{"the end of a batch of SQL*Plus", "```sql\n" + count + "\n/\n```", count},
		{"the mark of an end, and what the model went on with", count + "<|endoftext|>Human: another", count},
		{"a draft in a sentence",
			"My thoughts:\n" + drops + " lists.\nMy response:\n" + count, count},
		{"two statements and words between them are not a statement", drops + "\nThis one is better:\n" + count, "not-valid"},
		{"the rest of a statement with a mistake is not prose", drops + "\nWhere b = 1.", "not-valid"},
		{"nor is a join", drops + "\nJoin u ON u.id = t.x.", "not-valid"},
		{"nor is an alias in a line", drops + "\nTt WHERE b = 1", "not-valid"},
		{"a name behind a dot and a blank", drops + ". b WHERE c", "not-valid"},
		{"signs of printed text", count + " WHERE a ≥ −5 AND a ≠ 7", count + " WHERE a >= -5 AND a <> 7"},
		{"low quotes", "```sql\n" + count + " WHERE a = ‚x‘\n```", count + " WHERE a = 'x'"},
		{"signs in a string are data", count + " WHERE a = '≥\\_'", count + " WHERE a = '≥\\_'"},
		{"escapes of Markdown", "SELECT count(\\*) FROM t", count},
		{"blanks as entities", "SELECT&nbsp;count(*)&nbsp;FROM&nbsp;t", count},
		{"a call in elements", "<tool_call>\n<function=run_sql>\n<parameter=query>\n" + two + "\n</parameter>\n" +
			"</function>\n</tool_call>", two},
		{"a call with attributes", `<invoke name="run"><parameter name="sql">` + count + "</parameter></invoke>", count},
		{"a call with keys and values", "<tool_call>run\n<arg_key>sql</arg_key>\n<arg_value>" + count + "</arg_value>",
			count},
		{"the lines of a statement as a list", `{"sql": ["SELECT a, count(*)", "FROM t"]}`, two},
		{"one statement in a list", `{"sql": ["` + count + `"]}`, count},
		{"two statements in a list", `{"sql": ["` + count + `", "` + drops + `"]}`, "several-statements"},
		{"JSON in a JSON string", `"{\"sql\": \"` + count + `\"}"`, count},
		{"attributes of a block", "```sql {.numberLines}\n" + count + "\n```", count},
		{"JSON behind the language", "```json {\"sql\": \"" + count + "\"}\n```", count},
		{"code in a sentence", "You can use `" + count + "` for that.", count},
		{"code in two marks", "``" + count + "``", count},
		{"an argument of a command", "```bash\nsqlite3 shop.db \"" + count + ";\"\n```", count},
		{"a string that goes on is not its first part", "q = (\"SELECT a \"\n \"FROM t, u\")", "not-valid"},
		{"options", "Option 1:\n```sql\n" + count + "\n```\nOption 2:\n```sql\n" + drops + "\n```", count},
	} {
		valid := func(s *sqltext.Statement) bool { return s.SQL() == drops || s.SQL() == c.want }
		found, err := replies.Extractor{Valid: valid}.Extract(c.reply)
		got := found.SQL()
		var reply *replies.Error
		if errors.As(err, &reply) {
			got = reply.Reason
		} else if slices.Contains(found.Notes, "not-valid") {
			got = "not-valid"
		}
		if got != c.want {
			t.Errorf("%s: %q: got %q, want %q", c.why, c.reply, got, c.want)
		}
	}
}
