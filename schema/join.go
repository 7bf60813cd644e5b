package schema

import (
	"cmp"
	"strings"
)

// Join is a pair of columns whose comparison joins their tables. It has no direction: a = b and b = a are the same
// join.
type Join struct {
	Left  ColumnName `json:"left"`
	Right ColumnName `json:"right"`
}

// String returns "A.x = B.y".
func (j Join) String() string { return j.Left.String() + " = " + j.Right.String() }

// Equal reports whether both compare the same columns, in any order. The case of names does not matter, as in SQL.
func (j Join) Equal(k Join) bool {
	same := func(a, b ColumnName) bool {
		return EqualFold(a.Table.Schema, b.Table.Schema) && EqualFold(a.Table.Name, b.Table.Name) &&
			EqualFold(a.Column, b.Column)
	}
	return same(j.Left, k.Left) && same(j.Right, k.Right) || same(j.Left, k.Right) && same(j.Right, k.Left)
}

// Ordered returns j with its columns sorted by schema, table and column name.
func (j Join) Ordered() Join {
	a, b := j.Left, j.Right
	if cmp.Or(strings.Compare(a.Table.Schema, b.Table.Schema), strings.Compare(a.Table.Name, b.Table.Name),
		strings.Compare(a.Column, b.Column)) > 0 {
		return Join{Left: b, Right: a}
	}
	return j
}
