package memory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/llm"
)

// Vectors is an Embedder that asks another one about each text once, and keeps the vectors: in memory, and in a file that
// outlives the program. linker.Lexical and [Similar] put any Embedder into one; make it yourself for a file, for prefixes, or for
// another Wait. Set the fields before the first use, and do not copy it. Safe for concurrent use, also of a file by several
// processes.
//
// The file has a checksum of each text, no text itself. Vectors of texts that are gone stay in it: delete it to begin anew.
type Vectors struct {
	By   Embedder // the embedder that is asked; required
	Name string   // its model: another model has other vectors; required with File
	File string   // made where there is none; "": memory alone
	// QueryPrefix and DocumentPrefix begin each text, for models that were trained so: "query: " and "passage: " of E5.
	QueryPrefix, DocumentPrefix string
	// Wait is how long one question waits for By at most, and never longer than half of the time that it has left; 0: 5 s. What was
	// made by then is kept, and the next question goes on from there.
	Wait time.Duration

	once    sync.Once
	turn    *semaphore.Weighted // of the fields below; who waits for it waits no longer than its context
	read    bool                // File was read
	vectors map[textKey][]float32
}

// textKey is a checksum of a model and of a text as it is sent.
type textKey [sha256.Size]byte

const (
	vectorsHead  = `{"format":"texttosql-vectors","version":1}`
	firstTexts   = 8   // of a request, so that the work of a slow embedder is kept; each further request has twice as many
	mostTexts    = 256 // of a request
	vectorsWait  = 5 * time.Second
	vectorsShare = 2 // the part of the time left that a question waits is 1 of these
)

// KeptBy is e if it is a *Vectors, or else a new one in memory.
func KeptBy(e Embedder) *Vectors {
	if v, ok := e.(*Vectors); ok {
		return v
	}
	return &Vectors{By: e}
}

// Within is the context in which one question waits for the embedder.
func (v *Vectors) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := cmp.Or(v.Wait, vectorsWait)
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)/vectorsShare)
	}
	return context.WithTimeout(ctx, wait)
}

// EmbedQuery returns the vector of a question, which is not kept. Its call counts in the budget of ctx.
func (v *Vectors) EmbedQuery(ctx context.Context, text string) (vector []float32, err error) {
	text = v.QueryPrefix + text
	err = llm.Embed(ctx, []string{text}, func(ctx context.Context) (err error) {
		vector, err = v.By.EmbedQuery(ctx, text)
		return err
	})
	if err == nil && broken(vector) {
		err = errors.New("memory: the embedder gave a vector without numbers")
	}
	return vector, err
}

// EmbedDocuments returns a vector for each text, in their order: those that are kept, and those that By makes now, whose calls
// count in the budget of ctx. On an error, also at the end of ctx, what was made is kept; the error says how much. Nobody
// may change the vectors.
func (v *Vectors) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	v.once.Do(func() { v.turn, v.vectors = semaphore.NewWeighted(1), map[textKey][]float32{} })
	if err := cmp.Or(ctx.Err(), v.turn.Acquire(ctx, 1)); err != nil {
		return nil, err
	}
	defer v.turn.Release(1)
	if err := v.open(); err != nil {
		return nil, err
	}
	keys, left, distinct := make([]textKey, len(texts)), []int(nil), map[textKey]bool{}
	for i, text := range texts {
		keys[i] = sha256.Sum256([]byte(v.Name + "\x00" + v.DocumentPrefix + text))
		if v.vectors[keys[i]] == nil && !distinct[keys[i]] {
			left = append(left, i)
		}
		distinct[keys[i]] = true
	}
	made, err := v.make(ctx, texts, keys, left)
	if err != nil {
		err = fmt.Errorf("memory: %d of %d texts have vectors: %w", len(distinct)-len(left)+made, len(distinct), err)
	}
	if made > 0 {
		err = errors.Join(err, v.save())
	}
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, key := range keys {
		vectors[i] = v.vectors[key]
	}
	return vectors, nil
}

// make asks for the vectors of the texts at places, and returns how many it got.
func (v *Vectors) make(ctx context.Context, texts []string, keys []textKey, places []int) (made int, err error) {
	for size := firstTexts; made < len(places); size = min(2*size, mostTexts) {
		if err := ctx.Err(); err != nil {
			return made, err
		}
		some := places[made:min(made+size, len(places))]
		asked := make([]string, len(some))
		for i, at := range some {
			asked[i] = v.DocumentPrefix + texts[at]
		}
		var got [][]float32
		if err := llm.Embed(ctx, asked, func(ctx context.Context) (err error) {
			got, err = v.By.EmbedDocuments(ctx, asked)
			return err
		}); err != nil {
			return made, err
		}
		if len(got) != len(some) {
			return made, fmt.Errorf("the embedder gave %d vectors for %d texts", len(got), len(some))
		}
		if slices.ContainsFunc(got, broken) {
			return made, errors.New("the embedder gave a vector without numbers")
		}
		for i, at := range some {
			v.vectors[keys[at]] = slices.Clone(got[i])
		}
		made += len(some)
	}
	return made, nil
}

func broken(vector []float32) bool {
	return len(vector) == 0 || slices.ContainsFunc(vector, func(f float32) bool { return math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) })
}

// keptVector is a line of the file.
type keptVector struct {
	Text   []byte    `json:"text"` // its checksum
	Vector []float32 `json:"vector"`
}

// open reads the file once.
func (v *Vectors) open() error {
	if v.File == "" || v.read {
		return nil
	}
	if v.Name == "" {
		return errors.New("memory: Vectors needs Name with File: vectors of two models are not comparable")
	}
	if err := v.load(); err != nil {
		return err
	}
	v.read = true
	return nil
}

// load adds the vectors of the file. A line that is not as it was written is left out, and its text is embedded again.
func (v *Vectors) load() error {
	raw, err := os.ReadFile(v.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	head, rest, _ := bytes.Cut(raw, []byte("\n"))
	if string(head) != vectorsHead {
		return fmt.Errorf("memory: %s is no file of vectors of this version, move it", v.File)
	}
	for line := range bytes.Lines(rest) {
		var kept keptVector
		text, err := atomicfile.Unsealed(line)
		if err == nil && json.Unmarshal(text, &kept) == nil && len(kept.Text) == sha256.Size && !broken(kept.Vector) {
			v.vectors[textKey(kept.Text)] = kept.Vector
		}
	}
	return nil
}

// save writes the vectors of this and of other processes into the file.
func (v *Vectors) save() error {
	if v.File == "" {
		return nil
	}
	unlock, err := atomicfile.Lock(v.File)
	if err != nil {
		return err
	}
	defer unlock()
	if err := v.load(); err != nil {
		return err
	}
	keys := make([]textKey, 0, len(v.vectors))
	for key := range v.vectors {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b textKey) int { return bytes.Compare(a[:], b[:]) })
	text := []byte(vectorsHead + "\n")
	for _, key := range keys {
		line, err := json.Marshal(keptVector{key[:], v.vectors[key]})
		if err != nil {
			return err
		}
		text = append(append(text, atomicfile.Sealed(line)...), '\n')
	}
	return atomicfile.Write(v.File, text, 0o600)
}
