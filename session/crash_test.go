package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// child runs this test again as a process of its own, with what it is to do.
func child(t *testing.T, what ...string) *exec.Cmd {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$")
	text := testutil.Value(json.Marshal(what))(t)
	cmd.Env = append(os.Environ(), "TEXTTOSQL_TEST_SESSION="+string(text))
	return cmd
}

// task is what this process is to do as a child; nil: it is no child.
func task(t *testing.T) (what []string) {
	t.Helper()
	if text := os.Getenv("TEXTTOSQL_TEST_SESSION"); text != "" {
		testutil.OK(t, json.Unmarshal([]byte(text), &what))
	}
	return what
}

// script saves a session three times and appends four lines, and says after each what is durable now.
func script(f *session.FileStore, id string) error {
	ctx := context.Background()
	r := session.New(id, time.Unix(0, 0).UTC())
	save := func() error {
		err := f.Save(ctx, r)
		r.Revision++
		r.Turns = append(r.Turns, session.Turn{Kind: dialogue.TurnQuestion, Text: fmt.Sprint(r.Revision)})
		fmt.Println("saved", r.Revision)
		return err
	}
	if err := save(); err != nil {
		return err
	}
	j, err := f.Journal(ctx, id)
	if err != nil {
		return err
	}
	for i := range 4 {
		if err := j.Append(fmt.Append(nil, "line ", i+1)); err != nil {
			return err
		}
		fmt.Println("appended", i+1)
		if i%2 == 1 {
			if err := save(); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestKilled kills a process by SIGKILL at every step of its saves and appends. Whatever it had said to be durable is
// there, and nothing is there in part. Another process goes on from there.
func TestKilled(t *testing.T) {
	if what := task(t); what != nil {
		at := testutil.Value(strconv.Atoi(what[2]))(t)
		atomicfile.AtStep = func(step, path string) {
			if at--; at < 0 {
				self, _ := os.FindProcess(os.Getpid())
				self.Kill()
				select {}
			}
		}
		f, err := session.OpenFiles(what[0])
		if err == nil {
			err = script(f, what[1])
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for at := 0; ; at++ {
		dir, id := t.TempDir(), session.NewID()
		out, err := child(t, dir, id, strconv.Itoa(at)).Output()
		var saves int64
		var lines int
		for said := range strings.Lines(string(out)) {
			fmt.Sscanf(said, "saved %d", &saves)
			fmt.Sscanf(said, "appended %d", &lines)
		}
		var killed *exec.ExitError
		if err == nil {
			if at < 23 || saves != 3 || lines != 4 { // five steps of the first save, three of each later one and of each append
				t.Errorf("killed at %d steps only; the last process saved %d times and appended %d lines:\n%s", at, saves, lines,
					out)
			}
			return
		} else if !errors.As(err, &killed) || killed.Exited() {
			t.Fatalf("step %d: %v\n%s", at, err, out)
		}
		if err := goOn(dir, id, saves, lines); err != nil {
			t.Fatalf("killed at step %d, after %d saves and %d lines: %v", at, saves, lines, err)
		}
	}
}

// goOn checks what a killed process left, and works with it.
func goOn(dir, id string, saves int64, lines int) error {
	ctx := context.Background()
	f, err := session.OpenFiles(dir)
	if err != nil {
		return err
	}
	r, err := f.Load(ctx, id)
	if errors.Is(err, session.ErrNotFound) && saves == 0 {
		return script(f, id) // nothing was promised
	} else if err != nil {
		return err
	}
	if r.Revision != saves && r.Revision != saves+1 || int64(len(r.Turns)) != r.Revision-1 {
		return fmt.Errorf("revision %d has %d turns", r.Revision, len(r.Turns))
	}
	j, err := f.Journal(ctx, id)
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.Append([]byte("line after")); err != nil {
		return err
	}
	text, err := j.Read()
	if err != nil {
		return err
	}
	want := ""
	for i := range strings.Count(string(text), "\n") - 1 {
		want += fmt.Sprintln("line", i+1)
		lines--
	}
	if string(text) != want+"line after\n" || lines > 0 || lines < -1 {
		return fmt.Errorf("the journal has %q", text)
	}
	if err := f.Save(ctx, r); err != nil {
		return err
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
		return fmt.Errorf("left behind: %q", left)
	}
	return nil
}

// TestTornLine cuts a journal off after each of its bytes: Read gives the whole lines, and the next line stands alone.
func TestTornLine(t *testing.T) {
	const text = "first\nsecond, é\nthird\n"
	for cut := range len(text) + 1 {
		f, r := openFiles(t), session.New(session.NewID(), time.Unix(0, 0))
		testutil.OK(t, f.Save(t.Context(), r))
		j, err := f.Journal(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(f.dir, r.ID+".jsonl")
		testutil.OK(t, os.WriteFile(path, []byte(text[:cut]), 0o600))
		kept := text[:strings.LastIndex(text[:cut], "\n")+1]
		if got, err := j.Read(); string(got) != kept || err != nil {
			t.Errorf("cut after %d bytes: Read gives %q, %v", cut, got, err)
		}
		if cut%2 == 0 { // a process that takes over opens the journal first
			j = testutil.Value(f.Journal(t.Context(), r.ID))(t)
			if got := testutil.Value(os.ReadFile(path))(t); string(got) != kept {
				t.Errorf("cut after %d bytes: the opened journal has %q", cut, got)
			}
		}
		testutil.OK(t, j.Append([]byte("last")))
		if got, err := os.ReadFile(path); string(got) != kept+"last\n" || err != nil {
			t.Errorf("cut after %d bytes: the file has %q, %v", cut, got, err)
		}
	}
}

// TestProcesses: each of four processes adds 25 turns to one session. Who loses a save loads again, and no turn is
// lost.
func TestProcesses(t *testing.T) {
	if what := task(t); what != nil {
		f := testutil.Value(session.OpenFiles(what[0]))(t)
		for n := 0; n < 25; {
			r := testutil.Value(f.Load(t.Context(), what[1]))(t)
			r.Turns = append(r.Turns, session.Turn{Kind: dialogue.TurnCorrection, Text: fmt.Sprint(what[2], " ", n)})
			switch err := f.Save(t.Context(), r); {
			case err == nil:
				n++
			case !errors.Is(err, session.ErrConflict):
				t.Fatal(err)
			}
		}
		return
	}
	f, r := openFiles(t), session.New(session.NewID(), time.Unix(0, 0))
	testutil.OK(t, f.Save(t.Context(), r))
	done := make(chan error)
	for i := range 4 {
		go func() {
			out, err := child(t, f.dir, r.ID, fmt.Sprint("process ", i)).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	r, err := f.Load(t.Context(), r.ID)
	if err != nil || r.Revision != 101 {
		t.Fatalf("revision %d, %v", r.Revision, err)
	}
	seen := map[string]bool{}
	for _, turn := range r.Turns {
		seen[turn.Text] = true
	}
	if len(seen) != 100 || len(r.Turns) != 100 {
		t.Errorf("%d turns, %d different ones", len(r.Turns), len(seen))
	}
}

// TestBrokenRecord: a record that cannot be read is a typed error of every call, is listed as one, and stays as it is.
func TestBrokenRecord(t *testing.T) {
	f, good := openFiles(t), session.New(session.NewID(), time.Unix(0, 0))
	testutil.OK(t, f.Save(t.Context(), good))
	sealed := testutil.Value(os.ReadFile(filepath.Join(f.dir, good.ID+".json")))(t)
	whole, _, err := atomicfile.Unsealed(sealed)
	testutil.OK(t, err)
	tests := []struct{ why, text, says string }{
		{"empty", "", "unexpected end"},
		{"truncated", string(whole[:len(whole)/2]), "unexpected end"},
		{"no JSON", "turns: none", "invalid character"},
		{"two records", string(whole) + string(whole), "after top-level value"},
		{"a later version", strings.Replace(string(whole), `"version":1`, `"version":2`, 1), "version 2"},
		{"of another session", string(whole), "session \"" + good.ID},
		{"an unknown state", strings.Replace(string(whole), `"initializing"`, `"dreaming"`, 1), "dreaming"},
		{"interrupted out of nothing", strings.Replace(string(whole), `"initializing"`, `"interrupted"`, 1), "resume state"},
		{"resumes where nobody waits", strings.Replace(string(whole), `"initializing"`,
			`"interrupted","resume_state":"completed"`, 1), "resume state"},
		{"changed after it was written", string(sealed), "checksum"}, // another id
		{"never saved", strings.Replace(string(whole), `"revision":1`, `"revision":0`, 1), "revision is 0"},
		{"2 MB", strings.Replace(string(whole), `"config":""`, `"config":"`+strings.Repeat("x", 2<<20)+`"`, 1),
			"larger than 1048576"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			id := session.NewID()
			if tt.why != "of another session" {
				tt.text = strings.ReplaceAll(tt.text, good.ID, id)
			}
			path := filepath.Join(f.dir, id+".json")
			testutil.OK(t, os.WriteFile(path, []byte(tt.text), 0o600))
			_, load := f.Load(t.Context(), id)
			list, listed := f.List(t.Context(), session.Filter{})
			swept, sweep := session.DeleteExpired(t.Context(), f, time.Unix(1000, 0))
			r := good
			r.ID = id
			for call, err := range map[string]error{"Load": load, "Save": f.Save(t.Context(), r), "List": listed,
				"Sweep": sweep} {
				var broken *session.RecordError
				if !errors.As(err, &broken) || broken.ID != id || broken.File != path || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s: %v, want %q", call, err, tt.says)
				}
			}
			if len(list) != 1 || len(swept) != 0 {
				t.Errorf("listed %d, swept %d", len(list), len(swept))
			}
			if now, err := os.ReadFile(path); string(now) != tt.text || err != nil {
				t.Errorf("the file has changed: %v", err)
			}
			if err := f.Delete(t.Context(), id); err != nil {
				t.Errorf("Delete: %v", err)
			}
		})
	}
}

// TestFilesModes: only the owner may read a session.
func TestFilesModes(t *testing.T) {
	f, r := openFiles(t), session.New(session.NewID(), time.Unix(0, 0))
	testutil.OK(t, f.Save(t.Context(), r))
	j, err := f.Journal(t.Context(), r.ID)
	if err == nil {
		err = j.Append([]byte("x"))
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(f.dir)
	if err != nil || len(files) < 2 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file.Name(), info.Mode(), err)
		}
	}
	testutil.OK(t, j.Close())
	if _, err := j.Read(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Read of a closed journal: %v", err)
	}
	if err := j.Append([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Append to a closed journal: %v", err)
	}
	if _, err := session.OpenFiles(filepath.Join(f.dir, r.ID+".json")); err == nil {
		t.Error("a file was opened as a folder")
	}
}

// TestSweep keeps completed sessions for 30 days and all others for 90.
func TestSweep(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, store := range []session.Store{&session.MemoryStore{}, openFiles(t)} {
		want := []string{}
		for _, state := range session.States() {
			for _, age := range []time.Duration{0, 29 * day, 30 * day, 31 * day, 89 * day, 90 * day, 91 * day} {
				r := session.New(session.NewID(), now.Add(-200*day))
				r.State, r.Updated = state, now.Add(-age)
				if state == session.Interrupted {
					r.ResumeState = dialogue.GeneratingSQL
				}
				testutil.OK(t, store.Save(t.Context(), r))
				if age <= 30*day || age <= 90*day && state != session.Completed {
					want = append(want, r.ID)
				}
			}
		}
		deleted, err := session.DeleteExpired(t.Context(), store, now)
		if err != nil || len(deleted) != 10*7-len(want) {
			t.Errorf("%T: swept %d, kept should be %d: %v", store, len(deleted), len(want), err)
		}
		for _, id := range want {
			if _, err := store.Load(t.Context(), id); err != nil {
				t.Errorf("%T: %v", store, err)
			}
		}
		for _, id := range deleted {
			if _, err := store.Load(t.Context(), id); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("%T: %v", store, err)
			}
		}
	}
}

// TestRecordOfAnEarlierVersion: a record without a checksum is read once with a warning, and has one from then on.
func TestRecordOfAnEarlierVersion(t *testing.T) {
	f, r := openFiles(t), session.New(session.NewID(), time.Unix(0, 0))
	testutil.OK(t, f.Save(t.Context(), r))
	path := filepath.Join(f.dir, r.ID+".json")
	sealed := testutil.Value(os.ReadFile(path))(t)
	object, _, err := atomicfile.Unsealed(sealed)
	testutil.OK(t, err)
	testutil.OK(t, os.WriteFile(path, object, 0o600))
	for _, warnings := range []int{1, 0} {
		root := trace.Tracer{}.New("load")
		if _, err := f.Load(trace.NewContext(t.Context(), root), r.ID); err != nil || len(root.Warnings()) != warnings {
			t.Errorf("%d warnings, want %d: %v", len(root.Warnings()), warnings, err)
		}
	}
	if now := testutil.Value(os.ReadFile(path))(t); string(now) != string(sealed) {
		t.Errorf("rewritten as %s", now)
	}
	testutil.OK(t, os.WriteFile(path, []byte(strings.Replace(string(sealed), `,"sum":`, `,"sun":`, 1)), 0o600))
	if _, err := f.Load(t.Context(), r.ID); err == nil || !strings.Contains(err.Error(), "unknown field") {
		t.Errorf("a changed name of the checksum: %v", err)
	}
}
