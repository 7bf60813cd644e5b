package docstest_test

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// hardToRead matches wordings that readers had to read twice (style guide, "Plain English, checked").
var hardToRead = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(is|are) (told|asked|said|kept)\b`),
	regexp.MustCompile(`(?i)\bnone of\b`),
	regexp.MustCompile(`(?i)\bthat is (no|none)\b`),
	regexp.MustCompile(`(?i)\bis no [a-z]+`),
	regexp.MustCompile(`(?m)^What `),
	regexp.MustCompile(`(?i)\b(that|those) of\b`),
}

// stillPlain matches the few wordings that a pattern catches by mistake.
var stillPlain = regexp.MustCompile(`(?i)\bis no (longer|more|less)\b`)

// TestPlainEnglish checks pages and comments of exported names.
func TestPlainEnglish(t *testing.T) {
	for _, name := range tracked(t) {
		text := prose(t, name)
		if found := hardWordings(text); len(found) > 0 {
			t.Errorf("%s: hard to read: %q", name, found)
		}
		for _, sentence := range longSentences(text) {
			t.Errorf("%s: a sentence of over %d words: %s", name, mostWords, sentence)
		}
	}
}

// TestHardWordings shows which wordings are found.
func TestHardWordings(t *testing.T) {
	for _, tt := range []struct {
		why, text string
		want      int
	}{
		{"data flow as speech", "The caller is told the error.", 1},
		{"a noun for a negation", "A count is no candidate.", 1},
		{"an idiom", "It is no longer there, and no more than ten.", 0},
		{"a relative clause as the subject", "What a model wrote is text.", 1},
		{"a pronoun for an owner", "The name is that of the table.", 1},
		{"plain", "The guard rejects the statement.", 0},
	} {
		if got := hardWordings(tt.text); len(got) != tt.want {
			t.Errorf("%s: %q", tt.why, got)
		}
	}
}

const mostWords = 30

var (
	// ownLine matches lines that are no prose: headings, rows of tables, code, and links that stand alone.
	ownLine = regexp.MustCompile(`^(?:#|\||\t| {4}|\s*<|\[[^\]]+\]: )`)
	// begins matches what begins a paragraph of its own: items of lists, quotations and notices.
	begins = regexp.MustCompile(`^\s*(?:[-*>]|\d+\.) `)
	// single matches texts that count as one word: code, and the target of a link.
	single   = regexp.MustCompile("`[^`]*`")
	target   = regexp.MustCompile(`\]\([^)]*\)`)
	endsHere = regexp.MustCompile(`[.!?:]["'”*)]*\s`)
)

// longSentences returns the sentences of a text that have more than mostWords words. A colon ends one: a list follows
// it.
func longSentences(text string) (found []string) {
	var paragraphs []string
	open := false
	for line := range strings.Lines(target.ReplaceAllString(single.ReplaceAllString(text, "code"), "]")) {
		line = strings.TrimRight(line, "\n")
		switch blank := strings.TrimSpace(line) == ""; {
		case blank, ownLine.MatchString(line):
			open = false
		case open && !begins.MatchString(line):
			paragraphs[len(paragraphs)-1] += " " + line
		default:
			paragraphs, open = append(paragraphs, line), true
		}
	}

	for _, paragraph := range paragraphs {
		for _, sentence := range endsHere.Split(paragraph+" ", -1) {
			if len(strings.Fields(sentence)) > mostWords {
				found = append(found, sentence)
			}
		}
	}
	return found
}

// TestLongSentences shows what counts as a sentence.
func TestLongSentences(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for _, tt := range []struct {
		why, text string
		want      int
	}{
		{"as many words as there may be", words(mostWords) + ".", 0},
		{"one more", words(mostWords+1) + ".", 1},
		{"over two lines", words(20) + "\n" + words(20) + ".", 1},
		{"two sentences", words(20) + ". " + words(20) + ".", 0},
		{"two items of a list", "- " + words(20) + "\n- " + words(20), 0},
		{"two paragraphs", words(20) + "\n\n" + words(20), 0},
		{"code is one word", words(29) + " `a b c d`.", 0},
		{"a row of a table", "| " + words(40) + " |", 0},
		{"code of a comment", "\t" + words(40), 0},
	} {
		if got := longSentences(tt.text); len(got) != tt.want {
			t.Errorf("%s: %q", tt.why, got)
		}
	}
}

func hardWordings(text string) (found []string) {
	for _, pattern := range hardToRead {
		for _, wording := range pattern.FindAllString(text, -1) {
			if !stillPlain.MatchString(wording) {
				found = append(found, wording)
			}
		}
	}
	return found
}

// tracked returns the pages for users and the Go files of packages that a program may import.
func tracked(t *testing.T) (names []string) {
	out := testutil.Value(exec.Command("git", "ls-files", "*.md", "*.go").Output())(t)
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		name := lines.Text()
		page := strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, "docs/lab/")
		public := !strings.Contains("/"+name, "/internal/") && !strings.HasPrefix(name, "lab/") &&
			!strings.HasPrefix(name, "examples/")
		code := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && public
		if page || code {
			names = append(names, name)
		}
	}
	return names
}

// prose returns the text of a page without its code blocks, or the comments of the exported names of a file.
func prose(t *testing.T, name string) string {
	text := testutil.Value(os.ReadFile(name))(t)
	if path.Ext(name) == ".md" {
		return regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(text), "")
	}

	file := testutil.Value(parser.ParseFile(token.NewFileSet(), name, text,
		parser.ParseComments|parser.SkipObjectResolution))(t)
	var all strings.Builder
	all.WriteString(file.Doc.Text() + "\n")
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				all.WriteString(d.Doc.Text() + "\n")
			}
		case *ast.GenDecl:
			all.WriteString(specComments(d))
		}
	}
	return all.String()
}

// specComments returns the comments of a declaration if one of its names is exported, those of fields included.
func specComments(d *ast.GenDecl) string {
	var text strings.Builder
	exported := false
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			exported = exported || n.Name.IsExported()
		case *ast.ValueSpec:
			exported = exported || n.Names[0].IsExported()
		case *ast.CommentGroup:
			text.WriteString(n.Text() + "\n")
		}
		return true
	})
	if !exported {
		return ""
	}
	return text.String()
}
