package schema_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/schema"
)

// sampled is generated with the CREATE text and three rows of each table.
func sampled(n, columns int) (*schema.Schema, []schema.Sample) {
	s := generated(n, columns)
	var rows []schema.Sample
	for i := range s.Tables {
		t := &s.Tables[i]
		sample := schema.Sample{Table: schema.TableName{Name: t.Name}, Rows: make([][]any, 3)}
		var lines []string
		for j, c := range t.Columns {
			lines = append(lines, "  "+c.Name+" "+c.Type)
			sample.Columns = append(sample.Columns, c.Name)
			for k := range sample.Rows {
				sample.Rows[k] = append(sample.Rows[k], fmt.Sprint("value ", i*j+k))
			}
		}
		t.Definition = "CREATE TABLE " + t.Name + " (\n" + strings.Join(lines, ",\n") + "\n)"
		rows = append(rows, sample)
	}
	return s, rows
}

// BenchmarkRenderer: 1,000 tables of 20 columns are to take 50 ms in any form,
// shortened or not.
func BenchmarkRenderer(b *testing.B) {
	s, rows := sampled(1000, 20)
	for _, form := range forms {
		whole := render(b, schema.Renderer{Form: form}, s, rows...).Tokens
		for _, part := range []int{0, 2, 4, 1000} {
			r := schema.Renderer{Form: form}
			if part > 0 {
				r.MaxTokens = whole / part
			}
			b.Run(fmt.Sprintf("%v/tables=1000/tokens=%d", form, r.MaxTokens), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					render(b, r, s, rows...)
				}
			})
		}
	}
}

// countdown is a context that ends after a number of looks at it.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestRendererContext: Render ends with its context, whatever it is doing, and
// looks at it for every table in each of its passes.
func TestRendererContext(t *testing.T) {
	const tables = 40
	s, rows := sampled(tables, 6)
	s.Tables[7].Definition = "" // written from the columns
	for _, form := range forms {
		for _, tokens := range []int{0, 20} {
			t.Run(fmt.Sprintf("%v/%d", form, tokens), func(t *testing.T) {
				r := schema.Renderer{Form: form, MaxTokens: tokens}
				want := render(t, r, s, rows...)
				for n := 0; ; n++ {
					got, err := r.Render(&countdown{t.Context(), n}, s, rows...)
					if err == nil {
						if got.Text != want.Text {
							t.Error("a context that does not end changes the text")
						}
						if passes := n / tables; passes < 4 || tokens > 0 && passes < 6 {
							t.Errorf("%d looks at the context, %d tables", n, tables)
						}
						break
					}
					if !errors.Is(err, context.DeadlineExceeded) || got.Text != "" {
						t.Fatalf("after %d looks: %v, %d bytes", n, err, len(got.Text))
					}
				}
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := r.Render(ended, s, rows...); !errors.Is(err, context.Canceled) {
					t.Errorf("an ended context: %v", err)
				}
			})
		}
	}
}
