package main

import (
	"fmt"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/internal/page"
	"github.com/texttosql/texttosql/lab/internal/replay"
)

// votesPage shows the figures of votes, and says what was left out.
func votesPage(p *program, lines []replay.Line, rules []replay.RuleFigures, left []string) page.Page {
	// The charts are about all pools together, or the only pool.
	scope := lines[len(lines)-1].Pool
	of := map[string]replay.Line{}
	var costs []page.Point
	for _, l := range lines {
		if l.Pool != scope {
			continue
		}
		of[l.Voter] = l
		if l.Voter != "any" {
			costs = append(costs, page.Point{
				Name: l.Voter, Cost: l.Mean, Right: l.EX, Low: l.CI[0], High: l.CI[1], Marked: l.Voter == "consensus",
			})
		}
	}
	where := "all pools together"
	if scope != replay.AllPools {
		where = scope
	}
	doc := page.Page{
		Title:   "Votes over recorded answers",
		Intro:   "Stored answers of real models, voting again. Right means: the rows are the gold's, compared as sets. Figures are of kind recorded; charts show " + where + ".",
		Command: p.command(),
		Notes:   left,
		Figures: []page.Figure{page.CostChart("Accuracy against cost", "Each voter by the samples it needs a question; consensus is marked.", "samples a question", costs)},
	}
	if any, ok := of["any"]; ok {
		doc.Facts = append(doc.Facts, page.Fact{Name: "Ceiling (any)", Value: percent(any.EX), Note: "at least one answer is right"})
	}
	for _, name := range []string{"one", "result", "consensus"} {
		if l, ok := of[name]; ok {
			doc.Facts = append(doc.Facts, page.Fact{Name: name, Value: percent(l.EX), Note: fmt.Sprintf("%s to %s", percent(l.CI[0]), percent(l.CI[1]))})
		}
	}
	best, ok := of["consensus"]
	if !ok {
		for _, l := range of {
			if l.AUROC != nil && (best.AUROC == nil || l.EX > best.EX || l.EX == best.EX && l.Voter < best.Voter) {
				best = l
			}
		}
	}
	if best.AUROC != nil {
		doc.Facts = append(doc.Facts, page.Fact{Name: "AUROC of " + best.Voter, Value: share(*best.AUROC), Note: fmt.Sprintf("%s to %s", share(best.AUROCCI[0]), share(best.AUROCCI[1]))})
		if best.Risk50 != nil {
			doc.Facts = append(doc.Facts, page.Fact{Name: "Wrong in the surer half", Value: percent(*best.Risk50), Note: fmt.Sprintf("%s to %s", percent(best.Risk50CI[0]), percent(best.Risk50CI[1]))})
		}
		doc.Figures = append(doc.Figures, reliability(best.Voter, best.Outcomes))
		curves := []page.Curve{riskCurve(best.Voter, best.Outcomes)}
		if l, ok := of["result"]; ok && best.Voter != "result" {
			curves = append(curves, riskCurve("result", l.Outcomes))
		}
		doc.Figures = append(doc.Figures, page.Risk("Risk and coverage", "How many answers are wrong if only the surest are given.", curves))
	}
	compared := []replay.Line{}
	for _, name := range []string{best.Voter, "result"} {
		if l, ok := of[name]; ok && (len(compared) == 0 || name != compared[0].Voter) {
			compared = append(compared, l)
		}
	}
	if len(compared) > 0 {
		doc.Figures = append(doc.Figures, poolBars(lines, compared), databaseBars(compared))
	}
	heads, rows := votesTable(lines)
	doc.Tables = append(doc.Tables, page.Table{
		Title: "All voters and pools", Columns: heads, Rows: rows,
		Note: "points: difference of ex to the voter result, in points, with 95 % intervals by question and by template. A voter with * is fitted, on other questions than it votes on.",
	})
	if len(rules) > 0 {
		heads, rows = rulesTable(rules)
		doc.Tables = append(doc.Tables, page.Table{
			Title: "Rules of the doubts", Columns: heads, Rows: rows,
			Note: "leaving it out: how many more winners of consensus are right without the rule; negative where it helps.",
		})
	}
	return doc
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// reliability is the chart of how far a confidence can be trusted.
func reliability(name string, outcomes []eval.Outcome) page.Figure {
	list := eval.Reliability(outcomes, 10)
	var bins []page.Bin
	for _, b := range list {
		bins = append(bins, page.Bin{Confidence: b.Confidence, Right: b.Right, Low: b.Interval.Low, High: b.Interval.High, N: b.N})
	}
	return page.Reliability("Calibration of "+name,
		fmt.Sprintf("On the dashed line a confidence is what it says; larger dots are more questions. ECE %.3f over 10 bins, Brier score %.3f.", eval.ECE(list), eval.Brier(outcomes)), bins)
}

func riskCurve(name string, outcomes []eval.Outcome) page.Curve {
	c := page.Curve{Name: name}
	for _, point := range eval.RiskCurve(outcomes) {
		c.Points = append(c.Points, [2]float64{point.Coverage, point.Risk})
	}
	return c
}

// poolBars compares voters by pool.
func poolBars(lines []replay.Line, voters []replay.Line) page.Figure {
	var bars []page.Bar
	at := map[string]int{}
	for _, l := range lines {
		for i, v := range voters {
			if l.Voter != v.Voter {
				continue
			}
			if _, ok := at[l.Pool]; !ok {
				at[l.Pool] = len(bars)
				bars = append(bars, page.Bar{Name: l.Pool, Shares: make([]float64, len(voters)), Note: fmt.Sprintf("of %d", l.N)})
			}
			bars[at[l.Pool]].Shares[i] = l.EX
		}
	}
	return page.Bars("By pool", "", voterNames(voters), bars)
}

// databaseBars compares voters by database.
func databaseBars(voters []replay.Line) page.Figure {
	var bars []page.Bar
	at := map[string]int{}
	for i, v := range voters {
		for _, r := range eval.Rates(v.Outcomes, eval.ByDatabase, eval.Bootstrap{Rounds: 1}) {
			if _, ok := at[r.Name]; !ok {
				at[r.Name] = len(bars)
				bars = append(bars, page.Bar{Name: r.Name, Shares: make([]float64, len(voters)), Note: fmt.Sprintf("of %d", r.Score.N)})
			}
			bars[at[r.Name]].Shares[i] = r.Score.Value
		}
	}
	return page.Bars("By database", "", voterNames(voters), bars)
}

func voterNames(voters []replay.Line) []string {
	var names []string
	for _, v := range voters {
		names = append(names, v.Voter)
	}
	return names
}
