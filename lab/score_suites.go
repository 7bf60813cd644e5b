package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/testsuite"
)

// suiteMetric is test-suite accuracy. A database without a suite is reported once, and its questions count as 0.
type suiteMetric struct{ testsuite.TS }

// Score implements eval.Metric.
func (m suiteMetric) Score(ctx context.Context, t *eval.Trial) (float64, error) {
	if m.Suites[t.Question.DB] == nil {
		return 0, nil
	}
	return m.TS.Score(ctx, t)
}

// suites loads the test suites of a dataset's databases, one folder each in dir, and makes missing ones. The golds of
// the dataset guide them, so equal golds and an equal seed make equal suites. A missing database has no suite, and its
// questions cannot be scored anyway.
func (s *score) suites(p *program, folder *pools.Folder, dataset *eval.Dataset) (loaded map[string]*testsuite.Suite,
	closeAll func(), err error) {
	loaded = make(map[string]*testsuite.Suite)
	closeAll = func() {
		for _, suite := range loaded {
			suite.Close()
		}
	}
	g := testsuite.Generator{Seed: s.Seed, Workers: s.Workers, Open: func(path string) (*sql.DB, error) {
		uri := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
		return sql.Open("sqlite3", uri.String())
	}}
	ids := dataset.Databases()
	bar := newProgress(p.err, "making test suites", len(ids))
	defer bar.done()
	for _, id := range ids {
		base, err := folder.Database(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return loaded, closeAll, err
		}
		bar.say("test suite of " + id)
		of := dataset.Select(func(q eval.Question) bool { return q.DB == id })
		suite, err := openSuite(p.ctx, base, filepath.Join(s.Suites, id), g, of.Questions,
			eval.StoreConfig{Workers: s.Workers, Open: files.OpenReadOnly})
		bar.step(len(ids))
		switch {
		case p.ctx.Err() != nil:
			return loaded, closeAll, p.ctx.Err()
		case err != nil:
			p.note("no test suite of %s, its questions count as 0 in ts: %v", id, err)
		default:
			loaded[id] = suite
		}
	}
	return loaded, closeAll, nil
}

// openSuite loads the suite of one database, and makes it by g first if it is missing; the golds of the questions guide
// it. The suite of another database is an error.
func openSuite(ctx context.Context, base, dir string, g testsuite.Generator, questions []eval.Question,
	c eval.StoreConfig) (*testsuite.Suite, error) {
	_, err := testsuite.ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		for _, q := range questions {
			g.Golds = append(g.Golds, testsuite.Gold{ID: q.ID, SQL: q.Gold})
		}
		_, err = g.Generate(ctx, base, dir)
	}
	if err != nil {
		return nil, err
	}
	suite, err := testsuite.Load(dir, c)
	if err != nil {
		return nil, err
	}
	same, err := suite.MadeFrom(ctx, base)
	if err == nil && !same {
		err = fmt.Errorf("%s is of another database than %s: remove it, or give another folder", dir, base)
	}
	if err != nil {
		suite.Close()
		return nil, err
	}
	return suite, nil
}
