package sqltext

// Grade is a class of difficulty of Spider's rubric.
type Grade string

// The grades, from the easiest to the hardest.
const (
	Easy   Grade = "easy"
	Medium Grade = "medium"
	Hard   Grade = "hard"
	Extra  Grade = "extra"
)

// Hardness grades a query by the rubric of Spider's official scorer
// (taoyds/spider, evaluation.py, eval_hardness), told by tokens instead of the
// scorer's own parse, its quirks included: aggregates in HAVING do not count,
// NOT does. Beyond it, CTEs and nested queries in the select list and ORDER BY
// count as nested. Text that is no SELECT is Extra. Never fails.
func (d Dialect) Hardness(sql string) Grade {
	return Extra
}
