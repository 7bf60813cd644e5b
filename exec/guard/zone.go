package guard

import "time"

// Zone is the time zone that a session names, and its name: UTC where it is written in a way that only the server reads.
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

// OtherZone is the name of the zone of a session; "" for UTC.
func OtherZone(name string) string {
	if l, name := Zone(name); l != time.UTC {
		return name
	}
	return ""
}

// Offset is what stands behind an instant: Z or +01:00, with seconds where a zone of old times had some.
func Offset(t time.Time) string {
	if _, seconds := t.Zone(); seconds%60 != 0 {
		return t.Format("-07:00:00")
	}
	return t.Format("Z07:00")
}
