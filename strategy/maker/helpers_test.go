package maker

import (
	"slices"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/strategy"
)

// The names of strategytest, in short.
const (
	usa       = strategytest.USA
	usaJoin   = strategytest.USAJoin
	everyone  = strategytest.Everyone
	broken    = strategytest.Broken
	allNil    = strategytest.AllNull
	scopeOne  = strategytest.ScopeOne
	scopeBoth = strategytest.ScopeBoth
	inUSA     = strategytest.InUSA
	ordered   = strategytest.Ordered
	shopSQL   = strategytest.ShopSQL
	makerSQL  = strategytest.MarketSQL
)

var (
	usaTask    = strategytest.USATask
	poolOf     = strategytest.PoolOf
	makerEnv   = strategytest.MarketEnv
	makerEnvOf = strategytest.EnvAt
	asking     = strategytest.Asking
	always     = strategytest.Always
	samples    = strategytest.Samples
	phases     = strategytest.Phases
)

func times(n int, reply string) []string { return slices.Repeat([]string{reply}, n) }

// reportOf is the report of an outcome; the zero one where there is none.
func reportOf(out *strategy.Outcome) Report {
	if out == nil {
		return Report{}
	}
	report, _ := strategy.ReadReport[Report](out.Report)
	return report
}
