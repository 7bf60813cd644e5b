package main

import (
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
)

// TestJoins holds the figures of linker.Joins.Candidates on the databases of the evaluation data.
func TestJoins(t *testing.T) {
	out, _ := measured(t, nil, "joins", "--data", evaldata.Path(t), "--json")
	l := objects(t, out)[0]
	if l["pairs"] != 82.0 || l["unrelated"] != 207.0 || l["first"].(float64) < 77 || l["none"].(float64) > 3 ||
		l["false_joins"].(float64) > 4 {
		t.Errorf("%v; want at least 77 first, at most 3 none and 4 false joins of 82 and 207 pairs", l)
	}
}

func TestJoinsOfFolder(t *testing.T) {
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "db", "any", "shop.sqlite"),
		`CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
		CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES Customers(id), paid_by INTEGER REFERENCES customers(id));
		CREATE TABLE goods (id INTEGER PRIMARY KEY, part_of INTEGER REFERENCES goods(id), whose REFERENCES orders(id));
		CREATE TABLE moods (q INTEGER REFERENCES customers(id), goods_id BLOB);
		CREATE TABLE zzz (w BLOB)`)
	write(t, filepath.Join(dir, "questions", "questions_spider_dev.jsonl.gz"), pack())
	out, _, err := evaluate(t, nil, "joins", "--data", dir, "--json")
	// customers–orders is found; for goods–orders names say another pair, and for customers–moods none; of the rest, which
	// no key joins, goods–moods looks like one.
	if want := `{"pairs":3,"first":1,"none":1,"unrelated":7,"false_joins":1}` + "\n"; err != nil || out != want {
		t.Errorf("%s%v; want %s", out, err, want)
	}
	if out, _, err = evaluate(t, nil, "joins", "--data", dir); err != nil || len(out) == 0 {
		t.Errorf("the table: %q, %v", out, err)
	}
	if _, _, err = evaluate(t, nil, "joins", "--data", t.TempDir()); err == nil {
		t.Error("no database, and no error")
	}
}
