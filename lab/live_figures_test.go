package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

// liveSet is some questions that a live model was asked, and the runs that its recorded replies can repeat.
type liveSet struct {
	name, folder, dataset, limit string // folder: the variable that names it

	runs []string // a strategy, a number of questions where it is another one, and flags
}

// theFour are compared on every set.
var theFour = []string{"direct", "direct-refine", "self-consistency --samples 7", "consensus --samples 7"}

// liveSets are the sets of docs/lab/live.md.
var liveSets = []liveSet{
	{"Spider", "TEXTTOSQL_DATA", "spider_dev", "60", append(slices.Clone(theFour),
		"direct --without-values",
		"direct --exemplars train",
		"direct --exemplars random",
		"direct-code",
		"consensus --samples 7 --second replay:testdata/live/coder-0.5b",
		"react --limit 20",
		"petsql --limit 20",
		"staged2 --limit 20",
		"threephase --limit 20",
		"qasql --limit 20",
		"plan-vote --limit 20 --samples 7",
		"maker --limit 20",
	)},
	{"Superhero of BIRD", "TEXTTOSQL_DATA", "bird_dev", "20", append(slices.Clone(theFour), "direct-definitions")},
	{"BIRD, other databases", "TEXTTOSQL_DATA_FRESH", "bird_dev", "20",
		append(slices.Clone(theFour), "direct-definitions")},
	{"ClassicModels", "TEXTTOSQL_DATA", "classicmodels", "20", append(slices.Clone(theFour),
		"direct-refine --limit 10", "direct-refine --limit 10 --knowledge KNOWLEDGE",
		"consensus --limit 10 --samples 7", "consensus --limit 10 --samples 7 --knowledge KNOWLEDGE",
	)},
	{"EHRSQL with an answer", "TEXTTOSQL_DATA_ASKING", "ehrsql", "10", []string{"consensus --samples 7 --ungraded"}},
	{"EHRSQL without", "TEXTTOSQL_DATA_ASKING", "ehrsql_unanswerable", "10",
		[]string{"consensus --samples 7 --ungraded"}},
}

// TestLiveFigures repeats the figures of docs/lab/live.md from what the model replied.
func TestLiveFigures(t *testing.T) {
	for _, set := range liveSets {
		t.Run(set.dataset+set.limit, func(t *testing.T) {
			t.Parallel()
			dir := evaldata.Folder(t, set.folder)
			golden.Check(t, "live/"+strings.ToLower(strings.TrimPrefix(set.folder, "TEXTTOSQL_"))+"_"+set.dataset+".golden",
				liveFigures(t, set, "--data", dir, "--dataset", set.dataset))
		})
	}
}

// TestLivePlain does the same for questions as people in an office type them, about three invented databases.
func TestLivePlain(t *testing.T) {
	var report strings.Builder
	for _, set := range []struct{ schema, limit string }{{"shop", "14"}, {"clinic", "13"}, {"saas", "13"}} {
		db, questions := plainQuestions(t, evaldata.Folder(t, "TEXTTOSQL_DATA_CONFIDENCE"), set.schema)
		report.WriteString(liveFigures(t, liveSet{name: set.schema, limit: set.limit,
			runs: []string{"direct-refine", "consensus --samples 7"}}, "--db", db, "--questions", questions))
	}
	golden.Check(t, "live/plain.golden", report.String())
}

// plainQuestions writes a database, and the questions about it whose right statement is known and does not depend on
// the day.
func plainQuestions(t *testing.T, dir, schema string) (db, questions string) {
	t.Helper()
	tmp := t.TempDir()
	db, questions = filepath.Join(tmp, schema+".sqlite"), filepath.Join(tmp, schema+".jsonl")
	handle := testutil.Value(sql.Open("sqlite3", db))(t)
	defer handle.Close()
	file := "schemas/" + schema + ".sql"
	testutil.Value(handle.ExecContext(t.Context(),
		string(testutil.Value(os.ReadFile(filepath.Join(dir, file)))(t))))(t)

	var lines []byte
	for c := range evaldata.Lines[struct {
		ID, Group string
		Control   bool
		File      string `json:"schema_file"`
		Question  any
		Replies   []string
	}](t, filepath.Join(dir, "open.jsonl")) {
		text, single := c.Question.(string)
		if !c.Control || !single || c.File != file || c.Group == "relative-time" || c.Group == "empty-right" ||
			strings.Contains(text, "last year") || strings.Contains(text, "this year") ||
			strings.Contains(c.Replies[0], "11-20") {
			continue
		}
		gold := strings.TrimSuffix(strings.TrimPrefix(c.Replies[0], "```sql\n"), "\n```")
		line := testutil.Value(json.Marshal(map[string]string{"id": c.ID, "question": text, "gold": gold}))(t)
		lines = append(append(lines, line...), '\n')
	}
	testutil.OK(t, os.WriteFile(questions, lines, 0o600))
	return db, questions
}

// liveFigures plays the runs of a set, a line for each, with what a repair and the judge did.
func liveFigures(t *testing.T, set liveSet, about ...string) string {
	t.Helper()
	report := fmt.Sprintf("%s, %s questions\n", set.name, set.limit)
	runs := map[string][]map[string]any{}
	for _, name := range set.runs {
		strategy, flags, _ := strings.Cut(name, " ")
		if strings.Contains(flags, "KNOWLEDGE") {
			flags = strings.ReplaceAll(flags, "KNOWLEDGE", evaldata.Knowledge(t, "models", set.dataset+".json"))
		}
		args := slices.Concat([]string{"run", "--strategy", strategy, "--model", "replay:testdata/live/coder-1.5b",
			"--draw", "60", "--limit", set.limit, "--json"}, about, strings.Fields(flags))
		out, notes := measured(t, nil, args...)
		lines := objects(t, out)
		last := lines[len(lines)-1]
		if last["failed"] != 0.0 || strings.Contains(notes, "no recorded reply") {
			t.Errorf("%s of %s: a prompt has changed, or its reply was not recorded:\n%s", name, set.name, notes)
		}
		runs[name] = lines[:len(lines)-1]
		report += fmt.Sprintf("  %s\n    %s\n", name, figures(last))
	}
	return report + repairs(runs["direct"], runs["direct-refine"]) + "\n"
}

// figures are those of a run, in words.
func figures(last map[string]any) string {
	number := func(x any) string { return share(x.(float64)) }
	interval := func(ci any) string {
		ends, ok := ci.([]any)
		if !ok {
			return ""
		}
		return fmt.Sprintf(" [%s, %s]", number(ends[0]), number(ends[1]))
	}
	of := func(m map[string]any) string {
		text := fmt.Sprintf("%s of %v right", number(m["ex"]), m["n"]) + interval(m["ci"])
		if m["auroc"] != nil {
			text += ", AUROC " + number(m["auroc"]) + interval(m["auroc_ci"])
		}
		return text
	}
	text := of(last) + fmt.Sprintf("; %s run; %v calls, %.0f tokens", number(last["va"]), last["calls"], last["tokens"])
	if answered, ok := last["answered"].(map[string]any); ok {
		text += "\n    of the answered: " + of(answered)
	}
	for _, key := range []string{"levels", "second"} {
		groups, _ := last[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			g := groups[name].(map[string]any)
			text += fmt.Sprintf("\n    %s: %v of %v", name, g["right"], g["n"])
		}
	}
	return text
}

// repairs says what became of greedy statements that failed.
func repairs(greedy, repaired []map[string]any) string {
	failed := map[any]bool{}
	for _, l := range greedy {
		failed[l["qid"]] = l["sql"] == "" || l["va"] == 0.0
	}
	var n, run, right int
	for _, l := range repaired {
		if failed[l["qid"]] {
			n, run, right = n+1, run+int(l["va"].(float64)), right+int(l["ex"].(float64))
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  repairs: of %d greedy statements that failed, %d run and %d are right\n", n, run, right)
}
