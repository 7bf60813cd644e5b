package sqltext

import (
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// Skeleton returns a statement without its names and constants. It consists of the tokens in lower case, with _ in
// place of every name, literal and list. Names and literals that an operator, a comma, JOIN … ON, AND or OR joins
// become one _.
//
//	SELECT a.name, count(*) FROM a JOIN b ON a.id = b.id WHERE x > 3 AND y = 'z' GROUP BY a.name
//	select _ , count ( _ ) from _ where _ group by _
//
// The form comes from DAIL-SQL and PET-SQL (arXiv 2308.15363, 2403.09732), here computed from tokens. Two statements
// with one skeleton have the same form.
func (s *Statement) Skeleton() []string {
	p := s.tree()
	s.skeletal.Do(func() { s.skeleton = p.skeletonOf() })
	return s.skeleton
}

// glue are the tokens, other than the comma, that join two names into one.
var glue = words.Set("= < > <= >= <> != + - * / % || and or like is")

func (p *parsed) skeletonOf() (out []string) {
	push := func(token string) {
		out = append(out, token)
		for {
			n := len(out)
			switch {
			case n >= 5 && out[n-1] == "_" && out[n-2] == "on" && out[n-3] == "_" && out[n-4] == "join" && out[n-5] == "_":
				out = out[:n-4]
			case n >= 3 && out[n-1] == "_" && out[n-3] == "_" && (out[n-2] == "," || glue[out[n-2]]):
				out = out[:n-2]
			default:
				return
			}
		}
	}
	for i := range p.items {
		it := &p.items[i]
		switch {
		case it.isOperator(";"), it.isOperator("."), it.role == roleQualif, it.role == roleAlias:
		case it.role == roleKeyword && it.up == "AS", it.role == roleKeyword && (it.up == "INNER" || it.up == "OUTER"):
		case it.role == roleKeyword || it.role == roleFunction:
			push(strings.ToLower(it.Text))
		case it.isOperator("*") && (i == 0 || !p.endsOperand(i-1)):
			push("_")
		case it.Kind == Operator:
			push(plainOperator(it.Text))
		case len(out) > 0 && out[len(out)-1] == "_" && (it.role == roleTable || it.role == roleColumn):
			// the name after a schema or another name of the same item
		default:
			push("_")
		}
	}
	return out
}

// Alike returns the multiset Jaccard index of the skeletons of two statements, in 0..1: the number of shared tokens ÷
// the number of all tokens, with shared ones counted once. For two empty skeletons it is 0.
func (s *Statement) Alike(other *Statement) float64 {
	a, b := s.Skeleton(), other.Skeleton()
	count := map[string]int{}
	for _, t := range a {
		count[t]++
	}
	shared := 0
	for _, t := range b {
		if count[t] > 0 {
			count[t]--
			shared++
		}
	}
	if all := len(a) + len(b) - shared; all > 0 {
		return float64(shared) / float64(all)
	}
	return 0
}
