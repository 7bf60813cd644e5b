package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/sqlshape"
	tables "github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// sqlSession reads statements from a terminal or a pipe and runs each as the verb sql does.
type sqlSession struct {
	*statement
	program *program
	engine  *setup.Engine
	missing error // errCut where a statement has more rows than a limit allows
}

const sqlSessionHelp = `a statement that ends with ";" runs; it may have several lines
  \d           list the tables
  \d NAME      show a table
  \q           end the session
`

// run reads until the input ends. On a terminal it goes on after an error; from a pipe the first error ends it, but for
// rows that a limit cut.
func (s *sqlSession) run() error {
	p := s.program
	lines, restore := p.edited()
	defer restore()
	typed := lines != nil
	if typed {
		cli.Say(p.out, "Statements end with \";\". \\? lists the commands.\n")
	} else {
		lines = scanned(p.in)
	}

	text := ""
	for p.ctx.Err() == nil {
		line, err := lines()
		if typed && err == io.EOF { // Ctrl-C and Ctrl-D drop what is typed
			return s.missing
		}
		if err != nil {
			return cmp.Or(s.last(text, err), s.missing)
		}
		text, err = s.take(text, line)
		switch {
		case err == io.EOF:
			return s.missing
		case err != nil && !typed:
			return err
		case err != nil:
			cli.Say(p.err, "%s\n", p.line(err))
		}
	}
	return p.ctx.Err()
}

// last runs a statement that the end of the input ends in place of a semicolon.
func (s *sqlSession) last(text string, err error) error {
	if err != io.EOF {
		return err
	}
	for _, sql := range s.dialect().Split(text) {
		if err := s.one(sql); err != nil {
			return err
		}
	}
	return nil
}

// one runs one statement. The status of the session tells of rows that a limit cut.
func (s *sqlSession) one(sql string) error {
	err := s.execute(s.program, s.engine, sql, nil)
	if err == errCut {
		s.missing, err = err, nil
	}
	return err
}

// take adds a line to a text and runs the statements that it ends. It returns what is left, and io.EOF after \q.
func (s *sqlSession) take(text, line string) (rest string, err error) {
	command, ok := strings.CutPrefix(strings.TrimSpace(line), `\`)
	if ok && len(s.dialect().Split(text)) == 0 { // comments alone begin nothing
		return "", s.command(command)
	}
	if text += line + "\n"; strings.Contains(line, ";") {
		text, err = s.statements(text)
	}
	if len(text) > sqlshape.MaxStatement {
		return "", &setup.UsageError{Err: fmt.Errorf("a statement has more than %d bytes", sqlshape.MaxStatement)}
	}
	return text, err
}

// statements runs the statements of a text up to its last semicolon, and returns what is behind that.
func (s *sqlSession) statements(text string) (rest string, err error) {
	end := 0
	for t := range s.dialect().Tokens(text) {
		if t.Kind == sqltext.Operator && t.Text == ";" {
			end = t.Pos + 1
		}
	}
	for _, sql := range s.dialect().Split(text[:end]) {
		if err := s.one(sql); err != nil {
			return "", err
		}
	}
	return strings.TrimLeft(text[end:], " \n"), nil
}

// command runs a line that begins with a backslash.
func (s *sqlSession) command(text string) error {
	name, table, _ := strings.Cut(text, " ")
	table = strings.TrimSpace(strings.TrimRight(table, "; "))
	switch {
	case name == "q":
		return io.EOF
	case name == "?":
		cli.Say(s.program.out, "%s", sqlSessionHelp)
		return nil
	case name == "d":
		return s.describe(table)
	}
	return &setup.UsageError{Err: fmt.Errorf(`there is no command \%s: \? lists them`, name)}
}

// describe lists the tables, or shows one.
func (s *sqlSession) describe(table string) error {
	known, err := s.engine.Schema(s.program.ctx)
	if err != nil {
		return err
	}
	if table == "" {
		for i := range known.Tables {
			cli.Say(s.program.out, "%s\n", known.Tables[i].TableName().Quoted(s.engine.Dialect.Language()))
		}
		return nil
	}
	part, err := only(known, []string{table})
	if err != nil {
		return err
	}
	return showTables(s.program, s.engine, known, part, tables.Renderer{WithoutValues: true})
}

func (s *sqlSession) dialect() sqltext.Dialect { return s.engine.Dialect.Language().Text }

// scanned reads the lines of a pipe. A line has at most mostTyped bytes.
func scanned(in io.Reader) func() (string, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mostTyped)
	return func() (string, error) {
		if lines.Scan() {
			return lines.Text(), nil
		}
		if errors.Is(lines.Err(), bufio.ErrTooLong) {
			return "", &setup.UsageError{Err: fmt.Errorf("a line of standard input has more than %d bytes", mostTyped)}
		}
		if lines.Err() != nil {
			return "", lines.Err()
		}
		return "", io.EOF
	}
}
