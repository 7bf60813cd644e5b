package sqlite

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// written is the text that runs in place of a statement, and the calls in it with what stood there.
type written struct {
	text  string
	calls [][2]string
}

// written writes json_group_array and json_group_object as group_concat, which SQLITE_LIMIT_LENGTH bounds. The values
// are the same. A call of another form stays, and the gate refuses it.
func (c *catalog) written(s *sqltext.Statement) written {
	folded := schema.FoldCase(s.SQL())
	if !strings.Contains(folded, "json_group_") || c.functions["json_group_array"] || c.functions["json_group_object"] {
		return written{text: s.SQL()}
	}
	r := rewriting{Text: guard.NewText(s), sql: s.SQL()}
	return written{r.between(0, r.Len()), r.calls}
}

// original returns the names of columns as the statement would have them.
func (w written) original(names []string) (original []string, changed bool) {
	original = slices.Clone(names)
	for i := range original {
		for _, call := range slices.Backward(w.calls) {
			original[i] = strings.ReplaceAll(original[i], call[0], call[1])
		}
	}
	return original, !slices.Equal(original, names)
}

// rewriting is a text that is written anew.
type rewriting struct {
	guard.Text
	sql   string
	calls [][2]string // those in others before them
}

// raw is the text from token i up to token end, without what stands behind the last of them.
func (r *rewriting) raw(i, end int) string {
	if i >= end {
		return ""
	}
	return r.sql[r.Pos(i):r.End(end-1)]
}

// between returns the text from token i up to token end, with its calls written anew.
func (r *rewriting) between(i, end int) string {
	var out strings.Builder
	done := i
	for k := i; k < end; k++ {
		name := r.Word(k)
		if name != "json_group_array" && name != "json_group_object" || r.Raw(k+1) != "(" || r.Raw(k-1) == "." {
			continue
		}
		call, behind := r.call(name, k+2, end)
		if call == "" {
			continue
		}
		if k > i {
			out.WriteString(r.sql[r.Pos(done):r.Pos(k)])
		}
		out.WriteString(call)
		if behind < end { // what stood between the tokens
			out.WriteString(r.sql[r.End(behind-1):r.Pos(behind)])
		}
		done, k = behind, behind-1
	}
	return out.String() + r.raw(done, end)
}

// call returns what stands in place of a call whose arguments begin with token i, and the token behind it; "" where it
// has another form.
func (r *rewriting) call(name string, i, end int) (text string, behind int) {
	closing := r.closing(i, end)
	if closing < 0 {
		return "", 0
	}
	distinct, first := "", i-2
	if r.Word(i) == "distinct" {
		distinct = "DISTINCT "
		i++
	}
	order, comma, depth := closing, -1, 0
	for k := i; k < closing; k++ {
		switch r.Raw(k) {
		case "(":
			depth++
		case ")":
			depth--
		case ",":
			if depth == 0 && order == closing && comma < 0 {
				comma = k
			} else if depth == 0 && order == closing {
				return "", 0
			}
		}
		if depth == 0 && r.Word(k) == "order" && r.Word(k+1) == "by" && order == closing {
			order = k
		}
	}
	value, brackets := "", ""
	switch isArray := name == "json_group_array"; {
	case isArray && comma < 0 && order > i:
		value, brackets = "json_quote("+r.between(i, order)+")", "[]"
	case !isArray && comma > i && order > comma+1 && distinct == "":
		key := "nullif(json_quote(CAST(" + r.between(i, comma) + " AS TEXT)), 'null')" // an entry without a name is left out
		value, brackets = key+" || ':' || json_quote("+r.between(comma+1, order)+")", "{}"
	default:
		return "", 0
	}
	if order < closing {
		value += " " + r.between(order, closing)
	}
	behind = closing + 1
	more := ""
	for _, word := range []string{"filter", "over"} {
		switch inside := r.closing(behind+2, end); {
		case r.Word(behind) == word && r.Raw(behind+1) == "(" && inside > 0:
			more += " " + word + " (" + r.between(behind+2, inside) + ")"
			behind = inside + 1
		case r.Word(behind) == word && word == "over" && behind+1 < end: // a window with a name
			more += " over " + r.raw(behind+1, behind+2)
			behind += 2
		}
	}
	all := "coalesce(group_concat(" + distinct + value + ")" + more + ", '')"
	text = "json('" + brackets[:1] + "' || " + all + " || '" + brackets[1:] + "')"
	r.calls = append(r.calls, [2]string{text, r.raw(first, behind)})
	return text, behind
}

// closing returns the bracket that closes the one before token i; -1: there is none before end.
func (r *rewriting) closing(i, end int) int {
	depth := 1
	for k := i; k < end; k++ {
		switch r.Raw(k) {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return -1
}
