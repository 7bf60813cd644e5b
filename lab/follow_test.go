package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
)

// TestFollow holds the figures of the verb follow: the gold of the turn before in the place of the last answer.
func TestFollow(t *testing.T) {
	var out bytes.Buffer
	need.OK(t, run(t.Context(), []string{"follow", "--json", "--data", evaldata.Path(t), "--dataset", "sparc_dev"}, &out, &bytes.Buffer{}, os.Getenv))
	var got []followLine
	for line := range strings.Lines(out.String()) {
		var l followLine
		need.OK(t, json.Unmarshal([]byte(line), &l))
		l.AllTables, l.TablesKept = math.Round(1000*l.AllTables)/1000, math.Round(1000*l.TablesKept)/1000
		got = append(got, l)
	}
	want := []followLine{
		{Linker: "words", N: 362, AllTables: .796, TablesKept: .681},
		{Linker: "earlier", N: 362, AllTables: .934, TablesKept: .769},
		{Linker: "last", N: 362, AllTables: .978, TablesKept: .61},
	}
	golden.Equal(t, want, got)
}

func TestTurnsBefore(t *testing.T) {
	var questions []eval.Question
	for _, id := range []string{"1.0", "1.1", "1.2", "2.1", "2.2", "3", "4.x", "5.0", "5.2"} {
		questions = append(questions, eval.Question{ID: id, Text: id})
	}
	dataset := need.Value(eval.NewDataset("talks", questions))(t)
	for id, want := range map[string]string{"1.0": "", "1.1": "1.0", "1.2": "1.0 1.1", "2.1": "", "2.2": "2.1", "3": "", "4.x": "", "5.2": ""} {
		var got []string
		for _, e := range turnsBefore(dataset, id) {
			got = append(got, e.Question)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s follows on %q, want %q", id, got, want)
		}
	}
}
