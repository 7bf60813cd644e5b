package strategy_test

import (
	"context"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/strategy"
)

// The names of strategytest, in short.
const (
	shopSQL   = strategytest.ShopSQL
	makerSQL  = strategytest.MarketSQL
	usa       = strategytest.USA
	usaJoin   = strategytest.USAJoin
	everyone  = strategytest.Everyone
	broken    = strategytest.Broken
	scopeOne  = strategytest.ScopeOne
	scopeBoth = strategytest.ScopeBoth
	inUSA     = strategytest.InUSA
	ordered   = strategytest.Ordered
)

var (
	usaTask      = strategytest.USATask
	shopEnv      = strategytest.ShopEnv
	envOf        = strategytest.EnvOf
	poolOf       = strategytest.PoolOf
	makerEnv     = strategytest.MarketEnv
	makerEnvOf   = strategytest.EnvAt
	asking       = strategytest.Asking
	always       = strategytest.Always
	exampleModel = strategytest.ExampleModel
	exampleEnv   = strategytest.ExampleEnv
	exampleShop  = strategytest.ExampleShop
	written      = strategytest.Written
	phases       = strategytest.Phases
)

// judgeFunc is a judge without a model.
type judgeFunc func(strategy.JudgeInput) (int, error)

func (f judgeFunc) Choose(_ context.Context, _ *strategy.Env, in strategy.JudgeInput) (strategy.Verdict, error) {
	choice, err := f(in)
	return strategy.Verdict{Choice: choice}, err
}

// watched is SQLite that notes each statement it examines.
func watched(seen *[]string) exec.Dialect {
	return exectest.Change(sqlite.Dialect{}, exectest.Changes{
		Confirm: func(s *exec.Statement, confirm func() (guard.EngineReport, error)) (guard.EngineReport, error) {
			if !s.Ours {
				*seen = append(*seen, s.SQL())
			}
			return confirm()
		},
	})
}

// judged is Consensus with a judge of weak votes.
func judged(samples int) strategy.Pipeline {
	p := strategy.Consensus{Samples: samples}.Pipeline()
	p.Judge = strategy.Rubric{}
	return p
}
