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

// TestPeriods: a reader in any zone sees the periods that the database cut, in the table and on the axis. A moment is
// shown by the reader's clock, whose zone is named once. The values are those of PostgreSQL, MariaDB and DuckDB where
// clocks change.
func TestPeriods(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "How many in the north?").ID
	month := func(kind result.Kind, grain string, values ...string) *result.Table {
		table := &result.Table{Columns: []string{"at", "n"}, Types: []result.Type{{Kind: kind, Grain: grain},
			{Kind: result.KindInt}}}
		for i, v := range values {
			table.Rows = append(table.Rows, []any{v, int64(10 * (i + 1))})
		}
		return table
	}
	for _, test := range []struct {
		why  string
		rows *result.Table
		want []string
		here map[string][]string // by zone, where the reader's clock counts
	}{
		{"months of PostgreSQL in New York, over the change of March",
			month(result.KindInstant, "month", "2024-02-01 00:00:00-05", "2024-03-01 00:00:00-05", "2024-04-01 00:00:00-04"),
			[]string{"February 2024", "March 2024", "April 2024"}, nil},
		{"months of PostgreSQL in UTC", month(result.KindInstant, "month", "2024-01-01 00:00:00Z", "2024-02-01 00:00:00Z",
			"2024-03-01 00:00:00Z"),
			[]string{"January 2024", "February 2024", "March 2024"}, nil},
		{"months of MariaDB", month(result.KindText, "month", "2024-10", "2024-11", "2024-12"),
			[]string{"October 2024", "November 2024", "December 2024"}, nil},
		{"months of DuckDB", month(result.KindDateTime, "month", "2024-10-01 00:00:00", "2024-11-01 00:00:00",
			"2024-12-01 00:00:00"),
			[]string{"October 2024", "November 2024", "December 2024"}, nil},
		{"days in Berlin, over the change of October",
			month(result.KindInstant, "day", "2024-10-26 00:00:00+02", "2024-10-27 00:00:00+02", "2024-10-28 00:00:00+01"),
			[]string{"2024-10-26", "2024-10-27", "2024-10-28"}, nil},
		{"the hour that comes twice", month(result.KindInstant, "hour", "2024-11-03 00:00:00-04", "2024-11-03 01:00:00-04",
			"2024-11-03 01:00:00-05"),
			[]string{"2024-11-03 00:00:00-04", "2024-11-03 01:00:00-04", "2024-11-03 01:00:00-05"}, nil},
		{"moments without a zone stay", month(result.KindDateTime, "", "2024-03-10 02:30:00", "2024-03-31 02:30:00",
			"2024-04-01 12:00:00"),
			[]string{"2024-03-10 02:30", "2024-03-31 02:30", "2024-04-01 12:00"}, nil},
		{"moments with one are the reader's", month(result.KindInstant, "", "2024-03-10 06:30:00Z", "2024-03-10 07:30:00Z",
			"2024-03-31 01:30:00Z"), nil,
			map[string][]string{
				"America/New_York": {"10 Mar 2024, 01:30", "10 Mar 2024, 03:30", "30 Mar 2024, 21:30"},
				"Europe/Berlin":    {"10 Mar 2024, 07:30", "10 Mar 2024, 08:30", "31 Mar 2024, 03:30"},
				"Asia/Tokyo":       {"10 Mar 2024, 15:30", "10 Mar 2024, 16:30", "31 Mar 2024, 10:30"},
			}},
	} {
		shown := tabled(test.rows)
		shown.Charts = series(test.rows.Shown(), asked{parts: true, ordered: true})
		s.server.seen.change(memoKey{id, 0}, func(k *kept) { k.Rows, k.all = shown, test.rows })
		for _, zone := range []string{"America/New_York", "Europe/Berlin", "Asia/Tokyo"} {
			b := s.readIn(t, zone, "/#c/"+id)
			b.until("document.querySelectorAll('tbody tr').length === 3 && document.querySelector('figure svg text') !== null")
			got := eval[[]string](b, "[...document.querySelectorAll('tbody tr')].map((r) => r.firstChild.textContent)")
			want, named := test.want, "[]"
			if test.here != nil {
				want, named = test.here[zone], "["+zone+"]"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, read in %s: table (-want +got):\n%s", test.why, zone, diff)
			}
			axis := eval[string](b, "document.querySelector('figure .unseen[id$=more]').textContent")
			if start := fmt.Sprintf("3 points from %s to %s.", want[0], want[2]); len(axis) < len(start) ||
				axis[:len(start)] != start {
				t.Errorf("%s, read in %s: axis %q, want %q", test.why, zone, axis, start)
			}
			if got := fmt.Sprint(eval[[]string](b, "document.querySelector('caption').textContent.match(/[A-Z]\\w+\\/\\w+/g) "+
				"|| []")); got != named {
				t.Errorf("%s, read in %s: the caption names %s, want %s", test.why, zone, got, named)
			}
		}
	}
}

// readIn opens an address of the page as a reader in a time zone does.
func (s *shop) readIn(t *testing.T, zone, path string) *tab {
	t.Helper()
	b := s.tab(t, look{1280, false}, "/")
	b.run(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, lerr := cdp.Call(ctx, tab, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: "en-GB"})
		_, zerr := cdp.Call(ctx, tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
		return errors.Join(lerr, zerr)
	}))
	b.run(chromedp.Navigate(s.URL + path))
	return b
}
