package docstest_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/texttosql/texttosql/internal/enginetest"
)

const (
	shop = enginetest.Shop
	usa  = enginetest.USA
)

var (
	open   = enginetest.Open
	always = enginetest.Always
)

// TestMain runs the tests in the root of the repository, so that they name pages as a reader does.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
