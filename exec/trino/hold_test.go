package trino_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/sqltext"
)

func TestLimits(t *testing.T) {
	for _, test := range []struct {
		why     string
		before  []string
		timeout time.Duration
		want    string
	}{
		{"nothing was set", nil, 30 * time.Second, "query_max_run_time=30000ms"},
		{"EXPLAIN counts, so no less than 5 s", nil, time.Second, "query_max_run_time=5000ms"},
		{"other properties stay, those of catalogs too", []string{"a=1", "hive.b=x%2Cy"}, 9 * time.Second, "a=1,hive.b=x%2Cy,query_max_run_time=9000ms"},
		{"several in one header", []string{"a=1,b=2"}, 9 * time.Second, "a=1,b=2,query_max_run_time=9000ms"},
		{"a lower limit stays", []string{"query_max_run_time=1.50s", "a=1"}, 9 * time.Second, "a=1,query_max_run_time=1500ms"},
		{"a higher one does not", []string{"query_max_run_time=100.00d"}, 9 * time.Second, "query_max_run_time=9000ms"},
		{"a limit in minutes", []string{"query_max_run_time=1m"}, time.Hour, "query_max_run_time=60000ms"},
		{"a limit that is none", []string{"query_max_run_time=soon"}, 9 * time.Second, "query_max_run_time=9000ms"},
		{"a limit below zero", []string{"query_max_run_time=-1s"}, 9 * time.Second, "query_max_run_time=9000ms"},
	} {
		if got := strings.Join(trino.Limits(test.before, test.timeout), ","); got != test.want {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
}

func TestHeadersOf(t *testing.T) {
	type header map[string][]string
	conn := &struct{ httpHeaders header }{header{"X-Trino-Catalog": {"a"}, "X-Trino-Session": {"b=1", "c=2"}}}
	got, ok := trino.HeadersOf(conn)
	if diff := cmp.Diff(map[string][]string(conn.httpHeaders), got); diff != "" || !ok {
		t.Errorf("%v, %s", ok, diff)
	}
	for why, c := range map[string]any{
		"nothing": nil, "no pointer": *conn, "no struct": new(int), "no such field": &struct{ headers header }{},
		"another type": &struct{ httpHeaders map[string]string }{},
	} {
		if got, ok := trino.HeadersOf(c); ok {
			t.Errorf("%s: %v", why, got)
		}
	}
}

func TestUnshifted(t *testing.T) {
	for before, want := range map[string]string{
		"line 1:46: Table 'a' does not exist": "line 1:15: Table 'a' does not exist", "line 2:46: x": "line 2:46: x",
		"no line 1:46": "no line 1:46", "line 1:3: x": "line 1:1: x",
	} {
		var moved *exec.InvalidError
		if !errors.As(trino.Unshifted(&exec.InvalidError{Message: before}), &moved) || moved.Message != want {
			t.Errorf("%s: %v", before, moved)
		}
	}
}

func TestBound(t *testing.T) {
	s := sqltext.Trino().Parse("SELECT '?' FROM t WHERE a = ? AND b = ? AND c = ? AND d = ? AND e = ?")
	want := "SELECT '?' FROM t WHERE a = 'it''s' AND b = -1 AND c = 1.5E+00 AND d = X'00FF' AND e = NULL"
	if got := trino.Bound(s, []any{"it's", int64(-1), 1.5, []byte{0, 255}, nil}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMentioned(t *testing.T) {
	for _, test := range []struct {
		policy exec.Policy
		want   string
	}{
		{exec.Policy{DenyTables: []string{"a", "s.B", `c.s."d.e'"`}}, " AND table_name IN ('a', 'b', 'd.e''')"},
		{exec.Policy{DenyColumns: []string{"x"}}, " AND column_name IN ('x')"},
		{exec.Policy{AllowTables: []string{"t"}, DenyColumns: []string{"u.x", "y"}}, " AND (table_name IN ('t', 'u') OR column_name IN ('y'))"},
	} {
		if got := trino.Mentioned(test.policy); got != test.want {
			t.Errorf("%+v: %s, want %s", test.policy, got, test.want)
		}
	}
}
