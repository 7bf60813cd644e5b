package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
)

// version is the version of the format, which every line carries.
const version = 1

// key identifies a call.
type key struct {
	model, purpose, hash string
	sample               int
}

func keyOf(model string, req llm.Request) key {
	return key{model, req.Purpose, req.Hash(), req.Sample}
}

// line is one recorded call, with either Reply or Error.
type line struct {
	V       int      `json:"v"`
	Hash    string   `json:"hash"`
	Model   string   `json:"model,omitempty"`
	Purpose string   `json:"purpose,omitempty"`
	Sample  int      `json:"draw"`
	About   string   `json:"about,omitempty"`
	Day     string   `json:"day,omitempty"` // llm.Request.Day
	Reply   *reply   `json:"reply,omitempty"`
	Error   *failure `json:"error,omitempty"`
}

type reply struct {
	Text  string    `json:"text"`
	Bytes []byte    `json:"bytes,omitempty"`
	Stop  string    `json:"stop,omitempty"`
	Model string    `json:"model,omitempty"`
	Usage llm.Usage `json:"usage"`
}

type failure struct {
	Class        llm.Class `json:"class,omitempty"`
	Status       int       `json:"status,omitempty"`
	RetryAfterMS int64     `json:"retry_after_ms,omitempty"`
	Parameter    string    `json:"parameter,omitempty"`
	Usage        llm.Usage `json:"usage,omitzero"`
	Message      string    `json:"message,omitempty"`
}

func (l *line) key() key { return key{l.Model, l.Purpose, l.Hash, l.Sample} }

// outcome returns what the recorded call ended with.
func (l *line) outcome() (llm.Response, error) {
	if e := l.Error; e != nil {
		return llm.Response{}, &llm.Error{
			Class: e.Class, Status: e.Status, Message: e.Message, Parameter: e.Parameter, Usage: e.Usage,
			RetryAfter: time.Duration(e.RetryAfterMS) * time.Millisecond,
		}
	}
	text := l.Reply.Text
	if len(l.Reply.Bytes) > 0 {
		text = string(l.Reply.Bytes)
	}
	return llm.Response{Text: text, StopReason: l.Reply.Stop, Model: l.Reply.Model, Usage: l.Reply.Usage}, nil
}

// lineOf makes the line of a call.
func lineOf(model string, req llm.Request, resp llm.Response, err error) line {
	k := keyOf(model, req)
	l := line{V: version, Hash: k.hash, Model: k.model, Purpose: k.purpose, Sample: k.sample, About: about(req),
		Day: req.Day()}
	if err != nil {
		l.Error = failureOf(err)
		return l
	}
	l.Reply = &reply{Stop: resp.StopReason, Model: resp.Model, Usage: resp.Usage}
	if utf8.ValidString(resp.Text) {
		l.Reply.Text = resp.Text
	} else { // encoding/json would replace invalid UTF-8 by U+FFFD
		l.Reply.Bytes = []byte(resp.Text)
	}
	return l
}

func failureOf(err error) *failure {
	e := llm.AsError(err)
	f := &failure{Class: e.Class, Status: e.Status, Parameter: e.Parameter, Usage: e.Usage,
		Message: redact.Line(e.Message)}
	if e.Message == "" && e.Err != nil {
		f.Message = redact.Line(e.Err.Error())
	}
	if e.RetryAfter > 0 { // rounded up: a replay must not ask for less
		f.RetryAfterMS = int64((e.RetryAfter + time.Millisecond - 1) / time.Millisecond)
	}
	return f
}

// encode returns l with its checksum and its newline.
func (l *line) encode() ([]byte, error) {
	b, err := atomicfile.Record(0, l)
	return append(b, '\n'), err
}

// decode reads one line. old reports that it has no checksum.
func decode(b []byte) (_ *line, old bool, err error) {
	var l line
	old, err = atomicfile.Read(b, 0, &l)
	switch {
	case errors.Is(err, atomicfile.ErrDamaged):
		return nil, old, err
	case err == nil && l.V == 0:
		err = errors.New("no format version")
	case l.V != 0 && l.V != version:
		return nil, old, fmt.Errorf("format version %d, this program reads %d", l.V, version)
	case err == nil && (l.Hash == "" || (l.Reply == nil) == (l.Error == nil)):
		err = errors.New("needs a hash and either a reply or an error")
	}
	if err != nil {
		return nil, old, fmt.Errorf("not a recorded call: %w", err)
	}
	return &l, old, nil
}

// recording is a file as read.
type recording struct {
	lines []*line
	old   []int // the numbers of the lines that have no checksum
	whole int64 // bytes up to the end of the last whole line
	open  bool  // the last line is whole but for its newline
	torn  int   // length of the last line if it is broken off; 0 if it is not
}

// read reads a recording. A line that does not decode is an error, unless it is the last one, has no newline and is the
// start of a line as encode writes it.
func read(r io.Reader) (recording, error) {
	var rec recording
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		b, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return rec, fmt.Errorf("replay: reading line %d: %w", n, err)
		}
		last := err == io.EOF
		if len(bytes.Trim(b, " \t\r\n")) > 0 { // white space of JSON may stand before a line
			l, old, err := decode(b)
			switch {
			case err == nil:
				rec.lines = append(rec.lines, l)
				rec.open = last
				if old {
					rec.old = append(rec.old, n)
				}
			case last && startsLine(b) && atomicfile.IsCut(err):
				rec.torn = len(b)
				return rec, nil
			default:
				return rec, &fileerr.Recording{Line: n, Err: err}
			}
		}
		rec.whole += int64(len(b))
		if last {
			return rec, nil
		}
	}
}

// startsLine reports whether b begins as a line of encode. It keeps Append from cutting off the end of a file of
// another kind or of a later version.
func startsLine(b []byte) bool {
	const start = `{"v":`
	n := min(len(b), len(start))
	return string(b[:n]) == start[:n]
}

// notes returns what a person should know about a recording; nil for nothing.
func (rec recording) notes() (all []string) {
	if note := atomicfile.OldNote("replay", rec.old); note != "" {
		all = append(all, note)
	}
	if rec.torn > 0 {
		all = append(all, fmt.Sprintf("replay: the last line is broken off and was ignored (%d bytes after %d calls)",
			rec.torn, len(rec.lines)))
	}
	return all
}

// maxAbout bounds what a recording and an error repeat of a request, in runes.
const maxAbout = 80

// about returns the question of a request: the last line that ends with a question mark, or else the last line. Prompts
// put the question at their end. It reads the last user message that has a text, or else the first message that has
// one.
func about(req llm.Request) string {
	text := ""
	for _, m := range req.Messages {
		if t := strings.TrimSpace(m.Text); t != "" && (m.Role == llm.User || text == "") {
			text = t
		}
	}
	lines := strings.Split(text, "\n")
	text = lines[len(lines)-1]
	for _, l := range slices.Backward(lines) {
		if l = strings.TrimSpace(l); strings.HasSuffix(l, "?") {
			text = l
			break
		}
	}
	return words.Short(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"), maxAbout)
}
