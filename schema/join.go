package schema

import (
	"cmp"
	"strings"
)

// Join says that two columns are compared to join their tables. It has no direction: a = b joins as b = a does.
type Join struct {
	Left  ColumnName `json:"left"`
	Right ColumnName `json:"right"`
}

// String is "A.x = B.y".
func (j Join) String() string { return j.Left.String() + " = " + j.Right.String() }

// Equal reports whether both compare the same columns, whichever stands first. Names are compared as SQL does, without
// case.
func (j Join) Equal(k Join) bool {
	same := func(a, b ColumnName) bool {
		return EqualFold(a.Table.Schema, b.Table.Schema) && EqualFold(a.Table.Name, b.Table.Name) && EqualFold(a.Column, b.Column)
	}
	return same(j.Left, k.Left) && same(j.Right, k.Right) || same(j.Left, k.Right) && same(j.Right, k.Left)
}

// Ordered is j with the column first whose name sorts first, by schema, table and column.
func (j Join) Ordered() Join {
	a, b := j.Left, j.Right
	if cmp.Or(strings.Compare(a.Table.Schema, b.Table.Schema), strings.Compare(a.Table.Name, b.Table.Name), strings.Compare(a.Column, b.Column)) > 0 {
		return Join{Left: b, Right: a}
	}
	return j
}
