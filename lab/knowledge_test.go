package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestKnowledge holds the figures of docs/lab/knowledge.md: all requests, and both kinds in one vote over statements
// alone.
func TestKnowledge(t *testing.T) {
	dir, data := evaldata.Knowledge(t), evaldata.Path(t)
	out, _ := measured(t, nil, "knowledge", "--dir", dir, "--data", data, "--draws", "500", "--json")
	var requests requestsLine
	right := map[[2]int]float64{}
	for line := range bytes.Lines([]byte(out)) {
		var vote pairsLine
		testutil.OK(t, json.Unmarshal(line, &vote))
		if vote.Questions > 0 {
			right[[2]int{vote.Statements, vote.Metrics}] = vote.Right
		} else {
			testutil.OK(t, json.Unmarshal(line, &requests))
		}
	}
	if requests != (requestsLine{Requests: 37, Equal: 31, Refused: 6, NaiveDiffers: 9, Naive: 9}) {
		t.Errorf("%+v", requests)
	}
	if mixed := right[[2]int{3, 3}]; mixed < .72 || mixed < right[[2]int{12, 0}]+.2 || right[[2]int{6, 0}] > .46 {
		t.Errorf("%v", right)
	}
}
