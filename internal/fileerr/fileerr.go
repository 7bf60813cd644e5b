// Package fileerr has the errors about broken files and their places, for our own packages. A program prints them.
package fileerr

import (
	"fmt"
	"strings"
)

// Descriptions reports that a text is not a complete file of descriptions. Everything read from it is discarded.
type Descriptions struct {
	Problem string // the problem and its place: "line 12: invalid character '}' …"
}

// Error returns the problem and how to fix it.
func (e *Descriptions) Error() string {
	return "schema: reading descriptions: " + e.Problem + ": mend the file, or delete it to have it made anew"
}

// Knowledge reports a fault in a file of knowledge, and its place. Read and the readers of other formats return it.
type Knowledge struct {
	Format  string // "knowledge" for the project's own form, "dbt", "ossie", "snowflake" or "wren"
	Line    int    // of the file, from 1; 0: the fault is about the whole file
	Path    string // the keys that lead to the fault, as "semantic_models.entities"; "": see Line
	Problem string // one line
}

// Error returns one line.
func (e *Knowledge) Error() string {
	text := e.Format + ": "
	if e.Line > 0 {
		text += fmt.Sprintf("line %d: ", e.Line)
	}
	if e.Path != "" {
		text += e.Path + ": "
	}
	return text + e.Problem
}

// Memory reports a fault in a file of exemplars, verified answers or lessons. Such a file is never written.
type Memory struct {
	File   string // name of the file; "": a lesson of Lessons.Add
	Line   int    // number of the line of a file of exemplars or verified answers, from 1
	Lesson int    // number of the lesson, from 1; if Line is 0 too, the whole file of lessons
	Err    error  // what is wrong
}

// Error names the file, the place, the fault and the remedy.
func (e *Memory) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("memory: %s, line %d: %v", e.File, e.Line, e.Err)
	case e.Lesson > 0:
		return fmt.Sprintf("memory: lesson %d of %s: %v", e.Lesson, e.File, e.Err)
	}
	return fmt.Sprintf("memory: %s is no file of lessons, repair or move it: %v", e.File, e.Err)
}

// Unwrap returns the fault.
func (e *Memory) Unwrap() error { return e.Err }

// Questions reports a fault in a file of questions or answers, and its place.
type Questions struct {
	File  string // its path
	Line  int    // number of the line, from 1; 0: the whole file
	Field string // "": the whole line
	Err   error  // what is wrong
}

// Error returns "eval: FILE:LINE: field FIELD: CAUSE".
func (e *Questions) Error() string {
	var b strings.Builder
	b.WriteString("eval: ")
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Field != "" {
		b.WriteString(": field " + e.Field)
	}
	b.WriteString(": " + e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *Questions) Unwrap() error { return e.Err }

// Recording reports that a line of a recording is not a recorded call, has another version, or was changed after it was
// written.
type Recording struct {
	Line int   // number of the line, from 1
	Err  error // the fault of the line
}

// Error names the line and the fault.
func (e *Recording) Error() string { return fmt.Sprintf("replay: line %d: %v", e.Line, e.Err) }

// Unwrap returns the fault of the line.
func (e *Recording) Unwrap() error { return e.Err }
