package linker

import (
	"reflect"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
)

// merge adds b to a. Tables keep the order in which they were first linked. Tables that differ in case only stay apart.
func merge(a, b schema.Links) schema.Links {
	out := schema.Links{
		Whole:  a.Whole || b.Whole,
		Tables: slices.Clone(a.Tables),
		Notes:  append(slices.Clone(a.Notes), b.Notes...),
	}
	for _, t := range b.Tables {
		i := slices.IndexFunc(out.Tables, func(o schema.TableLink) bool {
			return sameTable(o.Schema, o.Table, t.Schema, t.Table)
		})
		if i < 0 {
			out.Tables = append(out.Tables, t)
			continue
		}
		o := &out.Tables[i]
		o.Score += t.Score
		if len(o.Columns) == 0 || len(t.Columns) == 0 { // no column named means all columns
			o.Columns = nil
		} else {
			o.Columns = union(o.Columns, t.Columns)
		}
		o.Values = addValues(o.Values, t.Values)
	}
	return out
}

// addValues returns a with those of b that it does not have.
func addValues(a, b []schema.ValueMatch) []schema.ValueMatch {
	for _, v := range b {
		known := func(m schema.ValueMatch) bool { return reflect.DeepEqual(m, v) } // a Value may be a []byte
		if !slices.ContainsFunc(a, known) {
			a = append(slices.Clip(a), v)
		}
	}
	return a
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, name := range b {
		if !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, name) }) {
			out = append(out, name)
		}
	}
	return out
}
