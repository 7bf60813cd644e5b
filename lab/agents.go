package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/lab/internal/mysqlite"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/testsuite"
)

// agents is the verb replay-agent.
type agents struct {
	Data    string   `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	System  []string `sep:"," placeholder:"NAME" help:"Only these systems; the names are above."`
	Suites  string   `placeholder:"DIR" help:"Also ts_right, by variations of the database that are kept in DIR and made there if need be."`
	Workers int      `default:"${cpus}" help:"Statements at a time."`
	JSON    bool     `name:"json" help:"JSON lines instead of a table."`
}

// Help is the part of --help that explains words and keys.
func (agents) Help() string {
	return `What the parts of the agents of MacKenzieOBrian/NLtoSQL are worth, by replaying what is stored of them about
ClassicModels. The statements are MySQL's and run on SQLite, which is given the functions it lacks.

  staged0 to staged3   the stored replies of an agent of the ladder through agent.Staged{Stage: n}; no baseline is stored
  react            the stored walks of the later agent through agent.ReAct{}
  react-document   the same through agent.ReAct{}.Published()

JSON: a line for each system and run.
  system, run      run is that of the stored walks
  n, right         questions, and those whose answer is right: equal bags of rows
  ts_right         right on the variations of --suites too; null without
  recorded         right by the source's own verdict, on MySQL and its data
  calls            replies of the model that were taken
  diverged         walks in which a statement ran here and failed there, or the other way round
  same             of the others, those that end with the recorded statement
  by_clamp, by_vote, by_repair
                   of the ladder: answers that are a clamp's variant of what was written, whose result is not that of the
                   first sample that ran, that are a repair's; an answer may be several
  any              of the ladder: questions of which some form of some stored reply is right`
}

// agentLine is one line of the output.
type agentLine struct {
	System   string `json:"system"`
	Run      string `json:"run"`
	N        int    `json:"n"`
	Right    int    `json:"right"`
	TSRight  *int   `json:"ts_right"`
	Recorded int    `json:"recorded"`
	Calls    int    `json:"calls"`
	Diverged int    `json:"diverged"`
	Same     int    `json:"same"`

	ByClamp  *int `json:"by_clamp,omitempty"`
	ByVote   *int `json:"by_vote,omitempty"`
	ByRepair *int `json:"by_repair,omitempty"`
	Any      *int `json:"any,omitempty"`
}

// agentSystems are those that can be replayed, in order.
var agentSystems = []string{"staged0", "staged1", "staged2", "staged3", "react", "react-document"}

// agentLab is what every part needs.
type agentLab struct {
	folder  *pools.Folder
	dataset *eval.Dataset
	db      *exec.DB
	scorer  *eval.Scorer // equal bags, and test-suite accuracy where there are suites
}

// Run replays every system.
func (a *agents) Run(p *program) error {
	if a.Workers < 1 {
		return errors.New("--workers must be at least 1")
	}
	lab, closeLab, err := a.open(p)
	defer closeLab()
	if err != nil {
		return err
	}
	var lines []agentLine
	for _, system := range agentSystems {
		if len(a.System) > 0 && !slices.Contains(a.System, system) {
			continue
		}
		replay := replayLadder
		if strings.HasPrefix(system, "react") {
			replay = replayWalks
		}
		list, err := replay(p, lab, system)
		if err != nil {
			return err
		}
		lines = append(lines, list...)
	}
	if len(lines) == 0 {
		return errors.New("--system: nothing has such a name (--help lists them)")
	}
	if a.JSON {
		return jsonLines(p.out, lines)
	}
	var rows [][]string
	for _, l := range lines {
		rows = append(rows, []string{l.System, l.Run, strconv.Itoa(l.N), strconv.Itoa(l.Right), figure(l.TSRight),
			strconv.Itoa(l.Recorded),
			strconv.Itoa(l.Calls), strconv.Itoa(l.Diverged), strconv.Itoa(l.Same), figure(l.ByClamp), figure(l.ByVote),
			figure(l.ByRepair), figure(l.Any)})
	}
	heads := []string{"system", "run", "n", "right", "ts", "recorded", "calls", "diverged", "same", "by clamp", "by vote",
		"by repair", "any"}
	return table(p.out, heads, rows)
}

// figure is a number, or a dash for none.
func figure(n *int) string {
	if n == nil {
		return "–"
	}
	return strconv.Itoa(*n)
}

// open opens the database and what judges answers about it. closeLab is never nil.
func (a *agents) open(p *program) (lab *agentLab, closeLab func(), err error) {
	lab, closeLab = &agentLab{}, func() {}
	if lab.folder, lab.dataset, err = openDataset(p, a.Data, "classicmodels"); err != nil {
		return lab, closeLab, err
	}
	path, err := lab.folder.Database("classicmodels")
	if err != nil {
		return lab, closeLab, err
	}
	pool, err := mysqlite.OpenReadOnly(path)
	if err != nil {
		return lab, closeLab, err
	}
	config := eval.StoreConfig{Find: lab.folder.Database, Open: mysqlite.OpenReadOnly, Policy: mysqlite.Policy(),
		Workers: a.Workers}
	store := eval.NewStore(config)
	closeLab = func() { store.Close(); pool.Close() }
	lab.scorer = &eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{Rule: "bag"}}}
	if lab.db, err = exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: config.Policy}); err != nil || a.Suites == "" {
		return lab, closeLab, err
	}
	p.note("reading the test suite in %s, or making it", a.Suites)
	g := testsuite.Generator{Seed: 1, Workers: a.Workers, Open: mysqlite.Open, Exec: exec.Config{Policy: config.Policy}}
	suite, err := openSuite(p.ctx, path, a.Suites, g, lab.dataset.Questions, config)
	if err != nil {
		return lab, closeLab, err
	}
	closeLab = func() { suite.Close(); store.Close(); pool.Close() }
	lab.scorer.Metrics = append(lab.scorer.Metrics,
		testsuite.TS{Suites: map[string]*testsuite.Suite{"classicmodels": suite}})
	return lab, closeLab, nil
}

// judge counts an answer into a line.
func (lab *agentLab) judge(p *program, q eval.Question, sql string, line *agentLine) error {
	v, err := lab.scorer.Score(p.ctx, q, sql)
	if err != nil {
		return err
	}
	line.N++
	if v.Fault != "" {
		p.note("question %s cannot be judged: %s", q.ID, v.Fault)
		return nil
	}
	line.Right += int(v.Scores[0])
	if len(v.Scores) > 1 {
		if line.TSRight == nil {
			line.TSRight = new(int)
		}
		*line.TSRight += int(v.Scores[1])
	}
	return nil
}
