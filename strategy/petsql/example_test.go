package petsql_test

import (
	"encoding/json"
	"fmt"

	"github.com/texttosql/texttosql/strategy/petsql"
)

// Weights come of questions that are set aside for them, and are kept in a file.
func ExampleWeights_FromLabels() {
	weights := petsql.Weights{}.FromLabels(map[string]struct{ Right, Asked int }{
		"small": {Right: 60, Asked: 100},
		"large": {Right: 80, Asked: 100},
	})
	out, _ := json.Marshal(weights)
	fmt.Println(string(out), weights.Validate())
	// Output:
	// {"of":{"large":0.7909090909090909,"small":0.6090909090909091},"from":"labels","n":100} <nil>
}

func ExamplePanel() {
	panel := petsql.Panel{}.FromLabels(1, map[string]map[string]struct{ Right, Asked int }{
		"easy": {"small": {Right: 50, Asked: 50}, "large": {Right: 40, Asked: 50}},
		"hard": {"small": {Right: 10, Asked: 50}, "large": {Right: 30, Asked: 50}},
	})
	fmt.Println(panel.Models("easy"), panel.Models("hard"), panel.Models("unheard of"))
	// Output:
	// [small] [large] [large]
}
