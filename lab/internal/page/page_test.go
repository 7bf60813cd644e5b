package page

import (
	"bytes"
	"strings"
	"testing"
)

func example() Page {
	hostile := `<script>alert("x")</script>`
	return Page{
		Title: hostile, Intro: hostile, Command: hostile,
		Facts: []Fact{{Name: hostile, Value: hostile, Note: hostile}},
		Figures: []Figure{
			CostChart("Cost", hostile, "calls", []Point{{Name: hostile, Cost: 3, Right: 0.5, Low: 0.4, High: 0.6}, {Name: "b", Cost: 9, Right: 0.8, Marked: true}}),
			CostChart("None", "", "calls", nil),
			CostChart("One", "", "calls", []Point{{Name: "a"}}),
			Reliability("Calibration", hostile, []Bin{{}, {Confidence: 0.9, Right: 0.8, Low: 0.7, High: 0.9, N: 10}}),
			Risk("Risk", hostile, []Curve{{Name: hostile, Points: [][2]float64{{0.5, 0.1}, {1, 0.3}}}, {Name: "none"}}),
			Bars(hostile, hostile, []string{"a", "b"}, []Bar{{Name: hostile, Shares: []float64{0.5, 2}, Note: hostile}}),
		},
		Tables: []Table{{Title: hostile, Note: hostile, Columns: []string{"a", "b"}, Rows: [][]string{{hostile, "1.5"}, {"x", "+2 to –"}}}},
		Notes:  []string{hostile},
	}
}

func TestPageIsSafeAndRepeats(t *testing.T) {
	var a, b bytes.Buffer
	if err := example().WriteHTML(&a); err != nil {
		t.Fatal(err)
	}
	if err := example().WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() {
		t.Error("two writings differ")
	}
	text := a.String()
	for _, part := range []string{"<script", "NaN", "Inf", "-0 ", "http:", "https:"} {
		if strings.Contains(text, part) {
			t.Errorf("the page holds %q", part)
		}
	}
	if strings.Count(text, "<svg") != strings.Count(text, "</svg>") {
		t.Error("a sampling is not closed")
	}
}

func TestNumbersStandRight(t *testing.T) {
	table := example().Tables[0]
	if table.Right(0) || !table.Right(1) || (Table{}).Right(0) {
		t.Error("want the second column alone")
	}
}

func TestTicksAreRound(t *testing.T) {
	tests := []struct {
		scale scale
		want  string
	}{
		{scale{0, 1, 0, 100}, "0 0.2 0.4 0.6 0.8 1"},
		{scale{0.71, 0.88, 0, 100}, "0.75 0.8 0.85"},
		{scale{0, 77, 0, 100}, "0 20 40 60"},
		{scale{5, 5, 0, 100}, "5"},
	}
	for _, test := range tests {
		var got []string
		for _, x := range test.scale.ticks(5) {
			got = append(got, number(x))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%v: %v, want %s", test.scale, got, test.want)
		}
	}
}
