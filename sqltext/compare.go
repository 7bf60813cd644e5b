package sqltext

import (
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
)

// Comparisons returns the comparisons of a column with constants, in text order. It finds column = 'x', 'x' = column,
// column IN ('x', 'y'), column BETWEEN 1 AND 2, column LIKE '%x%', and the constants of CASE column WHEN 'x'.
//
// Only a bare column counts: the constants in lower(name) = 'x' and in price * 2 > 10 are not stored values. Members
// of an IN list that are not constants are left out. In some dialects "x" may be a string. Then an unqualified "x" on
// the other side is a Literal of Kind QuotedName. The caller keeps it if no such column exists.
func (s *Statement) Comparisons() []sqlshape.Comparison {
	p := s.resolved()
	var found []sqlshape.Comparison
	for i, c := range p.columns {
		if comp, ok := p.compared(c); ok {
			comp.ColumnRef = p.refs[i]
			found = append(found, comp)
		}
	}
	return found
}

// comparisonOp reports whether item i is a comparison operator or word, and which. For NOT LIKE and the like i is the
// last word.
func (p *parsed) comparisonOp(i int) (op string, ok bool) {
	it := p.item(i)
	if it.Kind == Operator {
		op = plainOperator(it.Text)
		_, ok = flipped[op]
		return op, ok
	}
	if it.role != roleKeyword {
		return "", false
	}
	switch prev := p.up(i - 1); {
	case it.up == "IS":
		return "IS", true
	case it.up == "NOT" && prev == "IS":
		return "IS NOT", true
	case it.up == "TO" && prev == "SIMILAR":
		op = "SIMILAR TO"
		i--
	case comparing[it.up]:
		op = it.up
	default:
		return "", false
	}
	if p.up(i-1) == "NOT" {
		op = "NOT " + op
	}
	return op, true
}

// comparing are the words that compare, alone or behind NOT.
var comparing = words.Set("LIKE ILIKE GLOB REGEXP RLIKE MATCH IN BETWEEN")

// flipped has each operator whose sides can be exchanged, with the operator for exchanged sides.
var flipped = map[string]string{"=": "=", "<>": "<>", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// compared looks at both sides of a column for a comparison with constants.
func (p *parsed) compared(c column) (sqlshape.Comparison, bool) {
	if p.isArithmetic(c.start-1) || p.isArithmetic(c.end) {
		return sqlshape.Comparison{}, false
	}
	if op, at, ok := p.opBehind(c); ok {
		lits := p.constants(op, at+1)
		return sqlshape.Comparison{Op: op, Literals: lits}, len(lits) > 0
	}
	if p.up(c.start-1) == "CASE" {
		lits := p.cases(c.start - 1)
		return sqlshape.Comparison{Op: "=", Literals: lits}, len(lits) > 0
	}
	op, _ := p.comparisonOp(c.start - 1)
	at := c.start - 2
	if op = flipped[op]; op == "" || !p.isConstant(at) {
		return sqlshape.Comparison{}, false
	}
	lit := p.literal(at)
	before := at - 1
	if lit.Pos < p.items[at].Pos { // signed
		before--
	}
	return sqlshape.Comparison{Op: op, Literals: []sqlshape.Literal{lit}}, !p.isArithmetic(before)
}

// opBehind returns the comparison operator behind a column, and the item of its last word.
func (p *parsed) opBehind(c column) (op string, at int, ok bool) {
	at = c.end
	if p.up(at) == "COLLATE" {
		at += 2
	}
	if p.up(at) == "NOT" || p.up(at) == "IS" && p.up(at+1) == "NOT" {
		at++
	}
	if p.up(at) == "SIMILAR" {
		at++
	}
	op, ok = p.comparisonOp(at)
	return op, at, ok
}

// constants reads what stands behind the operator op, from item i on.
func (p *parsed) constants(op string, i int) []sqlshape.Literal {
	op = strings.TrimPrefix(op, "NOT ")
	if op == "IN" {
		return p.members(i)
	}
	first, next := p.operand(i)
	if first.Text == "" {
		return nil
	}
	if op != "BETWEEN" {
		return []sqlshape.Literal{first}
	}
	if p.up(next) != "AND" {
		return nil
	}
	second, _ := p.operand(next + 1)
	if second.Text == "" {
		return nil
	}
	return []sqlshape.Literal{first, second}
}

// operand reads one constant at item i and returns the item behind it. The constant is empty where there is none, or
// where it is part of a larger expression.
func (p *parsed) operand(i int) (sqlshape.Literal, int) {
	if p.item(i).role == roleKeyword && p.item(i+1).Kind == String {
		i++ // DATE '2020-01-01'
	}
	if p.op(i, "-") || p.op(i, "+") {
		i++
	}
	if !p.isConstant(i) || p.isArithmetic(i+1) {
		return sqlshape.Literal{}, i
	}
	return p.literal(i), i + 1
}

func (p *parsed) members(i int) []sqlshape.Literal {
	if !p.op(i, "(") || p.items[i].match < 0 {
		return nil
	}
	end := p.items[i].match
	var lits []sqlshape.Literal
	for i++; i < end; i++ {
		if lit, next := p.operand(i); lit.Text != "" && (p.op(next, ",") || next == end) {
			lits = append(lits, lit)
			i = next
			continue
		}
		for i < end && !p.op(i, ",") {
			if p.op(i, "(") && p.items[i].match > i {
				i = p.items[i].match
			}
			i++
		}
	}
	return lits
}

// cases reads the constants of CASE column WHEN 'x' THEN … WHEN 'y' …, CASE being item i.
func (p *parsed) cases(i int) []sqlshape.Literal {
	var lits []sqlshape.Literal
	end := p.items[i].match
	for i++; i < end; i++ {
		if m := p.items[i].match; m > i { // a nested CASE or bracket holds no case of this one
			i = m
			continue
		}
		if p.up(i) == "WHEN" {
			if lit, next := p.operand(i + 1); lit.Text != "" && p.up(next) == "THEN" {
				lits = append(lits, lit)
			}
		}
	}
	return lits
}

// isConstant reports whether item i is a constant, or a quoted name that may stand for one.
func (p *parsed) isConstant(i int) bool {
	kind := p.item(i).Kind
	return kind == String || kind == Number || kind == Blob || p.stringLike(i)
}

// stringLike reports whether item i is "x" without a qualifier in a dialect that may take it for a string.
func (p *parsed) stringLike(i int) bool {
	it := p.item(i)
	return it.Kind == QuotedName && it.Text[0] == '"' && !p.d.PlainBrackets && !p.op(i-1, ".") && !p.op(i+1, ".")
}

// isArithmetic reports whether item i is an operator that binds closer than a comparison.
func (p *parsed) isArithmetic(i int) bool {
	it := p.item(i)
	return it.Kind == Operator && arithmetic[it.Text] || it.Kind == Word && arithmetic[it.up]
}

var arithmetic = words.Set("+ - * / % || | & << >> -> ->> #> #>> ^ :: [ . ~ DIV MOD XOR")

// isOperand reports whether a column stands directly beside a comparison, or in a list behind IN.
func (p *parsed) isOperand(c column) bool {
	if _, ok := p.comparisonOp(c.start - 1); ok {
		return true
	}
	if _, _, ok := p.opBehind(c); ok {
		return true
	}
	if p.up(c.start-1) == "AND" { // … BETWEEN x AND column
		j := c.start - 3
		if p.op(j, "-") {
			j--
		}
		for j > 1 && p.op(j, ".") {
			j -= 2
		}
		if p.up(j) == "BETWEEN" || p.op(j-1, ".") && p.up(j-3) == "BETWEEN" {
			return true
		}
	}
	in := p.items[c.start].in
	return in >= 0 && p.up(in-1) == "IN" && (p.op(c.start-1, "(") || p.op(c.start-1, ","))
}
