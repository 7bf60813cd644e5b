package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestDocNames: a doc comment that begins with a name begins with that of its declaration, which a rename forgets. A
// word is a name where it is one of an exported declaration, or has a capital inside.
func TestDocNames(t *testing.T) {
	goFiles(t, func(path string, text []byte) {
		files := token.NewFileSet()
		file := testutil.Value(parser.ParseFile(files, path, text, parser.ParseComments|parser.SkipObjectResolution))(t)
		for _, decl := range file.Decls {
			for name, doc := range documented(decl) {
				if wrong := otherName(name.Name, doc); wrong != "" {
					t.Errorf("%s: the comment of %s begins with %s", files.Position(name.Pos()), name.Name, wrong)
				}
			}
		}
	})
}

// testName matches what go test runs, whose comments often begin with a sentence.
var testName = regexp.MustCompile(`^(Test|Example|Fuzz|Benchmark)\w*`)

// documented yields the names of a declaration that have a comment of their own.
func documented(decl ast.Decl) map[*ast.Ident]string {
	found := map[*ast.Ident]string{}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		found[decl.Name] = decl.Doc.Text()
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				doc := spec.Doc.Text()
				if doc == "" && len(decl.Specs) == 1 {
					doc = decl.Doc.Text()
				}
				found[spec.Name] = doc
			case *ast.ValueSpec:
				doc := spec.Doc.Text()
				if doc == "" && len(decl.Specs) == 1 {
					doc = decl.Doc.Text()
				}
				if len(spec.Names) == 1 {
					found[spec.Names[0]] = doc
				}
			}
		}
	}
	return found
}

// otherName returns the first word of a comment where it is a name and not that of the declaration.
func otherName(name, doc string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(doc), " ")
	word := strings.Trim(first, ":,.;[]()")
	isName := strings.IndexFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) < 0
	switch {
	case !isName || word == name || word == "":
		return ""
	case strings.HasSuffix(first, ":"):
		return word
	case testName.MatchString(name):
		return testName.FindString(word)
	case strings.IndexFunc(word[1:], unicode.IsUpper) >= 0 && strings.IndexFunc(word, unicode.IsLower) >= 0:
		return word // it has a capital inside
	case ast.IsExported(name) && strings.HasPrefix(rest, "is ") || strings.EqualFold(word, name):
		return word
	}
	return ""
}
