package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
)

// The recorded runs about superheroes that the lab page replays.
const (
	threeRuns = "pool:bird_dev/qa_sql/claude,bird_dev/qa_sql/gpt4o,bird_dev/qa_sql/groq"
	fiveRuns  = threeRuns + ",bird_dev/rsl_sql/gpt-4o/step1/preliminary_sql," +
		"bird_dev/rsl_sql/gpt-4o/step2/step_2_information_augmentation"
)

// TestQASQLReplay holds the figures of docs/lab/qasql.md: 70 questions, sets of rows.
func TestQASQLReplay(t *testing.T) {
	dir := evaldata.Path(t)
	tests := []struct {
		model, judge, share string
		right, judged       int
		byContext           []int
	}{
		{threeRuns, "none", "0", 52, 0, []int{48, 55, 47, 0, 0}},
		{threeRuns, "gold", "0", 63, 32, []int{48, 55, 47, 0, 0}}, // 32 as bags; see TestQASQLClusters
		{threeRuns, "gold", "0.6", 59, 9, []int{48, 55, 47, 0, 0}},
		{fiveRuns, "none", "0", 58, 0, []int{48, 55, 47, 60, 62}},
		{fiveRuns, "gold", "0", 66, 36, []int{48, 55, 47, 60, 62}},
		{fiveRuns, "gold", "0.6", 61, 6, []int{48, 55, 47, 60, 62}},
		{fiveRuns, "model", "0", 58, 36, []int{48, 55, 47, 60, 62}}, // nobody answers
	}
	for _, tt := range tests {
		out, _ := measured(t, nil, "run", "--data", dir, "--dataset", "bird_dev", "--strategy", "qasql", "--json",
			"--concurrency", "1", // on a busy machine a sample may be late otherwise
			"--model", tt.model, "--judge", tt.judge, "--min-share", tt.share)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var s summary
		testutil.OK(t, json.Unmarshal([]byte(lines[len(lines)-1]), &s))
		var byContext []int
		for _, c := range s.Contexts {
			byContext = append(byContext, c.Right)
		}
		right := int(math.Round(s.EX * float64(s.N)))
		t.Logf("%d runs, judge %s below %s: %d right of %d, judged %d, overruled %d, clusters %d, AUROC %.3f, "+
			"of the ballot %.3f, %+v",
			strings.Count(tt.model, ",")+1, tt.judge, tt.share, right, s.N, s.Judged, s.Overruled, s.Clusters, *s.AUROC,
			*s.Ballot.AUROC, s.Contexts)
		if right != tt.right || s.N != 70 || s.Failed > 0 || s.Judged != tt.judged || !gocmp.Equal(byContext, tt.byContext) {
			t.Errorf("%s, judge %s below %s: %d right of %d, %d failed, %d judged, by context %v; want %d, %d and %v",
				tt.model, tt.judge, tt.share, right, s.N, s.Failed, s.Judged, byContext, tt.right, tt.judged, tt.byContext)
		}
	}
}
