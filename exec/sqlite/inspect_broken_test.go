package sqlite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/trace"
)

func TestBrokenViewIsTold(t *testing.T) {
	const script = fixture + "CREATE VIEW lost AS SELECT a FROM gone; CREATE VIEW whole AS SELECT a FROM t"
	tests := []struct {
		name, script string
		policy       exec.Policy
		want         []trace.Warning
		why          string
	}{
		{"none", fixture + "CREATE VIEW whole AS SELECT a FROM t", exec.Policy{}, nil, "nothing is broken"},
		{
			"a view", script, exec.Policy{},
			[]trace.Warning{{Code: "broken-view", Message: "the view lost is left out of the schema, since SQLite cannot open it: no such table: main.gone"}},
			"a table was dropped",
		},
		{
			"under a policy", script, exec.Policy{DenyTables: []string{"users"}},
			[]trace.Warning{{Code: "broken-view", Message: "the view lost is left out of the schema, since SQLite cannot open it"}},
			"the reason may name what is denied",
		},
		{"denied itself", script, exec.Policy{DenyTables: []string{"lost"}}, nil, "its name is not told"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pool, _ := open(t, tt.script)
			db := newDB(t, pool, exec.Config{Policy: tt.policy})
			root := trace.New("test")
			s, err := db.Schema(trace.Into(t.Context(), root))
			if err != nil {
				t.Fatal(err)
			}
			var got []trace.Warning
			for _, w := range root.Warnings() {
				if w.Code != "sensitive-columns" {
					got = append(got, w)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
			if _, ok := s.Lookup("", "lost"); ok {
				t.Errorf("the schema has the view lost")
			}
		})
	}
}
