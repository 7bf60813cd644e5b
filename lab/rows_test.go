package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// TestRows: statements give under rules what they give on the copy, and the counts say so.
func TestRows(t *testing.T) {
	dir := data(t)
	out, _, err := evaluate(t, nil, "rows", "--json", "--list", "--data", dir)
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, out)[len(objects(t, out))-1]
	if all["db"] != "all" || all["n"] != 9.0 || all["accepted"] != 7.0 || all["with_rules"] != 7.0 || all["same"] != 7.0 ||
		all["differ"] != 0.0 ||
		all["order_differs"] != 0.0 || all["golds"] == 0.0 {
		t.Errorf("%v", all)
	}
	out, _, err = evaluate(t, nil, "rows", "--generated", "40", "--data", dir)
	if err != nil || !strings.Contains(out, "\nall") || strings.Contains(out, "differ: ") {
		t.Errorf("generated statements: %v\n%s", err, out)
	}
	if out, _, err = evaluate(t, nil, "rows", "--cost", "--data", dir); err != nil || !strings.Contains(out, "\nshop") {
		t.Errorf("costs: %v\n%s", err, out)
	}
}

// broken is a dialect whose splices let every row through.
type broken struct{ sqlite.Dialect }

func (b broken) Rules() guard.RewriteRules {
	s := b.Dialect.Rules()
	s.Fence = "SELECT * FROM (%s LIMIT -1) WHERE 0 UNION ALL %s" // the second one is the table without its rule
	return s
}

// TestRowsFindsFaults: what a broken splicer lets through differs.
func TestRowsFindsFaults(t *testing.T) {
	v := &rowsVerb{}
	b, err := v.base(t.Context(), "shop", filepath.Join(data(t), "db", "spider", "shop.sqlite"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	policy := b.ruled.Policy()
	policy.Fence = "always"
	for want, dialect := range map[string]exec.Dialect{"same": sqlite.Dialect{}, "differ": broken{}} {
		ruled, err := exec.New(b.pools[0], dialect, exec.Config{Policy: policy})
		if err == nil {
			ruled, err = ruled.For(b.ruled.Scope(), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		left, _ := b.copied.Runner(within)
		right, _ := ruled.Runner(within)
		for _, text := range []string{"SELECT name FROM customers", "SELECT count(*) FROM customers",
			"SELECT a.id FROM customers a LEFT JOIN customers b USING (id)"} {
			if o := b.try(t.Context(), left, right, text); o.Was != want {
				t.Errorf("%s: %+v, want %s", text, o, want)
			}
		}
		left.Close()
		right.Close()
	}
}

// TestRowsFindsOrders: rows in another order differ, and the rules give the same on both sides.
func TestRowsFindsOrders(t *testing.T) {
	v := &rowsVerb{}
	b, err := v.base(t.Context(), "shop", filepath.Join(data(t), "db", "spider", "shop.sqlite"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	for _, test := range []struct {
		why         string
		here, there *exec.DB
		want        bool
	}{
		{"without rules a plan decides, and the second one reads backwards", b.copied, b.variants[0], true},
		{"with rules no plan decides", b.ruled, b.twin, false},
	} {
		here, _ := test.here.Runner(within)
		there, _ := test.there.Runner(within)
		o := outcome{SQL: "SELECT name FROM customers", Was: "same"}
		if o.compareOrder(t.Context(), here, there); o.OrderDiffers != test.want {
			t.Errorf("%s: %+v", test.why, o)
		}
		here.Close()
		there.Close()
	}
}
