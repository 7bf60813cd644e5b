package vote

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func near(t *testing.T, got, want map[string]float64) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWeightsFromLabels(t *testing.T) {
	// ā = 100/150; a lucky short record stays near the mean.
	w := WeightsFromLabels(map[string]Record{"good": {80, 100}, "bad": {16, 46}, "lucky": {4, 4}, "new": {}})
	mean := 100.0 / 150
	near(t, w.Of, map[string]float64{
		"good": (80 + 10*mean) / 110, "bad": (16 + 10*mean) / 56, "lucky": (4 + 10*mean) / 14, "new": mean,
	})
	if w.N != 100 || w.From != "labels" || w.Validate() != nil {
		t.Errorf("%+v, %v", w, w.Validate())
	}
	near(t, WeightsFromLabels(map[string]Record{"never": {0, 10}}).Of, map[string]float64{"never": 0.01})
	if got := WeightsFromLabels(nil); len(got.Of) != 0 || got.Mean() != 1 || got.Max() != 1 {
		t.Errorf("no records: %+v", got)
	}
}

func TestWeightsFromAgreement(t *testing.T) {
	question := func(answers ...string) []Candidate { // "model=result"
		var out []Candidate
		for i, a := range answers {
			model, fp, _ := strings.Cut(a, "=")
			c := Candidate{SQL: "S", Sample: i, Model: model, Fingerprint: fp}
			if fp == "" {
				c.Rejected = "error"
			}
			out = append(out, c)
		}
		return out
	}
	// In each question x and y agree and z stands alone.
	var questions [][]Candidate
	for range 30 {
		questions = append(questions, question("x=1", "y=1", "z=2"))
	}
	w := WeightsFromAgreement(nil, questions)
	mean := 1.0 / 3 // (½ + ½ + 0) ÷ 3
	near(t, w.Of, map[string]float64{
		"x": (15 + 10*mean) / 40, "y": (15 + 10*mean) / 40, "z": 10 * mean / 40,
	})
	if w.N != 30 || w.From != "agreement" {
		t.Errorf("%+v", w)
	}

	// Several samples of a model count as their mean; own samples say nothing.
	w = WeightsFromAgreement(ByResult, [][]Candidate{question("x=1", "x=2", "y=1", "y=1")})
	near(t, w.Of, map[string]float64{"x": 0.5, "y": 0.5})

	// Nothing can be learned from one model, or from failures: equal votes.
	w = WeightsFromAgreement(nil, [][]Candidate{question("x=1", "x=1"), question("x=1", "y="), nil})
	near(t, w.Of, map[string]float64{"x": 1, "y": 1})
	if w.N != 0 {
		t.Errorf("%d questions used", w.N)
	}
}

func TestWeightsUse(t *testing.T) {
	w := Weights{Of: map[string]float64{"a": 3, "b": 1}}
	for model, want := range map[string]float64{"a": 3, "b": 1, "unknown": 2} {
		if got := w.Weight(Candidate{Model: model}); got != want {
			t.Errorf("weight of %s %v, want %v", model, got, want)
		}
	}
	if w.Max() != 3 || w.Mean() != 2 {
		t.Errorf("max %v, mean %v", w.Max(), w.Mean())
	}
	err := Weights{Of: map[string]float64{"zero": 0, "nan": math.NaN(), "inf": math.Inf(1), "fine": 1}}.Validate()
	for _, name := range []string{"zero", "nan", "inf"} {
		if err == nil || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("Validate does not name %s: %v", name, err)
		}
	}
}

func TestPanelFromLabels(t *testing.T) {
	records := map[string]map[string]Record{
		"easy": {"small": {90, 100}, "big": {95, 100}, "odd": {10, 100}},
		"hard": {"small": {10, 50}, "big": {30, 50}, "odd": {40, 50}},
		"rare": {"small": {1, 1}, "big": {0, 1}, "odd": {0, 1}},
	}
	p := PanelFromLabels(2, records)
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	for grade, want := range map[string][]string{
		"easy": {"big", "small"}, "hard": {"odd", "big"},
		"rare":  {"big", "small"}, // one question: how good they are in general decides
		"other": {"big", "small"},
	} {
		if diff := cmp.Diff(want, p.Models(grade)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", grade, diff)
		}
	}
	w := p.Weight("hard")
	if w(Candidate{Model: "small"}) != 0 || !(w(Candidate{Model: "odd"}) > w(Candidate{Model: "big"})) {
		t.Errorf("weights on hard: small %v, odd %v, big %v", w(Candidate{Model: "small"}), w(Candidate{Model: "odd"}), w(Candidate{Model: "big"}))
	}
	if got := PanelFromLabels(0, records).Models("hard"); len(got) != 3 {
		t.Errorf("size 0 is 5, of three models: %v", got)
	}
}

func TestPanelUse(t *testing.T) {
	var all Panel
	if all.Models("easy") != nil || all.Weight("easy")(Candidate{Model: "x"}) != 1 || all.Validate() != nil {
		t.Error("the zero Panel lets every model vote")
	}
	p := Panel{Grades: map[string]Weights{"easy": {Of: map[string]float64{"x": 1}}, "none": {}, "bad": {Of: map[string]float64{"x": -1}}}}
	if p.Models("hard") != nil || p.Weight("hard")(Candidate{Model: "y"}) != 1 {
		t.Error("a grade without a panel lets every model vote")
	}
	err := p.Validate()
	if err == nil || !strings.Contains(err.Error(), `"none" has no model`) || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("Validate: %v", err)
	}
	b, err := Majority{Weight: p.Weight("easy")}.Count([]Candidate{
		{SQL: "a", Model: "y", Fingerprint: "1"}, {SQL: "b", Sample: 1, Model: "y", Fingerprint: "1"}, {SQL: "c", Sample: 2, Model: "x", Fingerprint: "2"},
	})
	if err != nil || b.Clusters[0].Key != "2" || len(b.Abstained) != 2 {
		t.Errorf("only the panel votes: %+v, %v", b, err)
	}
}

func TestCalibration(t *testing.T) {
	c := Calibration{Raw: []float64{0.2, 0.4, 0.8}, Right: []float64{0.1, 0.5, 0.9}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[float64]float64{0: 0.1, 0.2: 0.1, 0.3: 0.3, 0.4: 0.5, 0.6: 0.7, 0.8: 0.9, 1: 0.9} {
		if got := c.At(raw); math.Abs(got-want) > 1e-12 {
			t.Errorf("At(%v) = %v, want %v", raw, got, want)
		}
	}
	if got := c.At(math.NaN()); !math.IsNaN(got) {
		t.Errorf("NaN stays NaN: %v", got)
	}
	for _, raw := range []float64{0, 0.5, 1} {
		if got := (Calibration{}).At(raw); got != raw {
			t.Errorf("the zero Calibration turns %v into %v", raw, got)
		}
	}
	one := Calibration{Raw: []float64{0.5}, Right: []float64{0.7}}
	if one.At(0) != 0.7 || one.At(1) != 0.7 {
		t.Error("a single point holds everywhere")
	}
	for why, bad := range map[string]Calibration{
		"lengths": {Raw: []float64{1}}, "range": {Raw: []float64{2}, Right: []float64{1}},
		"falling": {Raw: []float64{0.1, 0.2}, Right: []float64{0.9, 0.1}}, "equal": {Raw: []float64{0.1, 0.1}, Right: []float64{0, 1}},
		"NaN": {Raw: []float64{math.NaN()}, Right: []float64{1}},
	} {
		if bad.Validate() == nil {
			t.Errorf("%s: no error", why)
		}
	}
}
