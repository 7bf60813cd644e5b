// Package eval says how good statements are that models wrote: it reads
// datasets and recorded answers, executes both, and scores and
// calibrates.
//
// It is not for asking a model (package strategy does) nor for choosing among
// candidates (package vote does). No model and no voter is ever shown a gold by
// it.
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
// An engine of one's own is measured by [Run].
//
// The parts: a [Dataset] of [Question] and files of [Answer]; a [Store] that runs each
// distinct statement once and remembers fingerprints instead of rows; a [Metric],
// such as [VA] or [EX], which the [Scorer] asks about every answer; a [Report] of a run;
// and over each [Outcome] the interval of [Bootstrap], a calibration ([Isotonic]) and a [Threshold].
//
// Denominators are always all questions of the dataset. A question without an
// answer counts as wrong, and so does one whose gold has no result or whose
// database is missing or damaged; how many those are stands beside every rate.
// What cannot be right in a file is a [FileError] with file, line and field.
//
// Statements run under the guard of package exec, with the limits under which
// the recorded verdicts were made: 10 seconds and 200,000 rows. The package
// imports no driver.
package eval
