package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	turn    *semaphore.Weighted  // of the fields below; who waits for it waits no longer than its context
	read    bool                 // File was read
	vectors map[string][]float32 // by the checksum of a model and of a text as it is sent
}

const (
	vectorsFormat = "texttosql-vectors-1"
	firstTexts    = 8   // of a request, so that the work of a slow embedder is kept; each further request has twice as many
	mostTexts     = 256 // of a request
	vectorsWait   = 5 * time.Second
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
		wait = min(wait, time.Until(end)/2)
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
	return vector, err
}

// EmbedDocuments returns a vector for each text, in their order: those that are kept, and those that By makes now, whose calls
// count in the budget of ctx. On an error, also at the end of ctx, what was made is kept; the error says how much. Nobody
// may change the vectors.
func (v *Vectors) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	v.once.Do(func() { v.turn, v.vectors = semaphore.NewWeighted(1), map[string][]float32{} })
	if err := cmp.Or(ctx.Err(), v.turn.Acquire(ctx, 1)); err != nil {
		return nil, err
	}
	defer v.turn.Release(1)
	if !v.read && v.File != "" {
		if err := v.load(); err != nil {
			return nil, err
		}
		v.read = true
	}
	keys, left, distinct := make([]string, len(texts)), []int(nil), map[string]bool{}
	for i, text := range texts {
		keys[i] = fmt.Sprintf("%x", sha256.Sum256([]byte(v.Name+"\x00"+v.DocumentPrefix+text)))
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
func (v *Vectors) make(ctx context.Context, texts []string, keys []string, places []int) (made int, err error) {
	for size := firstTexts; made < len(places) && ctx.Err() == nil; size = min(2*size, mostTexts) {
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
		if len(got) != len(some) || slices.ContainsFunc(got, broken) {
			return made, fmt.Errorf("the embedder gave %d vectors for %d texts, or one without numbers", len(got), len(some))
		}
		for i, at := range some {
			v.vectors[keys[at]] = slices.Clone(got[i])
		}
		made += len(some)
	}
	if made < len(places) {
		err = ctx.Err()
	}
	return made, err
}

func broken(vector []float32) bool {
	return len(vector) == 0 || slices.ContainsFunc(vector, func(f float32) bool { return math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) })
}

// vectorsFile is the content of the file.
type vectorsFile struct {
	Format  string               `json:"format"`
	Vectors map[string][]float32 `json:"vectors"`
}

// load adds the vectors of the file.
func (v *Vectors) load() error {
	if v.Name == "" {
		return errors.New("memory: Vectors needs Name with File: vectors of two models are not comparable")
	}
	raw, err := os.ReadFile(v.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var kept vectorsFile
	if err == nil {
		raw, err = atomicfile.Unsealed(raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err == nil && kept.Format != vectorsFormat {
		err = errors.New("it has another format")
	}
	if err != nil {
		return fmt.Errorf("memory: %s is no file of vectors, move it: %w", v.File, err)
	}
	maps.Copy(v.vectors, kept.Vectors)
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
	text, err := json.Marshal(vectorsFile{vectorsFormat, v.vectors})
	if err != nil {
		return err
	}
	return atomicfile.Write(v.File, append(atomicfile.Sealed(text), '\n'), 0o600)
}
