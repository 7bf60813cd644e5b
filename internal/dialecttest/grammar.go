package dialecttest

import (
	"os"
	"strings"
	"testing"
)

// Grammar reads a file of statements by chapter of an engine's documentation, and tries each. A line "# …" is the name
// of a chapter. Until the line "## whole queries" each other line is an expression; "## expressions" ends whole
// queries. whole says what text is.
func Grammar(t testing.TB, file string, try func(chapter, text string, whole bool)) {
	t.Helper()
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	chapter, whole := "", false
	for text := range strings.Lines(string(all)) {
		text = strings.TrimSpace(text)
		switch {
		case text == "":
		case strings.HasPrefix(text, "## "):
			whole = text == "## whole queries"
		case strings.HasPrefix(text, "# "):
			chapter = text[2:]
		default:
			try(chapter, text, whole)
		}
	}
}
