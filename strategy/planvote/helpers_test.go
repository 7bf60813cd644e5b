package planvote_test

import (
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/strategy"
)

// The names of strategytest, in short.
const (
	usa      = strategytest.USA
	usaJoin  = strategytest.USAJoin
	everyone = strategytest.Everyone
	broken   = strategytest.Broken
	allNil   = strategytest.AllNull
	scopeOne = strategytest.ScopeOne
	inUSA    = strategytest.InUSA
	ordered  = strategytest.Ordered
	shopSQL  = strategytest.ShopSQL
	makerSQL = strategytest.MarketSQL
)

var (
	usaTask      = strategytest.USATask
	exampleTask  = strategy.Task{Question: "Which customers live in the USA?"}
	shopEnv      = strategytest.ShopEnv
	envOf        = strategytest.EnvOf
	poolOf       = strategytest.PoolOf
	makerEnv     = strategytest.MarketEnv
	makerEnvOf   = strategytest.EnvAt
	asking       = strategytest.Asking
	always       = strategytest.Always
	samples      = strategytest.Samples
	phases       = strategytest.Phases
	exampleModel = strategytest.ExampleModel
	exampleEnv   = strategytest.ExampleEnv
)
