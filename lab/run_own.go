package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/lab/pools"
)

// open opens what a run is about: a dataset of a folder, or questions about a database of one's own. In the second case
// the folder is nil unless the run needs one, for recorded answers or exemplars.
func (l *live) open(p *program) (folder *pools.Folder, find finder, dataset *eval.Dataset, err error) {
	switch own := l.DB != "" || l.Questions != ""; {
	case !own && l.Dataset == "":
		return nil, nil, nil,
			errors.New("nothing to ask: give --dataset NAME, or --db FILE and --questions FILE (--help lists the flags)")
	case !own:
		folder, dataset, err = openDataset(p, l.Data, l.Dataset)
		return folder, folder, dataset, err
	case l.DB == "" || l.Questions == "" || l.Dataset != "":
		return nil, nil, nil, errors.New("--db FILE and --questions FILE go together, and without --dataset")
	}
	recorded := strings.HasPrefix(l.Model, "pool:") || strings.HasPrefix(l.Model, "phases:")
	if recorded || l.Exemplars == "train" || l.Exemplars == "random" {
		if l.Data != "" {
			if folder, err = pools.OpenFolder(l.Data); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	find = oneDatabase(l.DB)
	if dataset, err = readDataset(p, eval.ReadDataset, l.Questions); err != nil {
		return nil, nil, nil, err
	}
	if err := l.own(dataset); err != nil {
		return nil, nil, nil, err
	}
	opened := &databases{folder: find, on: l.onServer}
	defer opened.close()
	if _, err := opened.env(p.ctx, dataset.Questions[0].DB); err != nil {
		return nil, nil, nil, err
	}
	l.Dataset = l.Questions
	return folder, find, dataset, nil
}

// own checks the questions of --questions, each of which needs a gold unless --ungraded says otherwise, and gives them
// the name of their one database where the file has none.
func (l *live) own(dataset *eval.Dataset) error {
	name, _, _ := strings.Cut(filepath.Base(l.DB), ".")
	first := dataset.Questions[0]
	for i := range dataset.Questions {
		q := &dataset.Questions[i]
		switch {
		case q.Text == "":
			return &fileerr.Questions{File: l.Questions, Line: q.Line, Field: "question",
				Err: errors.New("missing: a golds file has no questions")}
		case q.Gold == "" && !l.Ungraded:
			return &fileerr.Questions{File: l.Questions, Line: q.Line, Field: "gold",
				Err: errors.New("missing: without it no answer can be judged")}
		case q.DB != first.DB:
			return &fileerr.Questions{File: l.Questions, Line: q.Line, Field: "db_id",
				Err: fmt.Errorf("is %s, but %s before: --db is one database", q.DB, first.DB)}
		}
	}
	for i := range dataset.Questions {
		dataset.Questions[i].DB = cmp.Or(first.DB, name)
	}
	return nil
}
