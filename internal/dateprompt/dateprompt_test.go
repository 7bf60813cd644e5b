package dateprompt_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/dateprompt"
)

func FuzzParse(f *testing.F) {
	f.Add("Today is Friday, 2026-11-27 (time zone CET, UTC+01:00).")
	f.Add("Today is Friday, 2026-11-27 (time zone ")
	f.Fuzz(func(t *testing.T, line string) {
		if day, ok := dateprompt.Parse(line); ok {
			if again, ok := dateprompt.Parse(dateprompt.Line(day)); !ok || again.YearDay() != day.YearDay() {
				t.Fatalf("%q is %v, and then %v", line, day, again)
			}
		}
	})
}
