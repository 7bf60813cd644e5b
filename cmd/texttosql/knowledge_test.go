package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	facts "github.com/texttosql/texttosql/knowledge"
)

const claimed = `{"tables": [{"name": "customers", "keys": [["id"], ["country"]]}, {"name": "orders"}],
 "relationships": [{"from": "orders", "to": "customers", "on": [["customer_id", "id"]]}],
 "metrics": [{"name": "orders", "expr": "COUNT(orders.*)"}%s]}`

// TestKnowledgeCheck: 0 where all holds, 1 where a key or a metric does not, 2 for a file that is none.
func TestKnowledgeCheck(t *testing.T) {
	env := map[string]string{"TEXTTOSQL_DSN": shopFile(t)}
	sound := strings.NewReplacer(`, ["country"]`, "", "%s", "").Replace(claimed)
	faulty := strings.Replace(claimed, "%s", `, {"name": "nothing", "expr": "SUM(orders.nothing)"}`, 1)
	for _, test := range []struct {
		why, file, out string
		flags          []string
		code           int
	}{
		{"all of it holds", sound, "", nil, exitAnswer},
		{"a key and a metric", faulty, "key customers: country is not a key: 40 rows,", nil, exitError},
		{"as JSON", faulty, `{"kind":"key","name":"customers","detail":"country is not a key`, []string{"--json"}, exitError},
		{"YAML", "tables:\n- name: customers\n  keys: [[id]]\n", "", nil, exitAnswer},
		{"a key that the form does not have", `{"metric": []}`, "", nil, exitUsage},
		{"no file of the format", sound, "", []string{"--format", "dbt"}, exitUsage},
		{"no such format", sound, "", []string{"--format", "cube"}, exitUsage},
		{"neither JSON nor YAML", "{", "", nil, exitUsage},
	} {
		code, out, told := try(t, env, "", append([]string{"knowledge", "check", file(t, "model", test.file)},
			test.flags...)...)
		if code != test.code || !strings.Contains(out, test.out) || test.out == "" && out != "" {
			t.Errorf("%s: code %d, %s%s", test.why, code, out, told)
		}
	}
	if code, _, told := try(t, env, "", "knowledge", "check", "nowhere.json"); code != exitUsage ||
		!strings.Contains(told, "nowhere.json") {
		t.Errorf("no file: code %d, %s", code, told)
	}
}

// TestKnowledgeImport: a file is read by its own keys, and what was lost is told apart from the model.
func TestKnowledgeImport(t *testing.T) {
	for why, text := range map[string]string{
		"dbt": `{"semantic_models": [{"name": "a"}], "metrics": [{"name": "m", "type": "cumulative"}], "saved_queries": [{"name": "s"}]}`,
		"ossie": "semantic_model:\n- name: x\n  datasets: [{name: a, source: a}]\n" +
			"  metrics: [{name: m, expression: {dialects: [{dialect: A, expression: SUM(b.x)}]}}]\n",
		"snowflake": `{"tables": [{"name": "a", "base_table": {"table": "a"}, "metrics": [{"name": "m", "expr": "SUM("}]}]}`,
		"wren":      `{"models": [{"name": "a"}], "cubes": [{"name": "c", "baseObject": "b", "measures": [{"name": "m", "expression": "SUM(x)"}]}]}`,
		"own":       `{"tables": [{"name": "a"}], "metrics": [{"name": "m", "expr": "", "unsupported": "no reason"}]}`,
	} {
		code, out, told := try(t, nil, "", "knowledge", "import", file(t, "model", text))
		var m facts.Model
		if err := json.Unmarshal([]byte(out),
			&m); err != nil || code != exitAnswer || len(m.Tables) != 1 || m.Tables[0].Name != "a" || len(m.Metrics) != 1 {
			t.Errorf("%s: code %d, %v, %s%s", why, code, err, out, told)
		}
		if !strings.Contains(told, "not compiled: metric m: ") ||
			(why == "dbt") != strings.Contains(told, "lost: saved query s") {
			t.Errorf("%s: %s", why, told)
		}
	}
}

// TestAskByMetric: with --knowledge a request is compiled, and the answer says by which metric.
func TestAskByMetric(t *testing.T) {
	env := with(asking(t, func(prompt string, _ int) string {
		if strings.Contains(prompt, "### Metrics") {
			return `{"metrics": ["orders"]}`
		}
		return "SELECT 1"
	}), "TEXTTOSQL_DSN", shopFile(t))
	path := file(t, "model", strings.NewReplacer(`, ["country"]`, "", "%s", "").Replace(claimed))
	code, out, told := try(t, env, "", "ask", "-n", "4", "--ask-below", "0", "--knowledge", path,
		"How many orders are there?")
	if code != exitAnswer || !strings.Contains(out, "COUNT(*) AS `orders`") ||
		!strings.Contains(out, "By the metric orders. ") {
		t.Errorf("code %d, %s%s", code, out, told)
	}
	if code, _, told := try(t, env, "", "ask", "--knowledge", file(t, "model", "{"), "How many?"); code != exitUsage {
		t.Errorf("no file of knowledge: code %d, %s", code, told)
	}
}

// TestKnowledgePage runs the commands of docs/knowledge.md, with the file that it shows, on a database with its
// columns.
func TestKnowledgePage(t *testing.T) {
	page := string(testutil.Value(os.ReadFile("../../docs/knowledge.md"))(t))
	_, shown, _ := strings.Cut(page, "```json\n")
	shown, _, _ = strings.Cut(shown, "```")
	dir := t.TempDir()
	db := testutil.Value(sql.Open("sqlite3", filepath.Join(dir, "shop.db")))(t)
	testutil.Value(db.Exec(`CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total REAL, status TEXT, ordered_at TEXT);
INSERT INTO customers VALUES (1, 'NO'); INSERT INTO orders VALUES (1, 1, 5, 'paid', '2026-01-01')`))(t)
	testutil.OK(t, db.Close())
	testutil.OK(t, os.Mkdir(filepath.Join(dir, "target"), 0o700))
	manifest := `{"semantic_models": [{"name": "orders", "node_relation": {"alias": "orders"}}], "metrics": []}`
	testutil.OK(t, os.WriteFile(filepath.Join(dir, "target", "semantic_manifest.json"), []byte(manifest), 0o600))
	ran := 0
	for _, block := range strings.Split(page, "```sh\n")[1:] {
		line, _, _ := strings.Cut(block, "\n")
		if strings.Contains(line, "knowledge check") {
			testutil.OK(t, os.WriteFile(filepath.Join(dir, "knowledge.json"), []byte(shown), 0o600))
		}
		ran++
		if out, err := shell(t, dir, nil, line).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if ran < 2 {
		t.Errorf("%d commands", ran)
	}
}
