package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evalbounds"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/lab/internal/mysqlite"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/lab/training"
)

// access says under what terms a database is asked: flags that run and export share.
type access struct {
	MySQL         bool          `name:"mysql" help:"The databases are copies of MySQL's: statements may call YEAR, MONTH, DATEDIFF and their like."`
	WithoutValues bool          `help:"No prompt shows a stored value: shorter prompts."`
	Timeout       time.Duration `placeholder:"DURATION" help:"Time that a candidate may run; 0: 3s."`
	onServer      `embed:""`
}

// check reports flags that do not go together.
func (a access) check() error {
	if a.MySQL && a.Engine != "" {
		return errors.New("--mysql is for SQLite files, and --engine for servers")
	}
	return a.onServer.check()
}

// open opens the database of a file for reading.
func (a access) open(path string) (*sql.DB, error) {
	if a.MySQL {
		if _, err := os.Stat(path); err != nil {
			return nil, files.Pathless(err)
		}
		return mysqlite.OpenReadOnly(path)
	}
	return a.onServer.open(path)
}

func (a access) policy() exec.Policy {
	if a.MySQL {
		return mysqlite.Policy()
	}
	return exec.Policy{Reveal: []string{"*"}} // what was recorded was free to read
}

func (a access) limits() exec.Limits {
	return exec.Limits{Candidate: exec.Bounds{Timeout: a.Timeout}}
}

// options are those of an engine.
func (a access) options() []texttosql.Option {
	list := []texttosql.Option{texttosql.WithPolicy(a.policy()), texttosql.WithLimits(a.limits())}
	if a.Engine != "" {
		list = append(list, texttosql.WithDialect(a.dialect()))
	}
	if a.WithoutValues {
		list = append(list, texttosql.WithoutValues())
	}
	return list
}

// store is where answers and golds run.
func (a access) store(find finder, workers int) *eval.Store {
	return eval.NewStore(eval.StoreConfig{Find: find.Database, Open: a.open, Dialect: a.dialect(), Policy: a.policy(),
		Workers: workers})
}

// limitsText writes the limits of a run for its contract.
func (a access) limitsText() string {
	text := fmt.Sprintf("candidate %v, scored %v and %d rows", cmp.Or(a.Timeout, 3*time.Second), evalbounds.Timeout,
		evalbounds.Rows)
	if a.MySQL {
		text += ", functions of MySQL"
	}
	if a.Engine != "" {
		text += ", on " + a.Engine
	}
	return text
}

// contract is what a run must share with one that it is compared with, for questions asked under m.
func (a access) contract(m training.Manifest, scorer *eval.Scorer) stats.Contract {
	return stats.Contract{Prompt: m.PromptHash[:16], Schema: m.Schema, Scorer: scorer.Metrics[0].Name(),
		Limits: a.limitsText()}
}

// readManifest reads the manifest of an adapter's training data.
func readManifest(path string) (m training.Manifest, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("--manifest: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Version != 1 || m.PromptHash == "" {
		return m, fmt.Errorf("--manifest %s: %w", path,
			cmp.Or(err, errors.New("no manifest of version 1 as export writes it")))
	}
	return m, nil
}
