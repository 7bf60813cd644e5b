package web

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/result"
)

// TestLocal: numbers and moments are in the reader's language and zone; keys, years, texts and what has no zone stay.
func TestLocal(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "How many in the north?").ID
	rows := &result.Table{
		Columns: []string{"amount", "n", "customer_id", "at", "day", "note"},
		Types: []result.Type{{Kind: result.KindDecimal, Scale: 2}, {Kind: result.KindInt}, {Kind: result.KindInt},
			{Kind: result.KindInstant},
			{Kind: result.KindDate}, {Kind: result.KindText}},
		Rows: [][]any{
			{result.Decimal("123456789012345678901.25"), int64(-1234567), int64(1234567), "2026-07-01 10:00:00+02:00",
				"2026-07-01", "1,234.5"},
			{result.Decimal("2263737.50"), int64(12), int64(7), "2026-01-01 23:30:15Z", "2026-01-01", "x"},
		},
	}
	s.server.seen.change(memoKey{id, 0}, func(k *kept) { k.Rows, k.all = tabled(rows), rows })
	for _, test := range []struct {
		language, zone string
		want           [][]string
	}{
		{"en-GB", "UTC", [][]string{
			{"123,456,789,012,345,678,901.25", "−1,234,567", "1234567", "1 Jul 2026, 08:00", "2026-07-01", "1,234.5"},
			{"2,263,737.50", "12", "7", "1 Jan 2026, 23:30:15", "2026-01-01", "x"}}},
		{"de-DE", "Europe/Berlin", [][]string{
			{"123.456.789.012.345.678.901,25", "−1.234.567", "1234567", "1. Juli 2026, 10:00", "2026-07-01", "1,234.5"},
			{"2.263.737,50", "12", "7", "2. Jan. 2026, 00:30:15", "2026-01-01", "x"}}},
	} {
		b := s.tab(t, look{1280, false}, "/")
		b.run(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, lerr := cdp.Call(ctx, tab, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: test.language})
			_, zerr := cdp.Call(ctx, tab, emulation.SetTimezoneOverride,
				emulation.SetTimezoneOverrideParams{TimezoneID: test.zone})
			return errors.Join(lerr, zerr)
		}))
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q; undefined", "c/"+id)))
		b.until("document.querySelectorAll('tbody tr').length === 2")
		got := eval[[][]string](b, "[...document.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => "+
			"c.textContent))")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s in %s (-want +got):\n%s", test.language, test.zone, diff)
		}
	}
}
