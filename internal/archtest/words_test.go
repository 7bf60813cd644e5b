package archtest

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/testutil"
)

const (
	maxTypeDoc = 15  // lines of the doc comment of a type
	maxLine    = 120 // characters of a line
)

// elsewhere matches files of the team that a reader of the repository does not have.
var elsewhere = regexp.MustCompile(`methods/[a-z-]+\.md|\b(security|design|style|engines|pitfalls|selection|dependencies)\.md`)

// goFiles calls f with the path, below the root, of every Go file of the repository.
func goFiles(t *testing.T, f func(path string, text []byte)) {
	t.Helper()
	root := os.DirFS("../..")
	testutil.OK(t, fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := fs.ReadFile(root, path)
		f(path, text)
		return err
	}))
}

// TestComments holds comments to what can be counted of being plain: a type's doc
// is short, and nothing is explained by a file that the reader does not have.
func TestComments(t *testing.T) {
	goFiles(t, func(path string, text []byte) {
		files := token.NewFileSet()
		file := testutil.Value(parser.ParseFile(files, path, text, parser.ParseComments))(t)
		for _, group := range file.Comments {
			if found := elsewhere.FindString(group.Text()); found != "" {
				t.Errorf("%s: a comment cites %s, which is not in the repository: name the source itself",
					files.Position(group.Pos()), found)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				return true
			}
			for _, spec := range decl.Specs {
				doc := spec.(*ast.TypeSpec).Doc
				if doc == nil && len(decl.Specs) == 1 {
					doc = decl.Doc
				}
				if lines := strings.Count(doc.Text(), "\n"); lines > maxTypeDoc {
					name := spec.(*ast.TypeSpec).Name
					t.Errorf("%s: the doc of %s has %d lines; at most %d can be taken in", files.Position(decl.Pos()), name, lines,
						maxTypeDoc)
				}
			}
			return true
		})
	})
}

// TestDocsBeginWithTheirNames: the doc comment of what is exported begins with its name, not with a former one.
func TestDocsBeginWithTheirNames(t *testing.T) {
	goFiles(t, func(path string, text []byte) {
		files := token.NewFileSet()
		file := testutil.Value(parser.ParseFile(files, path, text, parser.ParseComments))(t)
		check := func(name *ast.Ident, doc *ast.CommentGroup) {
			said := strings.Fields(doc.Text())
			if name.IsExported() && len(said) > 0 && strings.Trim(said[0], ".,:;") != name.Name {
				t.Errorf("%s: the doc of %s begins with %q", files.Position(name.Pos()), name.Name, said[0])
			}
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if !strings.HasSuffix(path, "_test.go") {
					check(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				if d.Tok == token.TYPE && len(d.Specs) == 1 {
					check(d.Specs[0].(*ast.TypeSpec).Name, d.Doc)
				}
			}
		}
	})
}

// TestLines keeps lines as wide as a screen has room for. A raw string keeps its own lines, and so do code in comments
// and the output of examples.
func TestLines(t *testing.T) {
	goFiles(t, func(path string, text []byte) {
		own := ownLines(text)
		n, output := 0, false
		for line := range strings.Lines(string(text)) {
			n++
			comment := strings.HasPrefix(strings.TrimSpace(line), "//")
			output = comment && (output || strings.Contains(line, "// Output:"))
			long := utf8.RuneCountInString(strings.TrimRight(line, "\n"))
			if long > maxLine && !own[n] && !output && !strings.HasPrefix(line, "//\t") {
				t.Errorf("%s:%d: %d characters; at most %d", path, n, long, maxLine)
			}
		}
	})
}

// ownLines are the lines of a file that a raw string has a part of.
func ownLines(text []byte) map[int]bool {
	lines := map[int]bool{}
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return lines
		}
		for i := range strings.Count(literal, "\n") + 1 {
			if tok == token.STRING && literal[0] == '`' {
				lines[file.Line(pos)+i] = true
			}
		}
	}
}
