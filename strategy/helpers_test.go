package strategy_test

import (
	"context"
	"database/sql"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/sqltext"
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
	profileOf    = strategytest.ProfileOf
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

func (f judgeFunc) Choose(_ context.Context, _ *strategy.Env, in strategy.JudgeInput) (int, error) {
	return f(in)
}

// watched is SQLite that notes each statement it examines.
type watched struct {
	sqlite.Dialect
	seen []string
}

func (w *watched) Guard(c exec.GuardConfig) (exec.Guard, error) {
	g, err := w.Dialect.Guard(c)
	return watchedGuard{g, w}, err
}

type watchedGuard struct {
	exec.Guard
	*watched
}

func (g watchedGuard) Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.Held, error) {
	h, err := g.Guard.Hold(ctx, conn, timeout)
	return watchedHeld{h, g.watched}, err
}

type watchedHeld struct {
	exec.Held
	*watched
}

func (h watchedHeld) Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	h.seen = append(h.seen, s.SQL())
	return h.Held.Analyze(ctx, s)
}
