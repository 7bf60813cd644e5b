// Package eval measures how good the statements of models are. It reads datasets and recorded answers, executes
// both, computes scores and calibrates thresholds.
//
// It does not call a model (package strategy does) and does not choose among candidates (package vote does). It
// never shows a gold statement to a model or a voter.
//
//	dataset, err := eval.ReadDataset("questions.jsonl")
//	store := eval.NewStore(eval.StoreConfig{
//		Find: func(id string) (string, error) { return id + ".sqlite", nil },
//		Open: func(path string) (*sql.DB, error) {
//			return sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1")
//		},
//	})
//	defer store.Close()
//	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{eval.VA{}, eval.EX{}}}
//	reports, err := scorer.ScoreRuns(ctx, dataset, "answers.jsonl", eval.Answers("answers.jsonl"))
//	for _, r := range reports {
//		fmt.Print(r)
//	}
//
// To measure your own engine, use [Run].
//
// The parts:
//
//   - a [Dataset] of [Question], and files of [Answer];
//   - a [Store], which runs each distinct statement once and keeps fingerprints instead of rows;
//   - a [Metric], such as [VA] or [EX], which the [Scorer] computes for every answer;
//   - a [Report] of a run, with the interval of each score ([Report.Estimate]);
//   - a [Threshold] over a list of [Outcome].
//
// The denominator is always all questions of the dataset. A question without an answer counts as wrong. So does
// a question whose gold has no result or whose database is missing or damaged; each report has the number of
// these. Invalid content of a file is an error with file, line and field.
//
// Statements run under the guard of package exec. The default limits are those under which the recorded
// verdicts were made: 10 seconds and 200,000 rows. The package imports no driver.
package eval
