package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
)

// maxTape bounds a file of a tape, in bytes.
const maxTape = 900_000

// tape is a folder of recordings of package llm/replay. It holds replies and the hashes of what was asked, but no word
// of it: it may be published where the questions may not. Safe for concurrent use.
type tape struct {
	player *replay.Player // of what was there at the start
	rec    *replay.Recorder

	dir   string
	count int // of files
	size  int // of the last one
}

// openTape reads the recordings of a folder, and makes the folder if need be. It mends the end of the last one.
func openTape(dir string) (*tape, error) {
	t := &tape{dir: dir}
	t.rec = replay.NewRecorder(t)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	files, err := recordings(dir)
	if err != nil {
		return nil, err
	}
	if t.count = len(files); t.count > 0 {
		last, err := replay.Append(files[t.count-1])
		if err != nil {
			return nil, err
		}
		info, unknown := os.Stat(files[t.count-1])
		if err := errors.Join(last.Close(), unknown); err != nil {
			return nil, err
		}
		t.size = int(info.Size())
	}
	t.player, err = openReplay(dir)
	return t, err
}

// recordings returns the files of a folder, in order.
func recordings(dir string) ([]string, error) { return filepath.Glob(filepath.Join(dir, "*.jsonl")) }

// openReplay reads the recordings of a folder as one.
func openReplay(dir string) (*replay.Player, error) {
	paths, err := recordings(dir)
	if err != nil {
		return nil, err
	}
	var all []io.Reader
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, bytes.NewReader(text))
	}
	p, err := replay.NewPlayer(io.MultiReader(all...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return p, nil
}

// asked is the field of a recorded call that repeats the question.
var asked = regexp.MustCompile(`^(\{(?:"[a-z]+":(?:[0-9]+|"[^"\\]*"),)*)"about":"(?:[^"\\]|\\.)*",`)

// lost is the field of a recorded call that has no reply.
var lost = regexp.MustCompile(`^\{(?:"[a-z]+":(?:[0-9]+|"(?:[^"\\]|\\.)*"),)*"error":\{`)

// Write adds a line of the recorder, without the question. A full file is followed by another one. A call that failed
// is left out, so that the next run makes it again: a server that was down is no reply of the model.
func (t *tape) Write(line []byte) (int, error) {
	bare, _, err := atomicfile.Unsealed(line)
	if err != nil {
		return 0, err
	}
	if lost.Match(bare) {
		return len(line), nil
	}
	sealed := append(atomicfile.Sealed(0, asked.ReplaceAll(bare, []byte("$1"))), '\n')
	if t.count == 0 || t.size+len(sealed) > maxTape {
		t.count, t.size = t.count+1, 0
	}
	file, err := os.OpenFile(filepath.Join(t.dir, fmt.Sprintf("%02d.jsonl", t.count)), os.O_WRONLY|os.O_CREATE|os.O_APPEND,
		0o644)
	if err != nil {
		return 0, err
	}
	_, err = file.Write(sealed)
	t.size += len(sealed)
	return len(line), errors.Join(err, file.Close())
}

// over answers what the tape holds from it, asks m for the rest, and records that.
func (t *tape) over(m llm.Model) llm.Model { return llm.Chain(m, t.player.Or, t.rec.Record) }

// drawn returns the questions in the order of a draw: every beginning is a fair sample of them, and stays the same when
// others are added to the dataset or leave it.
func drawn(questions []eval.Question, seed uint64) []eval.Question {
	place := func(q eval.Question) []byte {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, q.Key()))
		return sum[:]
	}
	return slices.SortedStableFunc(slices.Values(questions), func(a, b eval.Question) int {
		return bytes.Compare(place(a), place(b))
	})
}
