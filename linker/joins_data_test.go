package linker_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
)

func TestProto(t *testing.T) {
	paths, err := filepath.Glob(data(t).Path("db", "*", "*.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	pairs, first, none, unrelated, falseJoins := 0, 0, 0, 0, 0
	for _, path := range paths {
		s, err := openData(t, path).Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Tables {
			for j := range i {
				a, b := &s.Tables[j], &s.Tables[i]
				var right []schema.Join
				for _, p := range [][2]*schema.Table{{a, b}, {b, a}} {
					for _, k := range p[0].ForeignKeys {
						if schema.EqualFold(k.RefTable, p[1].Name) {
							for n := range k.Columns {
								right = append(right, schema.Join{Left: schema.ColumnName{Table: p[0].TableName(), Column: k.Columns[n]}, Right: schema.ColumnName{Table: p[1].TableName(), Column: k.RefColumns[n]}})
							}
						}
					}
				}
				got := linker.JoinCandidates(a, b)
				if len(right) == 0 {
					unrelated++
					if len(got) > 0 && got[0].Confidence >= .75 {
						falseJoins++
						t.Log("false", filepath.Base(path), got[0].Join, got[0].Confidence)
					}
					continue
				}
				pairs++
				switch {
				case len(got) == 0:
					none++
					t.Log("none", filepath.Base(path), right)
				case slices.ContainsFunc(right, got[0].Join.Equal):
					first++
				default:
					t.Log("wrong", filepath.Base(path), right, got[0].Join, got[0].Confidence)
				}
			}
		}
	}
	t.Log(len(paths), pairs, first, none, unrelated, falseJoins)
}
