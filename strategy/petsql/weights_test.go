package petsql

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/vote"
)

func near(t *testing.T, got, want map[string]float64) {
	t.Helper()
	golden.Equal(t, want, got, cmpopts.EquateApprox(0, 1e-9))
}

func TestWeightsFromLabels(t *testing.T) {
	// ā = 100/150; a lucky short record stays near the mean.
	w := (Weights{}).FromLabels(map[string]record{"good": {80, 100}, "bad": {16, 46}, "lucky": {4, 4}, "new": {}})
	mean := 100.0 / 150
	near(t, w.Of, map[string]float64{
		"good": (80 + 10*mean) / 110, "bad": (16 + 10*mean) / 56, "lucky": (4 + 10*mean) / 14, "new": mean,
	})
	if w.N != 100 || w.From != "labels" || w.Validate() != nil {
		t.Errorf("%+v, %v", w, w.Validate())
	}
	near(t, (Weights{}).FromLabels(map[string]record{"never": {0, 10}}).Of, map[string]float64{"never": 0.01})
	if got := (Weights{}).FromLabels(nil); len(got.Of) != 0 || got.Mean() != 1 {
		t.Errorf("no records: %+v", got)
	}
}

func TestWeightsUse(t *testing.T) {
	w := Weights{Of: map[string]float64{"a": 3, "b": 1}}
	for model, want := range map[string]float64{"a": 3, "b": 1, "unknown": 2} {
		if got := w.Weight(vote.Candidate{Model: model}); got != want {
			t.Errorf("weight of %s %v, want %v", model, got, want)
		}
	}
	if w.Mean() != 2 {
		t.Errorf("mean %v", w.Mean())
	}
	err := Weights{Of: map[string]float64{"zero": 0, "nan": math.NaN(), "inf": math.Inf(1), "fine": 1}}.Validate()
	for _, name := range []string{"zero", "nan", "inf"} {
		if err == nil || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("Validate does not name %s: %v", name, err)
		}
	}
}

func TestPanelFromLabels(t *testing.T) {
	records := map[string]map[string]record{
		"easy": {"small": {90, 100}, "big": {95, 100}, "odd": {10, 100}},
		"hard": {"small": {10, 50}, "big": {30, 50}, "odd": {40, 50}},
		"rare": {"small": {1, 1}, "big": {0, 1}, "odd": {0, 1}},
	}
	p := (Panel{}).FromLabels(2, records)
	testutil.OK(t, p.Validate())
	for grade, want := range map[string][]string{
		"easy": {"big", "small"}, "hard": {"odd", "big"},
		"rare":  {"big", "small"}, // one question: how good they are in general decides
		"other": {"big", "small"},
	} {
		golden.Equal(t, want, p.Models(grade), grade)
	}
	w := p.Weight("hard")
	if w(vote.Candidate{Model: "small"}) != 0 || !(w(vote.Candidate{Model: "odd"}) > w(vote.Candidate{Model: "big"})) {
		t.Errorf("weights on hard: small %v, odd %v, big %v", w(vote.Candidate{Model: "small"}),
			w(vote.Candidate{Model: "odd"}), w(vote.Candidate{Model: "big"}))
	}
	if got := (Panel{}).FromLabels(0, records).Models("hard"); len(got) != 3 {
		t.Errorf("size 0 is 5, of three models: %v", got)
	}
	many := map[string]map[string]record{"easy": {}, "hard": {}}
	for i, name := range []string{"f", "e", "d", "c", "b", "a"} {
		many["easy"][name], many["hard"][name] = record{5, 10}, record{0, 0}
		if i == 0 {
			many["easy"][name] = record{6, 10}
		}
	}
	p = (Panel{}).FromLabels(0, many)
	for grade, want := range map[string][]string{"easy": {"f", "a", "b", "c", "d"}, "hard": {"f", "a", "b", "c", "d"},
		"other": {"f", "a", "b", "c", "d"}} {
		golden.Equal(t, want, p.Models(grade), grade+": five of six, equal ones by name")
	}
	if p.Grades["easy"].N != 10 || p.Grades["hard"].N != 0 || p.Else.N != 10 || p.Else.From != "labels" {
		t.Errorf("questions: %+v, %+v", p.Grades, p.Else)
	}
	if none := (Panel{}).FromLabels(2, nil); none.Else != nil || len(none.Grades) != 0 {
		t.Errorf("no records: %+v", none)
	}
}

// TestWeightsBounds: a weight is above 0 and at most 1e12, in every place of a Panel.
func TestWeightsBounds(t *testing.T) {
	of := func(x float64) Weights { return Weights{Of: map[string]float64{"m": x}} }
	for _, tt := range []struct {
		reason string
		weight float64
		ok     bool
	}{{"the greatest", 1e12, true}, {"above it", 1.1e12, false}, {"the smallest", math.SmallestNonzeroFloat64, true},
		{"none", 0, false}, {"below none", -1,
			false}} {
		other := of(tt.weight)
		for _, err := range []error{of(tt.weight).Validate(),
			Panel{Grades: map[string]Weights{"easy": of(tt.weight)}}.Validate(), Panel{Else: &other}.Validate()} {
			if (err == nil) != tt.ok {
				t.Errorf("%s: %v", tt.reason, err)
			}
		}
	}
}

func TestPanelUse(t *testing.T) {
	var all Panel
	if all.Models("easy") != nil || all.Weight("easy")(vote.Candidate{Model: "x"}) != 1 || all.Validate() != nil {
		t.Error("the zero Panel lets every model vote")
	}
	p := Panel{Grades: map[string]Weights{"easy": {Of: map[string]float64{"x": 1}}, "none": {},
		"bad": {Of: map[string]float64{"x": -1}}}}
	if p.Models("hard") != nil || p.Weight("hard")(vote.Candidate{Model: "y"}) != 1 {
		t.Error("a grade without a panel lets every model vote")
	}
	err := p.Validate()
	if err == nil || !strings.Contains(err.Error(), `"none" has no model`) || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("Validate: %v", err)
	}
	b, err := vote.Majority{Weight: p.Weight("easy")}.Count([]vote.Candidate{
		{SQL: "a", Model: "y", Fingerprint: "1"}, {SQL: "b", Sample: 1, Model: "y", Fingerprint: "1"},
		{SQL: "c", Sample: 2, Model: "x", Fingerprint: "2"},
	})
	if err != nil || b.Clusters[0].Key != "2" || len(b.Abstained) != 2 {
		t.Errorf("only the panel votes: %+v, %v", b, err)
	}
}
