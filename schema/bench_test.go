package schema_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/schema"
)

// BenchmarkRenderer: 1,000 tables of 20 columns are to take 50 ms in any form,
// shortened or not.
func BenchmarkRenderer(b *testing.B) {
	s := generated(1000, 20)
	for _, form := range forms {
		whole := render(b, schema.Renderer{Form: form}, s).Tokens
		for _, part := range []int{0, 2, 4, 1000} {
			r := schema.Renderer{Form: form}
			if part > 0 {
				r.MaxTokens = whole / part
			}
			b.Run(fmt.Sprintf("%v/tables=1000/tokens=%d", form, r.MaxTokens), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					render(b, r, s)
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
	s := generated(tables, 6)
	for _, form := range forms {
		for _, tokens := range []int{0, 20} {
			t.Run(fmt.Sprintf("%v/%d", form, tokens), func(t *testing.T) {
				r := schema.Renderer{Form: form, MaxTokens: tokens}
				want := render(t, r, s)
				for n := 0; ; n++ {
					got, err := r.Render(&countdown{t.Context(), n}, s)
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
				if _, err := r.Render(ended, s); !errors.Is(err, context.Canceled) {
					t.Errorf("an ended context: %v", err)
				}
			})
		}
	}
}
