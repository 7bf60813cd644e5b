package texttosql

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
)

// TestForeign: what is told of drivers by their import path, of those too whose dialect is a module of its own.
func TestForeign(t *testing.T) {
	for _, tt := range []struct{ path, want, why string }{
		{"github.com/jackc/pgx/v5/stdlib", "PostgreSQL, whose dialect was not given; import github.com/", "version 5"},
		{"github.com/jackc/pgx/v4/stdlib", "exec/postgres", "and others"},
		{"github.com/lib/pq", "exec/postgres", "whose guard then says that it needs pgx"},
		{"github.com/go-sql-driver/mysql", "MySQL and MariaDB, whose dialect was not given; import github.com/",
			"one driver for both"},
		{"github.com/duckdb/duckdb-go/v2", "import github.com/texttosql/texttosql/exec/duckdb and give New",
			"the present name"},
		{"github.com/texttosql/texttosql/exec/bigquery", "import github.com/texttosql/texttosql/exec/bigquery and give New",
			"a pool of bigquery.Open"},
		{"github.com/marcboeker/go-duckdb", "DuckDB", "the name before"},
		{"github.com/trinodb/trino-go-client/trino", "exec/trino and give New texttosql.WithDialect(trino.Dialect{})",
			"a cluster"},
		{"github.com/viant/bigquery", "BigQuery", "a service"},
		{"example.com/mysql", "is not known; a wrapped driver", "not that one"},
		{"", "the driver x.T is not known; a wrapped driver needs the second argument of texttosql.WithDialect",
			"a type without a package"},
	} {
		if err := foreignType(tt.path, "x.T"); !errors.As(err, new(*exec.UnguardedError)) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q: %s", tt.path, err, tt.want, tt.why)
		}
	}
}

// TestRemarksWhen: the statement of a remark runs in the first half of the time.
func TestRemarksWhen(t *testing.T) {
	began := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	for _, tt := range []struct {
		why       string
		now, ends time.Time
		late      bool
	}{
		{"no limit", at(1000), time.Time{}, false},
		{"in the first half", at(4), at(10), false},
		{"in the second half", at(6), at(10), true},
		{"after the end", at(11), at(10), true},
	} {
		if got := isLate(began, tt.now, tt.ends); got != tt.late {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}

// TestSeenScopes: a key stands for one set of parameters and settings.
func TestSeenScopes(t *testing.T) {
	params, settings := map[string]any{"tenant": 1}, map[string]string{"app.tenant": "1", "app.user": "ann"}
	for _, tt := range []struct {
		why     string
		scope   exec.Scope
		matches bool
	}{
		{"the same", exec.Scope{Params: params, Settings: settings}, true},
		{"the same, in another order of making", exec.Scope{Params: params,
			Settings: map[string]string{"app.user": "ann", "app.tenant": "1"}}, true},
		{"other parameters", exec.Scope{Params: map[string]any{"tenant": 2}, Settings: settings}, false},
		{"another value of a setting", exec.Scope{Params: params,
			Settings: map[string]string{"app.tenant": "2", "app.user": "ann"}}, false},
		{"a setting less", exec.Scope{Params: params, Settings: map[string]string{"app.tenant": "1"}}, false},
		{"no settings", exec.Scope{Params: params}, false},
		{"values that changed places", exec.Scope{Params: params,
			Settings: map[string]string{"app.tenant": "ann", "app.user": "1"}}, false},
	} {
		var seen seenScopes
		if !seen.matches(exec.Scope{Key: "k", Params: params, Settings: settings}) {
			t.Error("a key that was never seen is refused")
		}
		if tt.scope.Key = "k"; seen.matches(tt.scope) != tt.matches {
			t.Errorf("%s: %v, want %v", tt.why, !tt.matches, tt.matches)
		}
	}
	if none := (&seenScopes{}); !none.matches(exec.Scope{Key: "k"}) ||
		!none.matches(exec.Scope{Key: "k", Settings: map[string]string{}}) {
		t.Error("no settings and an empty list of them are two scopes")
	}
}
