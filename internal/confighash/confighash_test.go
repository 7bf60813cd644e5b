package confighash

import (
	"context"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/vote"
)

// custom is a strategy of a caller that holds anything.
type custom struct {
	strategy.Consensus
	Any     any
	Names   map[string]int
	Counted *counted
	plain   int
	state   map[string]bool
}

// alike and alikeToo show all values alike.
type (
	alike    int
	alikeToo float64
)

func (alike) String() string    { return "a number" }
func (alikeToo) String() string { return "a fraction" }

type counted struct {
	Limit int
	calls int
	total atomic.Int64
}

func TestFieldsOfStrategies(t *testing.T) {
	f := func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) { return nil, nil }
	g := func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) {
		return &strategy.Outcome{}, nil
	}
	rule := doubt.Rule{Name: "mine", Possible: func(doubt.QuestionFeatures, vote.Candidate) bool { return true }}
	used := &counted{Limit: 1, calls: 7}
	used.total.Store(9)
	ring := &custom{}
	ring.Any = ring
	other := &custom{}
	other.Any = other
	samples := func(n int) *int { return &n }
	for _, tt := range []struct {
		why  string
		a, b any
		same bool
	}{
		{"the same fields", strategy.Consensus{Samples: 3}, strategy.Consensus{Samples: 3}, true},
		{"a number", strategy.Consensus{Samples: 3}, strategy.Consensus{Samples: 5}, false},
		{"a number behind a pointer", &strategy.Consensus{Samples: 3}, &strategy.Consensus{Samples: 5}, false},
		{"two pointers to equal values", &strategy.Consensus{Samples: 3}, &strategy.Consensus{Samples: 3}, true},
		{"a fraction", strategy.Consensus{MinConfidence: 0.1}, strategy.Consensus{MinConfidence: 0.1000001}, false},
		{"a flag", strategy.Consensus{}, strategy.Consensus{AtOnce: true}, false},
		{"the zero value and nothing", strategy.Consensus{}, nil, false},
		{"a form that a method chose", petsql.Strategy{}, petsql.Strategy{}.Published(), false},
		{"another one", maker.Strategy{}, maker.Strategy{}.Published(), false},
		{"rules that hold functions", strategy.Consensus{Doubts: &doubt.Rules{EmptyAnswerRate: 0.1}},
			strategy.Consensus{Doubts: &doubt.Rules{EmptyAnswerRate: 0.2}}, false},
		{"rules by name", strategy.Consensus{Doubts: &doubt.Rules{List: []doubt.Rule{rule}}},
			strategy.Consensus{Doubts: &doubt.Rules{List: []doubt.Rule{{Name: "yours", Possible: rule.Possible}}}}, false},
		{"no rules and the default rules", strategy.Consensus{Doubts: &doubt.Rules{}},
			strategy.Consensus{Doubts: &doubt.Rules{List: []doubt.Rule{}}}, false},
		{"stages of other types", strategy.Pipeline{Voter: vote.Majority{}}, strategy.Pipeline{}, false},
		{"stages of one type", strategy.Pipeline{Prompter: strategy.Prompt{Form: schema.DDL}},
			strategy.Pipeline{Prompter: strategy.Prompt{Form: schema.MSchema}}, false},
		{"two functions, which nobody can write", strategy.Func(f), strategy.Func(g), true},
		{"a function and none", custom{Any: f}, custom{}, false},
		{"maps in any order", custom{Names: map[string]int{"a": 1, "b": 2, "c": 3}},
			custom{Names: map[string]int{"c": 3, "b": 2, "a": 1}}, true},
		{"values of maps", custom{Names: map[string]int{"a": 1, "b": 2}}, custom{Names: map[string]int{"a": 2, "b": 1}},
			false},
		{"a plain field of the value itself", custom{plain: 1}, custom{plain: 2}, false},
		{"state of the value", custom{state: map[string]bool{"x": true}}, custom{}, true},
		{"state behind a pointer", custom{Counted: used}, custom{Counted: &counted{Limit: 1}}, true},
		{"a setting behind a pointer", custom{Counted: used}, custom{Counted: &counted{Limit: 2}}, false},
		{"embedded fields", custom{Consensus: strategy.Consensus{Samples: 3}}, custom{}, false},
		{"texts that could be a list", custom{Any: []string{"a, b"}}, custom{Any: []string{"a", "b"}}, false},
		{"numbers of two types", custom{Any: 1}, custom{Any: int64(1)}, false},
		{"numbers that are shown alike", custom{Any: alike(1)}, custom{Any: alike(2)}, false},
		{"fractions that are shown alike", custom{Any: alikeToo(.1)}, custom{Any: alikeToo(.1000001)}, false},
		{"complex numbers", custom{Any: complex(1, 2)}, custom{Any: complex(1, 3)}, false},
		{"an empty list and none", custom{Any: []int{}}, custom{Any: []int(nil)}, false},
		{"models by name", custom{Any: llm.Named("a", llm.Func(nil))}, custom{Any: llm.Named("b", llm.Func(nil))}, false},
		{"what writes itself", custom{Any: regexp.MustCompile("a")}, custom{Any: regexp.MustCompile("b")}, false},
		{"a pointer in a list", custom{Any: []*int{samples(1)}}, custom{Any: []*int{samples(2)}}, false},
		{"what leads to itself", ring, other, true},
	} {
		var a, b strings.Builder
		Write(&a, tt.a)
		Write(&b, tt.b)
		if (a.String() == b.String()) != tt.same {
			t.Errorf("%s: want the same %v:\n%s\n%s", tt.why, tt.same, a.String(), b.String())
		}
	}
}
