package main

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/knowledge/dbt"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/result"
)

// knowledgeVerb is the verb knowledge.
type knowledgeVerb struct {
	Dir   string `name:"dir" default:"${knowledge}" placeholder:"DIR" help:"Folder of models, requests and pairs (default: TEXTTOSQL_DATA_KNOWLEDGE)."`
	Data  string `default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Draws int    `default:"2000" placeholder:"N" help:"Draws of samples for each question."`
	Seed  uint64 `default:"1" placeholder:"N" help:"Seed of the draws."`
	JSON  bool   `name:"json" help:"JSON lines instead of a table."`
}

// Help is the part of --help that explains words and keys.
func (knowledgeVerb) Help() string {
	return `Metric requests are compiled and held against statements that a person wrote for them, on SQLite; the test TestRequests of
lab/knowledge does the same on PostgreSQL and MariaDB. Then recorded pairs of statement and request vote by result: so many of each
kind are drawn for a question, ties go to requests, and the winner is as right as the benchmark judged it.

JSON: one line for the requests and one for each vote.
  requests, equal, refused   lines of requests.jsonl for SQLite; those with the rows of the statement by hand; those refused for
                             the reason that is written there
  naive_differs, naive       joins of everything that give other rows than the request, of all that are written there
  statements, metrics        samples of each kind in the vote
  questions, right, ci       questions; the mean share of right winners; its 95 % interval, questions drawn again
  by_question                the share of right winners of each question`
}

// requestsLine is what the requests gave.
type requestsLine struct {
	Requests     int `json:"requests"`
	Equal        int `json:"equal"`
	Refused      int `json:"refused"`
	NaiveDiffers int `json:"naive_differs"`
	Naive        int `json:"naive"`
}

// pairsLine is one composition of a vote.
type pairsLine struct {
	Statements int        `json:"statements"`
	Metrics    int        `json:"metrics"`
	Questions  int        `json:"questions"`
	Right      float64    `json:"right"`
	CI         [2]float64 `json:"ci"`
	ByQuestion []float64  `json:"by_question"`
}

// Run measures both.
func (k *knowledgeVerb) Run(p *program) error {
	if k.Dir == "" || k.Draws < 1 {
		return errors.New("--dir (or TEXTTOSQL_DATA_KNOWLEDGE) names no folder, or --draws is below 1")
	}
	requests, err := k.requests(p.ctx)
	if err != nil {
		return err
	}
	votes, err := k.pairs(p.ctx)
	if err != nil {
		return err
	}
	if k.JSON {
		if err := jsonLines(p.out, []requestsLine{requests}); err != nil {
			return err
		}
		return jsonLines(p.out, votes)
	}
	fmt.Fprintf(p.out, "requests on SQLite: %d equal and %d refused of %d; the join of everything gives other rows in "+
		"%d of %d\n\n",
		requests.Equal, requests.Refused, requests.Requests, requests.NaiveDiffers, requests.Naive)
	var rows [][]string
	for _, v := range votes {
		row := []string{strconv.Itoa(v.Statements), strconv.Itoa(v.Metrics), share(v.Right), share(v.CI[0]) + " to " +
			share(v.CI[1])}
		for _, one := range v.ByQuestion {
			row = append(row, share(one))
		}
		rows = append(rows, row)
	}
	heads := []string{"statements", "requests", "right", "95 %"}
	for i := range votes[0].ByQuestion {
		heads = append(heads, fmt.Sprint("question ", i+1))
	}
	return table(p.out, heads, rows)
}

// digits are those that votes compare.
const digits = 9

// requests holds compiled requests against statements by hand.
func (k *knowledgeVerb) requests(ctx context.Context) (line requestsLine, err error) {
	type written struct {
		Model, SQL, Naive, Error string
		Request                  knowledge.Request
		Engines                  []string
	}
	lines, err := files.Lines[written](filepath.Join(k.Dir, "requests.jsonl"))
	if err != nil {
		return line, err
	}
	equality := result.Equality{Digits: digits}
	for _, l := range lines {
		if l.Engines != nil && !slices.Contains(l.Engines, "sqlite") {
			continue
		}
		line.Requests++
		m, db, err := k.open(l.Model)
		if err != nil {
			return line, err
		}
		sql, err := m.Compile(l.Request, "sqlite")
		var why *knowledge.RequestError
		if l.Error != "" {
			if errors.As(err, &why) && why.Reason == l.Error {
				line.Refused++
			}
			continue
		}
		if err != nil {
			continue
		}
		got, err := db.Query(ctx, sql)
		if err != nil {
			return line, err
		}
		want, err := db.Query(ctx, l.SQL)
		if err != nil {
			return line, err
		}
		if equality.Equal(got, want) {
			line.Equal++
		}
		if l.Naive == "" {
			continue
		}
		naive, err := db.Query(ctx, l.Naive)
		if err != nil {
			return line, err
		}
		if line.Naive++; !equality.Equal(got, naive) {
			line.NaiveDiffers++
		}
	}
	return line, nil
}

// open reads a model and opens its database.
func (k *knowledgeVerb) open(name string) (m knowledge.Model, db *exec.DB, err error) {
	model, read := filepath.Join(k.Dir, "models", name+".json"), knowledge.Read
	path := filepath.Join(k.Dir, "db", name+".sqlite")
	switch name {
	case "acme":
		model, read = filepath.Join(k.Dir, "dbt", "acme", "semantic_manifest.json"), dbt.Read
	case "chinook":
		path = filepath.Join(k.Data, "db", "chinook", "Chinook_Sqlite.sqlite")
	case "classicmodels":
		path = filepath.Join(k.Data, "db", "classicmodels", "classicmodels.sqlite")
	}
	f, err := os.Open(model)
	if err != nil {
		return m, nil, err
	}
	defer f.Close()
	if m, err = read(f); err != nil {
		return m, nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return m, nil, err
	}
	pool := sql.OpenDB(dated{"file:" + path + "?mode=ro&immutable=1"})
	policy := exec.Policy{Reveal: []string{"*"}, AllowFunctions: []string{"datediff"}}
	db, err = exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: policy})
	return m, db, err
}

// dated connects to a SQLite file with the function DATEDIFF('day', a, b), which the golds of dbt's benchmark use.
type dated struct{ dsn string }

func (d dated) Connect(context.Context) (driver.Conn, error) {
	return d.Driver().Open(d.dsn)
}

func (dated) Driver() driver.Driver {
	return &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return c.RegisterFunc("datediff", func(_, from, to string) any {
			a, err := time.Parse(time.DateOnly, from[:min(len(from), len(time.DateOnly))])
			b, berr := time.Parse(time.DateOnly, to[:min(len(to), len(time.DateOnly))])
			if err != nil || berr != nil {
				return nil
			}
			return int64(b.Sub(a).Hours() / 24)
		}, true)
	}}
}

// ballot is one recorded sample: its result, and whether the benchmark found it right.
type ballot struct {
	result string // "": none, so it has no vote
	cells  string // the set of its rows, columns in any order, as the benchmark compares them
	right  bool   // by the benchmark's own verdict, or by these cells: its verdict knows no DATEDIFF
}

// cellsOf names a set of rows whose columns may be in any order.
func cellsOf(t *result.Table) string {
	rows := map[string]bool{}
	for _, row := range t.Rows {
		one := &result.Table{Columns: make([]string, 1)}
		for _, cell := range row {
			one.Rows = append(one.Rows, []any{cell})
		}
		cells, _ := result.Equality{Digits: digits}.Fingerprint(one)
		rows[cells] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(rows)), " ")
}

// recordedPairs are the samples of one question.
type recordedPairs struct{ statements, requests []ballot }

// pairs lets recorded statements and requests vote.
func (k *knowledgeVerb) pairs(ctx context.Context) ([]pairsLine, error) {
	all, err := k.recorded(ctx)
	if err != nil {
		return nil, err
	}
	var lines []pairsLine
	for _, of := range [][2]int{{1, 0}, {6, 0}, {12, 0}, {0, 1}, {0, 6}, {3, 3}, {6, 6}} {
		line := pairsLine{Statements: of[0], Metrics: of[1], Questions: len(all)}
		right := 0.0
		for i, q := range all {
			random := rand.New(rand.NewPCG(k.Seed, uint64(i)))
			won := 0
			for range k.Draws {
				if elect(draw(random, q.statements, of[0]), draw(random, q.requests, of[1])) {
					won++
				}
			}
			line.ByQuestion = append(line.ByQuestion, float64(won)/float64(k.Draws))
			right += line.ByQuestion[i]
		}
		line.Right = right / float64(len(all))
		line.CI = resampled(line.ByQuestion, k.Seed)
		lines = append(lines, line)
	}
	return lines, nil
}

// recorded runs each recorded statement and request once.
func (k *knowledgeVerb) recorded(ctx context.Context) ([]recordedPairs, error) {
	type pair struct {
		Question  string             `json:"question"`
		Gold      string             `json:"gold"`
		Statement string             `json:"statement"`
		Request   *knowledge.Request `json:"request"`
		SRight    bool               `json:"statement_right"`
		RRight    bool               `json:"request_right"`
	}
	list, err := files.Lines[pair](filepath.Join(k.Dir, "pairs.jsonl"))
	if err != nil {
		return nil, err
	}
	m, db, err := k.open("acme")
	if err != nil {
		return nil, err
	}
	run := func(sql string) ballot {
		rows, err := db.Query(ctx, sql)
		if err != nil {
			return ballot{}
		}
		fingerprint, _ := result.Equality{Digits: digits}.Fingerprint(rows)
		return ballot{result: fingerprint, cells: cellsOf(rows)}
	}
	var all []recordedPairs
	places := map[string]int{}
	for _, p := range list {
		i, ok := places[p.Question]
		if !ok {
			i = len(all)
			places[p.Question], all = i, append(all, recordedPairs{})
		}
		gold, statement, request := run(p.Gold), run(p.Statement), ballot{}
		if p.Request != nil {
			if sql, err := m.Compile(*p.Request, "sqlite"); err == nil {
				request = run(sql)
			}
		}
		statement.right = p.SRight || statement.result != "" && statement.cells == gold.cells
		request.right = p.RRight || request.result != "" && request.cells == gold.cells
		all[i].statements, all[i].requests = append(all[i].statements, statement), append(all[i].requests, request)
	}
	return all, ctx.Err()
}

// draw takes n samples without putting one back.
func draw(random *rand.Rand, from []ballot, n int) []ballot {
	var drawn []ballot
	for _, i := range random.Perm(len(from))[:min(n, len(from))] {
		drawn = append(drawn, from[i])
	}
	return drawn
}

// elect reports whether the winner is right: the result that most samples have. Ties go to a result that a request has,
// then to the one that came first.
func elect(statements, requests []ballot) bool {
	type group struct {
		votes   int
		request bool
		right   bool
	}
	var groups []*group
	byResult := map[string]*group{}
	for i, b := range slices.Concat(requests, statements) {
		if b.result == "" {
			continue
		}
		g := byResult[b.result]
		if g == nil {
			g = &group{request: i < len(requests), right: b.right}
			byResult[b.result], groups = g, append(groups, g)
		}
		g.votes++
	}
	if len(groups) == 0 {
		return false
	}
	return slices.MaxFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.votes, b.votes), cmp.Compare(oneIf(a.request), oneIf(b.request)))
	}).right
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// resampled is the interval of a mean, the questions drawn again.
func resampled(shares []float64, seed uint64) [2]float64 {
	random, means := rand.New(rand.NewPCG(seed, 99)), make([]float64, 2000)
	for i := range means {
		for range shares {
			means[i] += shares[random.IntN(len(shares))] / float64(len(shares))
		}
	}
	slices.Sort(means)
	return [2]float64{means[len(means)/40], means[len(means)-len(means)/40-1]}
}
