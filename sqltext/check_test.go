package sqltext_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

func TestCheck(t *testing.T) {
	lite, pg, my, duck, big := sqltext.SQLite(), sqltext.PostgreSQL(), sqltext.MySQL(), sqltext.DuckDB(),
		sqltext.BigQuery()
	deep := func(n int) string { return "SELECT " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	tests := []struct {
		name, why string
		d         sqltext.Dialect
		sql       string
		want      string // accepted
		rule      string // or refused
		writes    bool
	}{
		{"plain", "unchanged", lite, "SELECT a  FROM t", "SELECT a  FROM t", "", false},
		{"surroundings", "cut off", lite, "\ufeff -- a\n/* b */ SELECT a -- c\n; ; -- d\n", "SELECT a", "", false},
		{"inner comment", "kept", lite, "SELECT a -- c\nFROM t", "SELECT a -- c\nFROM t", "", false},
		{"leading semicolon", "nothing before it", lite, "; SELECT 1", "SELECT 1", "", false},
		{
			"longest", "at the limit", lite, "SELECT '" + strings.Repeat("x", sqlshape.MaxStatement-9) + "'",
			"SELECT '" + strings.Repeat("x", sqlshape.MaxStatement-9) + "'", "", false,
		},
		{"deepest", "at the limit", lite, deep(200), deep(200), "", false},
		{"flat", "depth is no count", lite, "SELECT " + strings.Repeat("(1),", 500) + "1", "SELECT " +
			strings.Repeat("(1),", 500) + "1", "", false},
		{"with", "leads to a query", lite, "WITH a(x) AS (SELECT 1), b AS (SELECT 2) SELECT 1",
			"WITH a(x) AS (SELECT 1), b AS (SELECT 2) SELECT 1", "", false},
		{
			"with replace", "replace may be a name", lite, "WITH replace AS (SELECT 1), x AS (SELECT 2) SELECT * FROM replace",
			"WITH replace AS (SELECT 1), x AS (SELECT 2) SELECT * FROM replace", "", false,
		},
		{"with query in brackets", "a bracket behind the list", pg, "WITH a AS (SELECT 1) (SELECT 2)",
			"WITH a AS (SELECT 1) (SELECT 2)", "", false},
		{"bracket", "where the dialect has it", pg, "((SELECT 1)) UNION SELECT 2", "((SELECT 1)) UNION SELECT 2", "", false},
		{"from first", "where the dialect has it", duck, "FROM t", "FROM t", "", false},
		{"describe", "where the dialect has it", duck, "describe t", "describe t", "", false},
		{"summarize", "where the dialect has it", duck, "SUMMARIZE SELECT a FROM t", "SUMMARIZE SELECT a FROM t", "", false},
		{"summarize elsewhere", "no engine but DuckDB has it", lite, "SUMMARIZE t", "", "not-a-query", false},
		{"pipes", "GoogleSQL starts with FROM, too", big, "FROM d.t |> SELECT a", "FROM d.t |> SELECT a", "", false},
		{"Trino", "a bracket, a colon and another catalog", sqltext.Trino(),
			`(SELECT json_object('a' : "B") FROM memory.d.t)`,
			`(SELECT json_object('a' : "B") FROM memory.d.t)`, "", false},
		{"question mark operator", "no placeholder in PostgreSQL", pg, "SELECT a ? 'b' FROM t", "SELECT a ? 'b' FROM t", "",
			false},

		{"too long", "over the limit", lite, "SELECT '" + strings.Repeat("x", sqlshape.MaxStatement) + "'", "", "too-long",
			false},
		{"not UTF-8", "parsers disagree on it", lite, "SELECT '\xff'", "", "not-utf8", false},
		{"NUL", "the driver would stop there", lite, "SELECT 1\x00", "", "nul", false},
		{"string", "no end", lite, "SELECT 'a", "", "unterminated", false},
		{"comment", "no end", lite, "SELECT 1 /* a", "", "unterminated", false},
		{"override", "what is shown is not what runs", lite, "SELECT a \u202e FROM t", "", "invisible", false},
		{"override in a comment", "shown, too", lite, "SELECT a -- \u2066\nFROM t", "", "invisible", false},
		{"override in a comment that may be code", "shown, too", my, "SELECT a /* \u2066 */ FROM t", "", "invisible", false},
		{"zero-width space", "part of a name", lite, "SELECT a\u200b FROM t", "", "invisible", false},
		{
			"invisible in quotes", "part of a value or name", lite,
			"SELECT '\u200b\u202e', \"a\u200b\", [b\u200b], `c\u2066` FROM t",
			"SELECT '\u200b\u202e', \"a\u200b\", [b\u200b], `c\u2066` FROM t", "", false,
		},
		{"odd blank", "the engine's affair", lite, "SELECT a\u00a0b FROM t", "SELECT a\u00a0b FROM t", "", false},
		{"too deep", "over the limit", lite, deep(200 + 1), "", "depth", false},
		{"too deep, unclosed", "no parser sees it", lite, "SELECT " + strings.Repeat("(", 90_000), "", "depth", false},
		{"too deep, arrays", "brackets of every kind", pg, "SELECT " + strings.Repeat("[(", 101), "", "depth", false},
		{"too deep, wrong closers", "they close nothing", pg, "SELECT " + strings.Repeat("(]", 201), "", "depth", false},
		{"empty", "nothing", lite, "", "", "empty", false},
		{"blank", "comments and semicolons", lite, " ; -- a\n;;", "", "empty", false},
		{"two", "two reads", lite, "SELECT 1; SELECT 2", "", "several-statements", false},
		{"two, one writes", "the second", lite, "SELECT 1; ; drop TABLE t", "", "several-statements", true},
		{"two, prose", "not even a statement", lite, "SELECT 1; and update it", "", "several-statements", false},
		{"write first", "then a read", lite, "DELETE FROM t; SELECT 1", "", "several-statements", true},
		{"insert", "a write", lite, "insert into t values (1)", "", "not-read-only", true},
		{"pragma", "state of the connection", lite, "PRAGMA query_only=0", "", "not-read-only", true},
		{"bracketed write", "behind the bracket", pg, "(DELETE FROM t)", "", "not-read-only", true},
		{"with delete", "WITH leads to it", lite, "WITH a AS (SELECT 1) DELETE FROM t", "", "not-read-only", true},
		{
			"with columns, update", "WITH leads to it", lite,
			"WITH RECURSIVE a(x, y) AS (SELECT 1, 2), b AS MATERIALIZED (SELECT 1) update t SET a = 1", "",
			"not-read-only", true,
		},
		{"explain", "not an answer", lite, "EXPLAIN SELECT 1", "", "not-a-query", false},
		{"prose", "not SQL", lite, "Here is the query", "", "not-a-query", false},
		{"dot command", "not SQL", lite, ".shell id", "", "not-a-query", false},
		{"bracket, SQLite", "not in the dialect", lite, "(SELECT 1)", "", "not-a-query", false},
		{"from first, SQLite", "not in the dialect", lite, "FROM t", "", "not-a-query", false},
		{"table", "SELECT * FROM users", pg, "TABLE users", "TABLE users", "", false},
		{"table, MariaDB", "not in the dialect", my, "TABLE users", "", "not-a-query", false},
		{"quoted word", "a name", lite, `"SELECT" 1`, "", "not-a-query", false},
		{"brackets alone", "no word", pg, "((", "", "not-a-query", false},
		{"placeholder", "nobody binds it", lite, "SELECT ?", "", "placeholder", false},
		{"placeholder, PostgreSQL", "nobody binds it", pg, "SELECT $1", "", "placeholder", false},
		{"user variable", "state of the connection", my, "SELECT @a", "", "placeholder", false},
		{"two minus signs", "a comment once the one behind them is cut", my, "SELECT 1 --#", "", "unterminated", false},
		{"executable comment", "code", my, "SELECT 1 /*!50000 + 1 */", "", "executable-comment", false},
		{"executable comment, MariaDB", "code", my, "/*M! DROP TABLE t */", "", "executable-comment", false},
		{"hint", "overrides the time-out", my, "SELECT /*+ MAX_EXECUTION_TIME(0) */ 1", "", "executable-comment", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.d.Check(tt.sql)
			if tt.rule == "" {
				if err != nil || got.SQL() != tt.want || !got.Checked() {
					t.Errorf("%s: got %q, %v", tt.why, got.SQL(), err)
				}
				return
			}
			var refused *sqltext.RefusedError
			if !errors.As(err, &refused) || refused.Reason != tt.rule || refused.Writes != tt.writes || got != nil {
				t.Errorf("%s: got %q, %#v, want rule %s, writes %v", tt.why, got.SQL(), err, tt.rule, tt.writes)
			}
		})
	}
}

// The time per byte must not grow with the text, whatever it holds. Each text
// is aimed at one loop that looks back or ahead; with a quadratic one a call
// takes several seconds instead of some milliseconds.
func TestLinear(t *testing.T) {
	const size = 1 << 17
	for _, unit := range []string{
		"/**/", ";", "(", "'", "$", "$a", "$$", "E'a'\n", "E'a' --\n", "[", "a.", "a,", "a a,", "IN (\"a\",",
		"CASE a WHEN 1 THEN ",
		"SELECT ", "FROM f(", "(SELECT a.b FROM t,", "AND a.b=1 ", "`", "```", "~~~", ":\nSELECT a\n\n", "<think>", "{",
	} {
		text := "SELECT " + strings.Repeat(unit, size/len(unit))
		reply := text[:32768]
		for _, d := range []sqltext.Dialect{sqltext.SQLite(), sqltext.PostgreSQL()} {
			best := time.Hour // other tests of the process may run beside it
			for again := 0; best > 5*time.Second && again < 3; again++ {
				start := cpuTime()
				for range d.Tokens(text) {
				}
				_, _ = d.Check(text[:sqlshape.MaxStatement])
				d.Parse(text).Template()
				d.Parse(text).Outline()
				d.Parse(text).Comparisons()
				_, _ = replies.Extractor{Dialect: d}.Extract(reply)
				best = min(best, cpuTime()-start)
			}
			if best > 5*time.Second {
				t.Errorf("%q repeated: %v for %d bytes", unit, best, len(text))
			}
		}
	}
}

// TestHeadDescribes: where DESCRIBE and SUMMARIZE are queries, they are so in capitals only: both begin sentences too.
func TestHeadDescribes(t *testing.T) {
	for _, tc := range []struct {
		d          sqltext.Dialect
		text, want string
	}{
		{sqltext.DuckDB(), "SUMMARIZE t", "query"},
		{sqltext.DuckDB(), "DESCRIBE SELECT a FROM t", "query"},
		{sqltext.DuckDB(), "Summarize the sales of each month", ""},
		{sqltext.SQLite(), "DESCRIBE t", "other"},
		{sqltext.SQLite(), "SUMMARIZE t", ""},
	} {
		if got := tc.d.Head(tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.text, got, tc.want)
		}
	}
}
