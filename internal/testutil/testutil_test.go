package testutil

import (
	"errors"
	"fmt"
	"testing"
)

// ended keeps what a test was told when it ended.
type ended struct {
	testing.TB
	told string
}

func (*ended) Helper()          {}
func (e *ended) Fatal(a ...any) { e.told = fmt.Sprintln(a...) }

func TestNeed(t *testing.T) {
	var e ended
	if got := Value(7, error(nil))(&e, "seven"); got != 7 || e.told != "" {
		t.Errorf("%d, %q", got, e.told)
	}
	if Value("", errors.New("gone"))(&e, "the file"); e.told != "the file gone\n" {
		t.Errorf("told %q", e.told)
	}
}
