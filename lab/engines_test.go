package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/evaldata"
)

// loaded returns the flags of an engine, to whose server the databases are copied.
func loaded(t *testing.T, engine, dir string, only ...string) []string {
	t.Helper()
	flags, _, _ := dsn(t, engine)
	args := append([]string{"load", "--data", dir}, flags...)
	for _, id := range only {
		args = append(args, "--only", id)
	}
	if _, _, err := evaluate(t, nil, args...); err != nil {
		t.Fatal(err)
	}
	return flags
}

// Verbs say of copies on a server what they say of the file. These answers mean the same everywhere.
func TestOnServer(t *testing.T) {
	dir := data(t)
	write(t, filepath.Join(dir, "questions", "questions_spider_dev.jsonl.gz"), pack(
		`{"qid": 1, "db_id": "shop", "question": "How many customers are there?", "gold": "SELECT count(*) FROM customers"}`,
		`{"qid": 2, "db_id": "shop", "question": "Which customers live in the USA?", "gold": "SELECT name FROM customers WHERE country = 'USA'"}`,
		`{"qid": 3, "db_id": "shop", "question": "What are the names of the customers?", "gold": "SELECT name FROM customers"}`,
	))
	answers := filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz")
	for name, verb := range map[string][]string{
		"score": {"score", "--json", "--dataset", "spider_dev", "--predictions", answers, "--rounds", "10"},
		"votes": {"votes", "--json", "--pool", "spider_dev/all", "--voter", "result", "--voter", "consensus", "--rounds",
			"10"},
		"link":  {"link", "--json", "--dataset", "spider_dev", "--presql", "spider_dev/all"},
		"ask":   {"ask", "--json", "--pool", "spider_dev/all"},
		"joins": {"joins", "--json"},
		"run": {"run", "--json", "--dataset", "spider_dev", "--strategy", "direct", "--model", "pool:spider_dev/first",
			"--concurrency", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(verb, "--data", dir)
			out, _ := measured(t, nil, args...)
			want := objects(t, out)
			for _, engine := range engines {
				out, notes, err := evaluate(t, nil, append(args, loaded(t, engine, dir)...)...)
				if err != nil {
					t.Errorf("%s: %v\n%s", engine, err, notes)
					continue
				}
				// Prompts and times of engines differ.
				same := cmp.FilterPath(func(p cmp.Path) bool {
					at, ok := p.Last().(cmp.MapIndex)
					if !ok {
						return false
					}
					key := at.Key().String()
					return key == "contract" || strings.Contains(key, "tokens") || key == "sec" || strings.HasSuffix(key, "_s")
				}, cmp.Ignore())
				if diff := cmp.Diff(want, objects(t, out), same); diff != "" {
					t.Errorf("%s (-file +server)\n%s", engine, diff)
				}
			}
		})
	}
}

func TestOnServerErrors(t *testing.T) {
	dir := data(t)
	answers := filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz")
	score := []string{"score", "--data", dir, "--dataset", "spider_dev", "--predictions", answers}
	for _, test := range []struct {
		args []string
		want string
	}{
		{append(score, "--engine", "mysql"), "go together"},
		{append(score, "--dsn", "x"), "go together"},
		{append(score, "--engine", "mysql", "--dsn", "u:s3cret@nowhere"), "--dsn cannot be read"},
		{append(score, "--engine", "mysql", "--dsn", "u@tcp(127.0.0.1:1)/", "--suites", dir), "leave out --engine"},
		{[]string{"engines", "--data", dir}, "needs --engine"},
		{[]string{"run", "--data", dir, "--dataset", "spider_dev", "--strategy", "direct", "--model", "pool:spider_dev/all",
			"--mysql",
			"--engine", "postgres", "--dsn", "postgres://127.0.0.1:1/x"}, "--mysql is for SQLite files"},
	} {
		_, _, err := evaluate(t, nil, test.args...)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: %v, want %q", test.args, err, test.want)
		}
	}
}

// TestEngines: the guards let through what their engines run, and equal data makes equal votes. One statement of
// fifteen; the figures of all are with the measurements of the lab.
func TestEngines(t *testing.T) {
	dir := evaldata.Path(t)
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			flags := loaded(t, engine, dir)
			if engine == "mysql" {
				flags[3] += "?div_precision_increment=12" // averages of integers have four digits otherwise
			}
			sum := func(args ...string) (n, runs, accepted, compared, same float64) {
				t.Helper()
				out, _ := measured(t, nil, append(append([]string{"engines", "--json", "--list", "--data", dir}, args...),
					flags...)...)
				for _, o := range objects(t, out) {
					switch {
					case o["refused"] != nil:
						t.Logf("refused: %v: %v", o["refused"], o["sql"])
					case o["db"] == "all":
						n, runs, accepted = n+o["n"].(float64), runs+o["runs"].(float64), accepted+o["accepted"].(float64)
						compared, same = compared+o["compared"].(float64), same+o["same"].(float64)
					}
				}
				t.Logf("%v: %v statements, the engine runs %v, accepted %v; compared %v, same %v", args, n, runs, accepted,
					compared, same)
				return n, runs, accepted, compared, same
			}
			_, runs, accepted, _, _ := sum("--some", "15")
			if runs < 1000 || accepted < 0.998*runs { // of so few, three may be refused
				t.Errorf("the guard lets through %v of %v", accepted, runs)
			}
			// MariaDB has no CAST AS REAL, which eight golds write.
			n, runs, accepted, compared, same := sum("--golds", "--only", "superhero")
			if n != 70 || runs < 62 || accepted != runs || compared != runs || same < 0.95*compared {
				t.Errorf("golds about superheroes: of %v run %v, accepted %v, compared %v, same %v", n, runs, accepted, compared,
					same)
			}
		})
	}
}
