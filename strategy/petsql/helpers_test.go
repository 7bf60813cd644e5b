package petsql_test

import (
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// The names of strategytest, in short.
const (
	usa      = strategytest.USA
	everyone = strategytest.Everyone
	broken   = strategytest.Broken
	shopSQL  = strategytest.ShopSQL
	makerSQL = strategytest.MarketSQL
)

var (
	usaTask     = strategytest.USATask
	shopEnv     = strategytest.ShopEnv
	envOf       = strategytest.EnvOf
	poolOf      = strategytest.PoolOf
	makerEnv    = strategytest.MarketEnv
	makerEnvOf  = strategytest.EnvAt
	dataEnv     = strategytest.DataEnv
	dataEnvAt   = strategytest.DataEnvAt
	written     = strategytest.Written
	asking      = strategytest.Asking
	always      = strategytest.Always
	samples     = strategytest.Samples
	exampleEnv  = strategytest.ExampleEnv
	exampleShop = strategytest.ExampleShop
)

// reportOf is the report of an outcome; the zero one where there is none.
func reportOf(out *strategy.Outcome) petsql.Report {
	if out == nil {
		return petsql.Report{}
	}
	report, _ := petsql.ReadReport(out.Report)
	return report
}
