package linker

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Scores of a pair of columns: see Joins.Candidates.
const (
	nameWeight, titleWeight, keyWeight, patternWeight = 0.40, 0.25, 0.20, 0.15

	leastJoin = 0.5 // a pair scores more than this
)

// Candidates returns the ways to join two tables that the names and types of their columns suggest. They score above
// 0.5; the best is first, ties go by name. Declared foreign keys are ignored.
//
// The score of a pair of columns with similar types is a sum:
//   - 0.40 × the similarity of their names;
//   - 0.25 × the similarity of their titles;
//   - 0.20 if one is a primary key;
//   - 0.15 if the name of one refers to the other table. Such a name is the table's singular. It may be followed by
//     id, key, code, number, no or the name of the other column, or come after fk.
//
// The sum is divided by 0.75 unless both have titles. Similarity is by Ratcliff and Obershelp: 2 × the matching
// characters ÷ all characters. A name like id, which would fit any table, is compared with its table's name in front.
// Types may differ if one name is the full name of the other, a primary key.
func (Joins) Candidates(a, b *schema.Table) (found []ScoredJoin) {
	ys := joinEnds(b)
	for _, x := range joinEnds(a) {
		for _, y := range ys {
			if score := x.score(y); score > leastJoin {
				found = append(found, ScoredJoin{Join: schema.Join{Left: x.ColumnName, Right: y.ColumnName}.Ordered(),
					Confidence: score, Origin: joinOfNames})
			}
		}
	}
	slices.SortFunc(found, compareJoins)
	return found
}

// compareJoins puts the most confident first; ties go by name.
func compareJoins(a, b ScoredJoin) int {
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.String(), b.String()))
}

// joinEnd is a column that may be compared in a join.
type joinEnd struct {
	schema.ColumnName
	full      string // the name; a name that would fit any table has its table in front: id is customer id
	title     string
	name      string // as stemmed writes it
	of        string // the name of the table, as stemmed writes it
	family    string // types of one family may be compared
	isPrimary bool
}

func joinEnds(t *schema.Table) []joinEnd {
	ends := make([]joinEnd, len(t.Columns))
	of := stemmed(t.Name)
	for i, c := range t.Columns {
		ends[i] = joinEnd{
			ColumnName: schema.ColumnName{Table: t.TableName(), Column: c.Name},
			full:       c.Name, title: c.Title, name: stemmed(c.Name), of: of, family: typeFamily(c.Type),
			isPrimary: slices.ContainsFunc(t.PrimaryKey, func(name string) bool { return schema.EqualFold(name, c.Name) }),
		}
		if all(words.OfName(c.Name), keyWords) {
			ends[i].full = t.Name + " " + c.Name
		}
	}
	return ends
}

func (x *joinEnd) score(y joinEnd) float64 {
	toTable, toColumn := x.refersTo(&y)
	backToTable, backToColumn := y.refersTo(x)
	if !toColumn && !backToColumn && x.family != y.family {
		return 0
	}
	score, most := nameWeight*words.Similarity(x.full, y.full), 1.0
	if x.title != "" && y.title != "" {
		score += titleWeight * words.Similarity(x.title, y.title)
	} else {
		most -= titleWeight
	}
	if x.isPrimary || y.isPrimary {
		score += keyWeight
	}
	if toTable || backToTable {
		score += patternWeight
	}
	return math.Round(min(score/most, 1)*1e6) / 1e6
}

// refersTo reports whether x names the table of y, alone or with a key suffix, and whether the suffix names the
// column y. In the second case x refers to y and to no other key of its table.
func (x *joinEnd) refersTo(y *joinEnd) (table, column bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(x.name, "fk"), y.of)
	if !ok || y.of == "" {
		return false, false
	}
	column = y.isPrimary && (rest == "" || rest == strings.TrimPrefix(y.name, y.of))
	return column || rest == "" || keyWords[rest], column
}

var keyWords = words.Set("id key code number no")

// stemmed is a name without case, blanks and plurals.
func stemmed(name string) string { return strings.Join(words.Stems(name), "") }

// typeFamily is the same for types whose values may be compared: numbers, times, texts, or one name of a type.
func typeFamily(declared string) string {
	name, _, _ := strings.Cut(strings.ToLower(declared), "(")
	name = strings.TrimSpace(name)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
	}
	switch {
	case has("int", "num", "dec", "real", "floa", "doub", "serial"):
		return "number"
	case has("date", "time"):
		return "time"
	case has("char", "text", "clob", "string"):
		return "text"
	}
	return name
}
