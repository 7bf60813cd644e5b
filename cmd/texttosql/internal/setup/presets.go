package setup

import (
	"fmt"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/strategy/threephase"
	"github.com/texttosql/texttosql/vote"
)

// Preset is a strategy that a program offers.
type Preset struct {
	Name, About string
	Strategy    strategy.Strategy
}

// Presets returns the presets, the plainest first.
func Presets() []Preset {
	return []Preset{
		{"direct", "one greedy sample, checked", strategy.Direct{}},
		{"self-consistency", "samples of one prompt, majority by result, stopped when decided", strategy.SelfConsistency{}},
		{"consensus", "the default: three prompt forms, values, doubts, repair, judge", strategy.Consensus{}},
		{"consensus-ahead3", "consensus that also stops when 3 votes ahead",
			strategy.Consensus{Stop: vote.AheadBy(3).Every(4)}},
		{"plan-vote", "samples of one prompt, majority by plan (M7)", planvote.Plain{}},
		{"augmented-plan-vote", "plan-vote on a schema with sample rows (M10)", planvote.Augmented{}},
		{"execution-feedback", "rounds of augmented-plan-vote that see what failed (M12)", planvote.Feedback{}},
		{"maker", "consensus on tables, then filters, then the statement (M15)", maker.Strategy{}},
		{"maker-compat", "maker as published", maker.Strategy{}.Published()},
		{"petsql", "two rounds: a first statement links the schema, then every model votes", petsql.Strategy{}},
		{"petsql-compat", "petsql with its published prompt", petsql.Strategy{}.Published()},
		{"qasql", "five views of the schema, each refined, and a judge (QA-SQL)", qasql.Strategy{}},
		{"qasql-document", "qasql as its document has it: one call of the judge, no last resort",
			qasql.Strategy{Judge: strategy.Rubric{Votes: 1}, WithoutLastResort: true}},
		{"staged0", "the first statement that runs, of three steps of one sample", agent.Staged{}},
		{"staged1", "staged0, and forms of a statement that break fewer checks", agent.Staged{Stage: 1}},
		{"staged2", "staged1, and four samples a step, doubts before votes", agent.Staged{Stage: 2}},
		{"staged3", "staged2, and a repair where nothing runs, and a baseline", agent.Staged{Stage: 3}},
		{"threephase", "tables one by one, then together, joins, a statement of three attempts", threephase.Strategy{}},
		{"react", "the tool loop: thought, action and observation until a statement runs", agent.ReAct{}},
		{"react-document", "react as published: until a second statement runs, or finish", agent.ReAct{}.Published()},
	}
}

// presetNamed returns the preset with the name.
func presetNamed(name string) (Preset, error) {
	var names []string
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Preset{}, fmt.Errorf("strategy %q: unknown%s (texttosql list has all)", name, words.Like(name, names))
}
