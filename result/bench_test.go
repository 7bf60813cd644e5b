package result

import (
	"fmt"
	"io"
	"testing"
)

// benchTable is n rows of an id, a name, an amount and a NULL now and then.
func benchTable(n int) *Table {
	t := &Table{Columns: []string{"id", "name", "amount", "note"}}
	for i := range n {
		var note any
		if i%3 == 0 {
			note = "überfällig"
		}
		t.Rows = append(t.Rows, []any{int64(i), fmt.Sprintf("customer %d", i%977), float64(i) * 1.1, note})
	}
	return t
}

func reportRows(b *testing.B, rows int) {
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkFingerprint(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		for _, e := range []Equality{{}, {Set: true}, {Ordered: true}, {Digits: 9}} {
			t := benchTable(n)
			b.Run(fmt.Sprintf("rows=%d/set=%v/ordered=%v/digits=%d", n, e.Set, e.Ordered, e.Digits), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					e.Fingerprint(t)
				}
				reportRows(b, n)
			})
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	t := benchTable(10_000)
	for _, w := range []struct {
		name  string
		write func(io.Writer) error
	}{{"text", t.WriteTable}, {"csv", t.WriteCSV}, {"json", writeJSON(t)}} {
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := w.write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			reportRows(b, len(t.Rows))
		})
	}
}

func BenchmarkUnmarshalJSON(b *testing.B) {
	t := benchTable(10_000)
	data, err := t.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var u Table
		if err := u.UnmarshalJSON(data); err != nil {
			b.Fatal(err)
		}
	}
	reportRows(b, len(t.Rows))
}

func BenchmarkPreview(b *testing.B) {
	t := benchTable(10_000)
	b.ReportAllocs()
	for b.Loop() {
		t.Preview(3, 40)
	}
}
