package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/lab/internal/replay"
	"github.com/texttosql/texttosql/lab/pools"
)

// asks is the verb ask.
type asks struct {
	Data     string   `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Pool     []string `sep:"none" placeholder:"NAME" help:"Pool to replay; may be repeated. Default: the five below."`
	Below    float64  `default:"0.6" placeholder:"SHARE" help:"Ask where the winner has a smaller share of the votes, in 0..1 (WithClarifyBelow)."`
	Options  int      `default:"3" placeholder:"N" help:"Answers that the user may choose from, at most."`
	JSON     bool     `name:"json" help:"JSON lines instead of a table."`
	onServer `embed:""`
}

// askPools are the default of --pool.
var askPools = []string{"classicmodels/qwen_base_k3", "classicmodels/base_k3", "classicmodels/qwen_react_k3",
	"spider_dev/all?first=12", "bird_dev/all?first=12"}

// Help is the part of --help that explains words and keys.
func (asks) Help() string {
	return `The user is asked where the winner of the vote has less than the share --below of the votes, and there are two
answers or more. The user sees the best answers of the vote, in its order, and chooses the right one if it is
among them, else the first. Pools are named as for votes; NAME?first=12 has the first twelve runs of NAME.
Default: ` + strings.Join(askPools, ", ") + `

JSON: a line for each pool.
  pool, n      its name and its questions
  below        that of --below
  vote         share of right answers of the vote "result" of votes: majority by result, sets of rows,
               first seen wins ties
  asked        share of the questions that the user is asked about
  ex           share of right answers with what the user chooses
  any          share of questions to which some answer is right
  default      {vote, asked, ex} with the vote of the default strategy (consensus)`
}

// Run replays the pools.
func (a *asks) Run(p *program) error {
	if !(a.Below >= 0 && a.Below <= 1) || a.Options < 2 {
		return fmt.Errorf("--below must be in 0..1, and --options at least 2")
	}
	if err := a.check(); err != nil {
		return err
	}
	folder, err := pools.OpenFolder(a.Data)
	if err != nil {
		return err
	}
	names := askPools
	if len(a.Pool) > 0 {
		names = a.Pool
	}
	bar := newProgress(p.err, "examining answers", -1)
	loaded, err := replay.Loader{Folder: folder, Open: a.open, Dialect: a.dialect(), Step: bar.step}.Load(p.ctx,
		distinct(names))
	bar.done()
	if err != nil {
		return err
	}
	if len(loaded.Pools) == 0 {
		return noneLeft(p, loaded.Failed)
	}
	new(votes).tell(p, folder, loaded)
	lines, err := replay.Ask(loaded.Pools, a.Below, a.Options)
	if err != nil {
		return err
	}
	if a.JSON {
		err = jsonLines(p.out, lines)
	} else {
		heads := []string{"pool", "n", "vote", "asked", "ex", "default vote", "asked", "ex", "any"}
		var rows [][]string
		for _, l := range lines {
			row := []string{l.Pool, strconv.Itoa(l.N)}
			for _, x := range []float64{l.Vote, l.Asked.Asked, l.EX, l.Other.Vote, l.Other.Asked, l.Other.EX, l.Any} {
				row = append(row, share(x))
			}
			rows = append(rows, row)
		}
		err = table(p.out, heads, rows)
	}
	if err == nil && len(loaded.Failed) > 0 {
		err = fmt.Errorf("%d of the %d pools asked for are left out", len(loaded.Failed), len(names))
	}
	return err
}
