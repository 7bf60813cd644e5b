package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/llm/replay"
)

// oldWhole and oldFailed are lines of an earlier version, whole and failed are those of this one.
const (
	oldWhole  = `{"v":1,"hash":"aa","draw":0,"reply":{"text":"x","usage":{"calls":1,"prompt_tokens":0,"completion_tokens":0,"known":false}}}`
	oldFailed = `{"v":1,"hash":"aa","draw":1,"error":{"class":"overloaded"}}`
)

var whole, failed = sealed(oldWhole), sealed(oldFailed)

func sealed(line string) string { return string(atomicfile.Sealed(0, []byte(line))) }

func TestReading(t *testing.T) {
	tests := []struct {
		why, file string
		err       string // part of it; "" for none
		note      string
	}{
		{"an empty file", "", "", ""},
		{"two lines", whole + "\n" + failed + "\n", "", ""},
		{"the last without newline", whole + "\n" + failed, "", ""},
		{"Windows line ends and blank lines", whole + "\r\n\r\n" + failed + "\r\n", "", ""},
		{"fields of later", sealed(strings.Replace(oldWhole, `"draw":0`, `"draw":0,"later":[1]`, 1)), "", ""},
		{"no checksum", oldWhole + "\n" + failed + "\n" + oldFailed, "",
			"2 records, the first of them record 1, have no checksum"},
		{"a checksum of another name", strings.Replace(whole, `"sum"`, `"sun"`, 1) + "\n",
			`line 1: not a recorded call: json: unknown field "sun"`, ""},
		{"a changed last line end", whole + "\n" + failed + "\v", "line 2: not a recorded call", ""},
		{"torn", whole + "\n" + failed[:30], "", "30 bytes after 1 calls"},
		{"torn at the first byte", whole + "\n{", "", "1 bytes after 1 calls"},
		{"torn in the only line", failed[:30], "", "30 bytes after 0 calls"},
		{"broken in the middle", failed[:30] + "\n" + whole + "\n", "line 1: not a recorded call", ""},
		{"broken and ended by a newline: no crash did that", whole + "\n" + failed[:30] + "\n", "line 2: not a recorded call",
			""},
		{"another version, whole but for its newline", whole + "\n" + strings.Replace(oldFailed, `"v":1`, `"v":2`, 1),
			"line 2: format version 2", ""},
		{"another version", strings.Replace(oldFailed, `"v":1`, `"v":2`, 1) + "\n",
			"line 1: format version 2, this program reads 1", ""},
		{"no version", `{"hash":"aa"}` + "\n", "no format version", ""},
		{"no hash", `{"v":1,"reply":{"text":"x"}}` + "\n", "needs a hash", ""},
		{"neither reply nor error", `{"v":1,"hash":"aa"}` + "\n", "either a reply or an error", ""},
		{"both", `{"v":1,"hash":"aa","reply":{"text":"x"},"error":{}}` + "\n", "either a reply or an error", ""},
		{"a text file", "Dear reader,\nnothing here.\n", "line 1: not a recorded call", ""},
		{"a form feed, which is space for Go and not for JSON", "\f", "line 1: not a recorded call", ""},
		{"a text without newline", "Dear reader", "line 1: not a recorded call", ""},
		{"another JSON", `[1]`, "line 1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			p, err := replay.NewPlayer(strings.NewReader(tt.file))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error = %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if notes := strings.Join(p.Notes(), "\n"); !strings.Contains(notes, tt.note) || (notes == "") != (tt.note == "") {
				t.Errorf("notes = %q, want %q", notes, tt.note)
			}
		})
	}
}

func TestReadingFailure(t *testing.T) {
	if _, err := replay.NewPlayer(io.MultiReader(strings.NewReader(whole+"\n"), failingReader{})); !errors.Is(err,
		io.ErrNoProgress) {
		t.Errorf("error = %v, want the reader's", err)
	}
	if _, err := replay.Open(filepath.Join(t.TempDir(), "none.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want fs.ErrNotExist", err)
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	testutil.OK(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestAppendMendsTheEnd(t *testing.T) {
	tests := []struct {
		why, file, kept string
		notes           int
	}{
		{"empty", "", "", 0},
		{"whole", whole + "\n", whole + "\n", 0},
		{"without its newline", whole, whole + "\n", 0},
		{"torn", whole + "\n" + failed[:30], whole + "\n", 1},
		{"torn at once", failed[:3], "", 1},
		{"of an earlier version", oldWhole + "\n" + failed + "\n", whole + "\n" + failed + "\n", 1},
		{"of an earlier version, torn", oldWhole + "\n" + failed[:30], whole + "\n", 2},
		{"of an earlier version, without its newline", whole + "\r\n\n" + oldWhole, whole + "\r\n\n" + whole + "\n", 1},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			path := write(t, tt.file)
			rec := testutil.Value(replay.Append(path))(t)
			if len(rec.Notes()) != tt.notes {
				t.Errorf("notes = %q", rec.Notes())
			}
			m := llm.Chain(script(llmtest.Texts("new")...), rec.Record)
			testutil.Value(m.Complete(t.Context(), request("q", 0)))(t)
			testutil.OK(t, rec.Close())
			got := testutil.Value(os.ReadFile(path))(t)
			if !strings.HasPrefix(string(got), tt.kept) || strings.Count(string(got), "\n") != strings.Count(tt.kept, "\n")+1 {
				t.Errorf("file = %q, want %q and one line", got, tt.kept)
			}
			if p, err := replay.Open(path); err != nil || p.Notes() != nil {
				t.Errorf("the file does not read: %v, %v", p.Notes(), err)
			}
		})
	}
}

func TestAppendLeavesOtherFilesAlone(t *testing.T) {
	for _, content := range []string{"Dear reader", "Dear\nreader", whole + "\nDear reader", `{"version":1`,
		`{"v":2,"hash":"a","reply":{}}`,
		"{\"v\":2,\"hash\":\"a\",\"reply\":{}}\n"} {
		path := write(t, content)
		if rec, err := replay.Append(path); err == nil {
			t.Errorf("%q is taken for a recording", content)
			rec.Close()
		}
		if got, _ := os.ReadFile(path); string(got) != content {
			t.Errorf("%q became %q", content, got)
		}
	}
}

func TestAppendMakesAPrivateFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	path := filepath.Join(t.TempDir(), "new.jsonl")
	rec := testutil.Value(replay.Append(path))(t)
	defer rec.Close()
	info := testutil.Value(os.Stat(path))(t)
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode = %v, want 0600", got)
	}
	if _, err := replay.Append(filepath.Join(t.TempDir(), "no", "folder")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v", err)
	}
}

func TestRecorderParallel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	rec := testutil.Value(replay.Append(path))(t)
	live := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(strings.Repeat("x", 10_000)), Repeat: true}}}
	m := llm.Chain(live, rec.Record)
	var wg sync.WaitGroup
	for sample := range 100 {
		wg.Go(func() {
			if _, err := m.Complete(t.Context(), request("q", sample)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	testutil.OK(t, rec.Close())
	p := testutil.Value(replay.Open(path))(t)
	for sample := range 100 {
		if resp, err := p.Complete(t.Context(), request("q", sample)); err != nil || len(resp.Text) != 10_000 {
			t.Errorf("sample %d: %d bytes, %v", sample, len(resp.Text), err)
		}
	}
}

// fullDisk takes n bytes and then fails, with half a line written.
type fullDisk struct {
	bytes.Buffer
	n int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.n {
		d.Buffer.Write(p[:d.n])
		d.n = 0
		return 0, errors.New("no space left on device")
	}
	d.n -= len(p)
	return d.Buffer.Write(p)
}

func TestRecorderStopsAtTheFirstFailure(t *testing.T) {
	disk := &fullDisk{n: 300}
	rec := replay.NewRecorder(disk)
	live := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("x"), Repeat: true}}}
	m := llm.Chain(live, rec.Record)
	var errs int
	for sample := range 10 {
		if resp, err := m.Complete(t.Context(), request("q", sample)); err != nil {
			errs++
			if resp.Text != "x" || !strings.Contains(err.Error(), "no space left") || llm.ClassOf(err) != llm.ClassPermanent {
				t.Errorf("sample %d: %+v, %v", sample, resp, err)
			}
			disk.n = 1000 // the space that comes back does not mend the half line
		}
	}
	if errs == 0 || rec.Close() == nil {
		t.Errorf("%d calls failed, and Close says nothing", errs)
	}
	p, err := replay.NewPlayer(&disk.Buffer)
	if err != nil || len(p.Notes()) != 1 {
		t.Errorf("what was written does not read: %v", err)
	}
}

func TestRecorderClosed(t *testing.T) {
	rec := testutil.Value(replay.Append(filepath.Join(t.TempDir(), "run.jsonl")))(t)
	testutil.OK(t, rec.Close())
	if _, err := rec.Record(script(llmtest.Texts("x")...)).Complete(t.Context(), llm.Request{}); err == nil {
		t.Error("a closed recorder takes a call")
	}
}

// A run is broken off after two samples, and while the third was written.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	texts := llmtest.Texts("0", "1", "2", "3")
	texts[1].Err = &llm.Error{Class: llm.ClassPermanent, Message: "wrong key"}
	testutil.OK(t, os.WriteFile(path, record(t, script(texts...), 3), 0o600))
	info := testutil.Value(os.Stat(path))(t)
	testutil.OK(t, os.Truncate(path, info.Size()-5))

	rec := testutil.Value(replay.Append(path))(t)
	p := testutil.Value(replay.Open(path))(t)
	live := script(llmtest.Texts("live 0", "live 1", "live 2", "live 3")...)
	m := llm.Chain(live, p.Or, rec.Record)
	var got []string
	for sample := range 4 {
		resp := testutil.Value(m.Complete(t.Context(), request("How many singers?\nDDL", sample)))(t)
		got = append(got, resp.Text)
	}
	if want := "[0 live 1 live 2 live 3]"; fmt.Sprint(got) != want {
		t.Errorf("replies = %v, want %v: errors and what is missing are asked again", got, want)
	}
	testutil.OK(t, rec.Close())
	if n := len(live.Requests()); n != 3 {
		t.Errorf("%d live calls, want 3", n)
	}
}

func FuzzPlayer(f *testing.F) {
	f.Add([]byte(whole + "\n" + failed + "\n"))
	f.Add([]byte(whole + "\n" + failed[:20]))
	f.Add([]byte("{\"v\":1,\"hash\":\"\",\"reply\":{\"bytes\":\"!\"}}\n"))
	f.Add([]byte("\n\r\n{"))
	f.Add([]byte(" "))
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := replay.NewPlayer(bytes.NewReader(file))
		path := filepath.Join(t.TempDir(), "run.jsonl")
		testutil.OK(t, os.WriteFile(path, file, 0o600))
		rec, appendErr := replay.Append(path)
		if (err == nil) != (appendErr == nil) {
			t.Fatalf("NewPlayer says %v, Append %v", err, appendErr)
		}
		if err != nil {
			if after, _ := os.ReadFile(path); !bytes.Equal(after, file) {
				t.Fatalf("Append failed and changed %q to %q", file, after)
			}
			return
		}
		if (len(p.Notes()) > 0) != (len(rec.Notes()) > 0) {
			t.Fatalf("the player notes %q, the recorder %q", p.Notes(), rec.Notes())
		}
		// What is written behind is found again, whatever the end was.
		req := llm.Request{Sample: 1 << 40}
		model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) { return llm.Response{Text: "x"}, nil })
		_, err = llm.Chain(llm.Named("fuzz", model), rec.Record).Complete(t.Context(), req)
		testutil.OK(t, errors.Join(err, rec.Close()))
		q := testutil.Value(replay.Open(path))(t, "after Append:")
		if resp, err := q.Model("fuzz").Complete(t.Context(), req); err != nil || resp.Text != "x" || q.Notes() != nil {
			t.Fatalf("got %+v, %v, %q", resp, err, q.Notes())
		}
		for _, name := range p.Models() {
			p.Model(name).Complete(t.Context(), llm.Request{})
		}
	})
}

// TestAbout: a recording and an error name the question, wherever the prompt has
// it.
func TestAbout(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{"How many singers?\nCREATE TABLE singer (id)", "How many singers?", "the question first"},
		{"### Schema\nCREATE TABLE t (a); -- why?\n\n### Question\nHow many? \n", "How many?", "the question last"},
		{"### Schema\nCREATE TABLE t (a);\n\n### Question\nCount them\n", "Count them", "an order"},
		{strings.Repeat("é", 81) + "?", strings.Repeat("é", 80) + "…", "a long one"},
		{" \n", "be brief", "no text of the user"},
	} {
		p := testutil.Value(replay.NewPlayer(strings.NewReader("")))(t)
		_, err := p.Complete(t.Context(),
			llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "be brief"}, {Role: llm.User, Text: tt.text}}})
		var missing *replay.MissingError
		if !errors.As(err, &missing) || missing.About != tt.want {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
}
