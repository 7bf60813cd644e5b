// Package dateprompt writes and reads the line of a request that says which day it is.
package dateprompt

import (
	"strings"
	"time"
)

// Start begins the line of a request that says which day it is. Recordings hold the line: it never changes.
const Start = "Today is "

// Line says in one line which day t is in the time zone of t: "Today is Friday, 2026-11-27 (time zone CET, UTC+01:00)."
// It is the same from midnight to midnight: the zone is that of noon.
func Line(t time.Time) string {
	noon := time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, t.Location())
	zone := noon.Format("MST, UTC-07:00")
	if _, offset := noon.Zone(); offset == 0 {
		zone = "UTC"
	}
	return Start + noon.Format("Monday, 2006-01-02") + " (time zone " + zone + ")."
}

// Parse reads what Line wrote: noon of the day in its time zone.
func Parse(line string) (time.Time, bool) {
	date, zone, _ := strings.Cut(strings.TrimSuffix(line, ")."), " (time zone ")
	day, err := time.Parse(Start+"Monday, 2006-01-02", date)
	if err != nil {
		return time.Time{}, false
	}
	in := time.UTC
	if zone != "UTC" {
		at, err := time.Parse("UTC-07:00", zone[strings.LastIndex(zone, " ")+1:])
		if err != nil {
			return time.Time{}, false
		}
		name, _, _ := strings.Cut(zone, ",")
		_, offset := at.Zone()
		in = time.FixedZone(name, offset)
	}
	return time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, in), true
}
