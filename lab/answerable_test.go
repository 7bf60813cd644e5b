package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestAnswerable holds the figures of docs/lab/answerable.md that were aimed at.
func TestAnswerable(t *testing.T) {
	asking := evaldata.Folder(t, "TEXTTOSQL_DATA_ASKING")
	out, _ := measured(t, nil, "answerable", "--asking", asking, "--data", "", "--json")
	scores := map[string]reliabilityLine{}
	refused := map[string]float64{}
	for line := range bytes.Lines([]byte(out)) {
		var score reliabilityLine
		var pool refusedLine
		testutil.OK(t, json.Unmarshal(line, &score))
		testutil.OK(t, json.Unmarshal(line, &pool))
		scores[score.Score], refused[pool.Pool] = score, pool.Refused
	}
	texts, score, folds := scores["texts × compiles"], scores["answerable"], scores["answerable, by folds"]
	if score.AUROC < .90 || folds.AUROC < .89 || folds.AUROC < texts.AUROC+.04 {
		t.Errorf("AUROC %.3f, by folds %.3f, of texts %.3f", score.AUROC, folds.AUROC, texts.AUROC)
	}
	if score.RS10 < texts.RS10 || folds.RS10 < texts.RS10 {
		t.Errorf("RS(10) %.1f, by folds %.1f, of texts %.1f", score.RS10, folds.RS10, texts.RS10)
	}
	if refused["answerable"] > .05 || refused["unanswerable"] < .5 {
		t.Errorf("refused %v", refused)
	}
}
