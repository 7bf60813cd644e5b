package pools_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/pools"
)

// dataFolder is a folder of evaluation data made by the test.
func dataFolder(t *testing.T, files map[string]string) *pools.Folder {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"questions", "predictions", "samples", "db/spider"} {
		testutil.OK(t, os.MkdirAll(filepath.Join(dir, sub), 0o700))
	}
	for name, content := range files {
		testutil.OK(t, os.Rename(write(t, filepath.Base(name), content), filepath.Join(dir, name)))
	}
	makeDatabase(t, filepath.Join(dir, "db", "spider"), "shop", "CREATE TABLE t (a, b)",
		"INSERT INTO t VALUES (1, 'x'), (2, 'y')")
	f := testutil.Value(pools.OpenFolder(dir))(t)
	return f
}

func TestPool(t *testing.T) {
	const questions = `{"qid": 1, "db_id": "shop", "question": "A", "gold": "SELECT a FROM t"}
{"qid": 2, "db_id": "shop", "question": "B", "gold": "SELECT b FROM t"}
{"qid": 3, "db_id": "gone", "question": "C", "gold": "SELECT 1"}
{"qid": 4, "db_id": "shop", "question": "D", "gold": "SELECT 2"}
`
	answer := func(run, qid, db, sample, sql string) string {
		return `{"run": "` + run + `", "qid": ` + qid + `, "db_id": "` + db + `", "sample": ` + sample + `, "sql": "` + sql +
			`"}` + "\n"
	}
	f := dataFolder(t, map[string]string{
		"questions/questions_spider_dev.jsonl.gz":      questions,
		"questions/questions_classicmodels.jsonl.gz":   questions,
		"questions/questions_bird_minidev_v2.jsonl.gz": questions,
		"predictions/preds_bird_minidev.jsonl.gz": answer("m_SQLite", "1", "shop", "null", "m1") +
			answer("m_mysql", "1", "shop", "null", "my") +
			answer("n_sqlite", "1", "shop", "null", "n1"),
		"predictions/preds_spider_dev.jsonl.gz": answer("x", "2", "shop", "null", "x2") + answer("x", "1", "shop", "null",
			"x1") +
			answer("y/z", "1", "shop", "null", "y1") + answer("x", "9", "shop", "null", "?") +
			answer("x", "3", "gone", "null", "x3") + answer("y/z", "4", "other", "null", "!"),
		"predictions/preds_classicmodels.jsonl.gz": answer("p_seed17", "1", "shop", "null", "17") +
			answer("p_seed7", "1", "shop", "null", "7") +
			answer("p_k0", "1", "shop", "null", "0") + answer("llama_base_k3_seed9", "1", "shop", "null", "l9") +
			answer("qwen_base_k3_seed1", "1", "shop", "null", "q1") + answer("llama_base_k3_seed8", "1", "shop", "null", "l8"),
		"samples/samples_spider_dev.jsonl.gz": answer("s", "1", "shop", "10", "ten") + answer("s", "1", "shop", "9", "nine") +
			answer("s", "1", "shop", "0", "zero"),
		"samples/samples_spider_dev100.jsonl.gz": answer("named", "2", "shop", `"b"`, "first") +
			answer("named", "2", "shop", `"a"`, "second"),
		"samples/samples_spider_other.jsonl.gz":    answer("far", "3", "gone", "0", "x"),
		"samples/samples_spider_dev.exec.jsonl.gz": answer("s", "1", "shop", "0", "not of the pool"),
	})
	for _, test := range []struct {
		why, name string
		want      map[string][]string // statements by question
		left      string
	}{
		{"every run, in file order, and what is left out counted", "spider_dev/all",
			map[string][]string{"1": {"x1", "y1"}, "2": {"x2"}},
			"answers to unknown questions: 1 (preds_spider_dev.jsonl.gz:4, question 9); " +
				"answers about another database than their question: 1 (preds_spider_dev.jsonl.gz:6, question 4 about shop, " +
				"not other); " +
				"questions without their database: 1 (gone); questions without an answer: 1"},
		{"one run, whose name has a slash", "spider_dev/y/z", map[string][]string{"1": {"y1"}},
			"answers about another database than their question: 1 (preds_spider_dev.jsonl.gz:6, question 4 about shop, " +
				"not other); questions without an answer: 3"},
		{"some runs", "spider_dev/y/z,x", map[string][]string{"1": {"x1", "y1"}, "2": {"x2"}},
			"answers to unknown questions: 1 (preds_spider_dev.jsonl.gz:4, question 9); " +
				"answers about another database than their question: 1 (preds_spider_dev.jsonl.gz:6, question 4 about shop, " +
				"not other); " +
				"questions without their database: 1 (gone); questions without an answer: 1"},
		{"the first run of the file", "spider_dev/all?first=1", map[string][]string{"1": {"x1"}, "2": {"x2"}},
			"answers to unknown questions: 1 (preds_spider_dev.jsonl.gz:4, question 9); questions without their database: " +
				"1 (gone); " +
				"questions without an answer: 1"},
		{"more runs than there are", "samples/s?first=9", map[string][]string{"1": {"zero", "nine", "ten"}},
			"questions without an answer: 3"},
		{"the runs on SQLite", "bird_minidev/all", map[string][]string{"1": {"m1", "n1"}}, "questions without an answer: 3"},
		{"one of them", "bird_minidev/n_sqlite", map[string][]string{"1": {"n1"}}, "questions without an answer: 3"},
		{"by seed as a number", "classicmodels/p", map[string][]string{"1": {"7", "17"}}, "questions without an answer: 3"},
		{"a run without seeds", "classicmodels/p_k0", map[string][]string{"1": {"0"}}, "questions without an answer: 3"},
		{"two models in file order", "classicmodels/base_k3", map[string][]string{"1": {"l9", "q1", "l8"}},
			"questions without an answer: 3"},
		{"by sample as a number", "samples/s", map[string][]string{"1": {"zero", "nine", "ten"}},
			"questions without an answer: 3"},
		{
			"samples with names stay in file order, in another file", "samples/named",
			map[string][]string{"2": {"first", "second"}},
			"questions without an answer: 3",
		},
	} {
		t.Run(test.why, func(t *testing.T) {
			p := testutil.Value(f.Pool(test.name))(t)
			got := map[string][]string{}
			for i, q := range p.Questions {
				for _, a := range p.Answers[i] {
					got[q.ID] = append(got[q.ID], a.SQL)
				}
			}
			golden.Equal(t, test.want, got, "answers")
			left := strings.ReplaceAll(p.LeftOut.String(), f.Path("predictions")+string(filepath.Separator), "")
			golden.Equal(t, test.left, left, "left out")
		})
	}

	for _, name := range []string{
		"", "all", "spider_dev", "nowhere/x", "spider_dev/none", "bird_minidev/m_mysql", "samples/none",
		"classicmodels/p_seed",
		"spider_dev/all?first=0", "spider_dev/all?first=", "spider_dev/all?first=x", "nowhere/x?first=1",
		"spider_dev/none?first=1",
		"spider_dev/x,none", "bird_minidev/n_sqlite,m_mysql", // without the second run they would be other pools
	} {
		var unknown *pools.UnknownPoolError
		if _, err := f.Pool(name); !errors.As(err, &unknown) || unknown.Name != name {
			t.Errorf("pool %q: %v, want *UnknownPoolError", name, err)
		}
	}
	_, err := f.Pool("samples/far")
	const want = "pools: pool samples/far: questions without their database: 1 (gone); questions without an answer: 3"
	if err == nil || err.Error() != want {
		t.Errorf("a pool without a database: %v, want %s", err, want)
	}
}

// TestPoolsOfOtherNames: a folder may hold other datasets than the reference ones.
func TestPoolsOfOtherNames(t *testing.T) {
	const question = `{"qid": 1, "db_id": "shop", "question": "A", "gold": "SELECT a FROM t"}`
	f := dataFolder(t, map[string]string{
		"questions/questions_mine.jsonl.gz":      question,
		"questions/questions_mine_more.jsonl.gz": strings.Replace(question, "1", "2", 1),
		"predictions/preds_mine.jsonl.gz":        `{"run": "a,b", "qid": 1, "sql": "x"}`,
		"samples/samples_mine_k8.jsonl.gz":       `{"run": "s", "qid": 1, "sql": "x"}`,
		"samples/samples_mine_more_k8.jsonl.gz":  `{"run": "m", "qid": 2, "sql": "x"}`,
	})
	for pool, dataset := range map[string]string{"mine/all": "mine", "mine/a,b": "mine", "samples/s": "mine",
		"samples/m": "mine_more"} {
		if p, err := f.Pool(pool); err != nil || p.Dataset.Name != dataset || len(p.Questions) != 1 {
			t.Errorf("pool %s: %+v, %v, want one of %s", pool, p, err, dataset)
		}
	}
	var file *fileerr.Questions
	if _, err := f.Pool("mine_more/all"); !errors.As(err, &file) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dataset without answers: %v", err)
	}
}

// TestPoolBesideDamage: a file that cannot be read costs the pools in it, not
// those in other files.
func TestPoolBesideDamage(t *testing.T) {
	f := dataFolder(t, map[string]string{
		"questions/questions_spider_dev.jsonl.gz": `{"qid": 1, "db_id": "shop", "question": "A", "gold": "SELECT a FROM t"}`,
		"samples/samples_bird_dev.jsonl.gz":       `{"run": "b", "qid": 1, "sql": "of a dataset that is not there"}`,
		"samples/samples_spider_dev.jsonl.gz": `{"run": "s", "qid": 1, "sql": "x"}` + "\n" +
			`{"run": "t", "qid": 1, "sql": "x"}` + "\n{",
		"samples/samples_spider_dev_more.jsonl.gz": `{"run": "u", "qid": 1, "sql": "x"}`,
	})
	if p, err := f.Pool("samples/u"); err != nil || len(p.Questions) != 1 {
		t.Errorf("a pool in a sound file: %v, %v", p, err)
	}
	for _, pool := range []string{"samples/s", "samples/t"} {
		_, err := f.Pool(pool)
		var file *fileerr.Questions
		if !errors.As(err, &file) || file.Line != 3 || file.File != f.Path("samples", "samples_spider_dev.jsonl.gz") {
			t.Errorf("pool %s: %v, want what is wrong with its file", pool, err)
		}
	}
	if _, err := f.Pool("samples/nobody"); err == nil || !strings.Contains(err.Error(), `there is no dataset "bird_dev"`) {
		t.Errorf("a pool that may be in a file that cannot be read: %v", err)
	}
}

func TestFolder(t *testing.T) {
	if _, err := pools.OpenFolder(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	f := dataFolder(t, map[string]string{"questions/questions_b.jsonl.gz": `{"nlq": "A", "sql": "B"}`,
		"questions/questions_a.csv": "nlq,sql\nA,B\n"})
	golden.Equal(t, []string{"a", "b"}, f.Datasets(), "datasets")
	for _, name := range f.Datasets() {
		if d, err := f.Dataset(name); err != nil || d.Name != name || len(d.Questions) != 1 {
			t.Errorf("dataset %s: %+v, %v", name, d, err)
		}
	}
	if _, err := f.Dataset("c"); err == nil || !strings.HasSuffix(err.Error(), "there are a, b") {
		t.Errorf("dataset c: %v", err)
	}
	if path, err := f.Database("shop"); err != nil || path != f.Path("db", "spider", "shop.sqlite") {
		t.Errorf("database shop: %s, %v", path, err)
	}
	for _, id := range []string{"", "none", "../shop", "spider/shop", "..", "/etc/passwd"} {
		var missing *eval.DatabaseError
		if path, err := f.Database(id); !errors.As(err, &missing) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("database %q: %s, %v", id, path, err)
		}
	}

	nested := filepath.Join(t.TempDir(), "shop")
	testutil.OK(t, os.Mkdir(nested, 0o700))
	makeDatabase(t, nested, "shop", "CREATE TABLE t (a)")
	if path, err := pools.DatabaseIn(filepath.Dir(nested), "shop"); err != nil ||
		path != filepath.Join(nested, "shop.sqlite") {
		t.Errorf("a database in a folder of its own: %s, %v", path, err)
	}
}

// TestUnreadableFolder: what cannot be looked at may be there, so it is not told
// of as missing. A link to itself is what nobody can read, the superuser included.
func TestUnreadableFolder(t *testing.T) {
	f := dataFolder(t, map[string]string{
		"questions/questions_a.jsonl": `{"nlq": "A", "sql": "B"}`,
		"db/README.md":                "no folder of databases",
	})
	loop := func(path string) string {
		t.Helper()
		testutil.OK(t, errors.Join(os.RemoveAll(path), os.Symlink(filepath.Base(path), path)))
		return path
	}
	for _, id := range []string{"none", strings.Repeat("x", 300), "a\x00b"} {
		if _, err := f.Database(id); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("database %.10q: %v, want none, since no such file can be there", id, err)
		}
	}
	broken := loop(f.Path("db", "bird"))
	var fault *eval.DatabaseError
	if _, err := f.Database("none"); !errors.As(err, &fault) || errors.Is(err, os.ErrNotExist) ||
		!strings.HasPrefix(fault.Path, broken) {
		t.Errorf("a database that may be in a folder that cannot be read: %v", err)
	}
	if path, err := f.Database("shop"); err != nil {
		t.Errorf("a database beside it: %s, %v", path, err)
	}
	loop(f.Path("db"))
	if _, err := f.Database("shop"); err == nil || errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), f.Path("db")) {
		t.Errorf("no folder of databases can be read: %v", err)
	}

	questions := loop(f.Path("questions"))
	if _, err := f.Dataset("a"); err == nil || !strings.Contains(err.Error(), questions) ||
		strings.Contains(err.Error(), "there is no") {
		t.Errorf("the questions cannot be read: %v", err)
	}
	testutil.OK(t, errors.Join(os.Remove(questions), os.Mkdir(questions, 0o700)))
	if _, err := f.Dataset("a"); err == nil || !strings.HasSuffix(err.Error(), "there are none") {
		t.Errorf("an empty folder of questions: %v", err)
	}
}
