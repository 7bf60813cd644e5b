package guard

import "time"

// Zone returns the time zone with the name that a session has, and its name; UTC if Go does not know the name.
func Zone(name string) (*time.Location, string) {
	l, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return time.UTC, "UTC"
	}
	switch name {
	case "", "UTC", "Etc/UTC", "UCT", "Etc/UCT", "GMT", "Etc/GMT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal":
		return time.UTC, "UTC"
	}
	return l, name
}

// Offset returns the zone suffix of an instant: Z or +01:00, with seconds if a historical zone has them.
func Offset(t time.Time) string {
	if _, seconds := t.Zone(); seconds%60 != 0 {
		return t.Format("-07:00:00")
	}
	return t.Format("Z07:00")
}
