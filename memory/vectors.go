package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
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
	"github.com/texttosql/texttosql/internal/embedding"
)

// Vectors is an Embedder that calls another one once per text and stores the vectors: in memory, and in a file that
// outlives the program. linker.Lexical and [Similar] wrap any Embedder in one. Make it yourself to use a file,
// prefixes, or another Wait. Set the fields before the first use, and do not copy it. Safe for concurrent use;
// several processes may share a file.
//
// The file has a checksum of each text, no text itself, and a checksum of all; a file that was changed is an error.
// It keeps the vectors of texts that are no longer used: delete it to start again.
type Vectors struct {
	By   Embedder // the embedder to call; required
	Name string   // the name of its model, since each model has its own vectors; required with File
	File string   // created if missing; "": in memory only
	// QueryPrefix and DocumentPrefix are put before each text, for models trained with prefixes: "query: " and
	// "passage: " of E5.
	QueryPrefix, DocumentPrefix string
	// Wait limits the time that one question waits for By; it is also limited to half of the question's remaining
	// time; 0 means 5 s. Vectors made by then are stored, and the next question makes the others.
	Wait time.Duration

	once    sync.Once
	turn    *semaphore.Weighted  // guards the fields after it; waiting for it ends with the context
	read    bool                 // File was read
	vectors map[string][]float32 // the key is a checksum of a model and of a text as sent
}

const (
	vectorsFormat = "texttosql-vectors-1"
	firstTexts    = 8   // texts of the first request; each later one has twice as many, so a slow embedder loses little
	mostTexts     = 256 // of a request
	vectorsWait   = 5 * time.Second
)

// keptBy returns e if it is a *Vectors, or else a new one in memory.
func keptBy(e Embedder) *Vectors {
	if v, ok := e.(*Vectors); ok {
		return v
	}
	return &Vectors{By: e}
}

// Within returns the context in which one question waits for the embedder.
func (v *Vectors) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := cmp.Or(v.Wait, vectorsWait)
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)/2)
	}
	return context.WithTimeout(ctx, wait)
}

// EmbedQuery returns the vector of a question and does not store it. Its call counts in the budget of ctx.
func (v *Vectors) EmbedQuery(ctx context.Context, text string) (vector []float32, err error) {
	text = v.QueryPrefix + text
	err = embedding.Call(ctx, []string{text}, func(ctx context.Context) (err error) {
		vector, err = v.By.EmbedQuery(ctx, text)
		return err
	})
	return vector, err
}

// EmbedDocuments returns a vector for each text, in their order. By embeds only the texts without a stored vector;
// its calls count in the budget of ctx. After an error, also at the end of ctx, the vectors made so far are stored;
// the error has their number. Do not change the vectors.
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
		if err := embedding.Call(ctx, asked, func(ctx context.Context) (err error) {
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
	return len(vector) == 0 || slices.ContainsFunc(vector, func(f float32) bool {
		return math.IsNaN(float64(f)) || math.IsInf(float64(f), 0)
	})
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
	var (
		kept vectorsFile
		old  bool
	)
	if err == nil {
		old, err = atomicfile.Read(raw, 0, &kept)
	}
	switch {
	case err != nil:
	case kept.Format != vectorsFormat:
		err = errors.New("it has another format")
	case old:
		err = errors.New("it has no checksum")
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
	text, err := atomicfile.Record(0, vectorsFile{vectorsFormat, v.vectors})
	if err != nil {
		return err
	}
	return atomicfile.Write(v.File, append(text, '\n'), 0o600)
}
