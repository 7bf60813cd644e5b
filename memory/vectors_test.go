package memory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/trace"
)

// slow embeds texts by their length, in a second each, and counts texts.
type slow struct {
	texts *atomic.Int64
	asked *[]string // what was asked for last
	fault func(texts []string) ([][]float32, error)
}

func newSlow() slow { return slow{new(atomic.Int64), new([]string), nil} }

func (s slow) EmbedDocuments(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	*s.asked = texts
	for _, text := range texts {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
		s.texts.Add(1)
		vectors = append(vectors, []float32{float32(len(text)), 1})
	}
	if s.fault != nil {
		return s.fault(texts)
	}
	return vectors, nil
}

func (s slow) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	*s.asked = []string{text}
	return []float32{float32(len(text)), 1}, nil
}

func lines(n int) (texts []string) {
	for i := range n {
		texts = append(texts, strings.Repeat("x", i+1))
	}
	return texts
}

// TestVectorsSlow: a question waits as long as it may, and what was made by then is kept; at some question all are
// there.
func TestVectorsSlow(t *testing.T) {
	for _, tt := range []struct {
		why        string
		wait, left time.Duration // left: of the question's time; 0: no end
		longest    time.Duration
	}{
		{"as long as the default", 0, 0, 5 * time.Second},
		{"as long as it is told", 20 * time.Second, 0, 20 * time.Second},
		{"half of what is left", 0, 6 * time.Second, 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			by := newSlow()
			v := &memory.Vectors{By: by, Wait: tt.wait}
			pool := &memory.Pool{}
			for _, text := range lines(17) {
				pool.Pairs = append(pool.Pairs, memory.Exemplar{Question: text, SQL: "SELECT 1"})
			}
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if tt.left > 0 {
				ctx, cancel = context.WithTimeout(ctx, tt.left)
			}
			defer cancel()
			ctx, root := trace.Tracer{}.Start(ctx, "question")
			begin := time.Now()
			picked, err := memory.Similar{Pool: pool, K: 1, Embedder: v}.Pick(ctx, nil, "xx x")
			root.End()
			if took := time.Since(begin); err != nil || len(picked) != 1 || took > tt.longest {
				t.Errorf("%s: %d exemplars after %v, %v", tt.why, len(picked), took, err)
			}
			warned := len(root.Warnings()) == 1 && root.Warnings()[0].Code == "exemplars-lexical"
			if enough := tt.wait > 17*time.Second; warned == enough {
				t.Errorf("%s: warnings %v", tt.why, root.Warnings())
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		by := newSlow()
		v := &memory.Vectors{By: by}
		texts := lines(40)
		for questions := 1; ; questions++ {
			ctx, cancel := context.WithTimeout(t.Context(), 16500*time.Millisecond)
			vectors, err := v.EmbedDocuments(ctx, texts)
			cancel()
			if err == nil {
				if questions != 4 || len(vectors) != 40 || vectors[39][0] != 40 {
					t.Errorf("%d questions, %d vectors", questions, len(vectors))
				}
				return
			}
			want := fmt.Sprintf("memory: %d of 40 texts have vectors", 8*questions)
			if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), want) || questions > 3 {
				t.Fatalf("%v, want %s", err, want)
			}
		}
	})
}

// TestVectorsFile: a file outlives the program, serves two of them, and is never taken for another one.
func TestVectorsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vectors")
	by, texts := newSlow(), []string{"a", "bb", "a"}
	embed := func(v *memory.Vectors, texts ...string) ([][]float32, error) {
		var got [][]float32
		var err error
		synctest.Test(t, func(t *testing.T) { got, err = v.EmbedDocuments(t.Context(), texts) })
		return got, err
	}
	first := testutil.Value(embed(&memory.Vectors{By: by, Name: "m", File: file}, texts...))(t)
	written := testutil.Value(os.ReadFile(file))(t)
	again := testutil.Value(embed(&memory.Vectors{By: by, Name: "m", File: file}, texts...))(t)
	if diff := cmp.Diff(first, again); diff != "" || by.texts.Load() != 2 {
		t.Errorf("after a restart %d texts were embedded (-first +again):\n%s", by.texts.Load(), diff)
	}
	if info := testutil.Value(os.Stat(file))(t); info.Mode().Perm() != 0o600 || bytes.Contains(written, []byte("bb")) {
		t.Error("the file can be read by others, or holds a text:", info.Mode())
	}
	for _, tt := range []struct {
		why  string
		v    *memory.Vectors
		made int64
	}{
		{"another model", &memory.Vectors{Name: "n"}, 2},
		{"another prefix", &memory.Vectors{Name: "m", DocumentPrefix: "passage: "}, 2},
		{"the first of three writers", &memory.Vectors{Name: "m"}, 0},
	} {
		before := by.texts.Load()
		tt.v.By, tt.v.File = by, file
		if _, err := embed(tt.v, texts...); err != nil || by.texts.Load()-before != tt.made {
			t.Errorf("%s: %d texts, want %d, %v", tt.why, by.texts.Load()-before, tt.made, err)
		}
	}
	damaged := string(bytes.Replace(testutil.Value(os.ReadFile(file))(t), []byte("[2,"), []byte("[3,"), 1))
	for _, text := range []string{damaged, "my poem\n", `{"format":"texttosql-vectors-2"}`} {
		testutil.OK(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := embed(&memory.Vectors{By: by, Name: "m", File: file}, "new")
		if now := string(testutil.Value(os.ReadFile(file))(t)); err == nil ||
			!strings.Contains(err.Error(), "is no file of vectors, move it: ") || now != text {
			t.Errorf("%v; the file was %q and is %q", err, text, now)
		}
	}
	if _, err := embed(&memory.Vectors{By: by, File: file}, "new"); err == nil ||
		!strings.Contains(err.Error(), "needs Name with File") {
		t.Error(err)
	}
}

// TestVectorsAtOnce: many callers embed a text once, and none waits longer than its context.
func TestVectorsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := newSlow()
		v := &memory.Vectors{By: by}
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if got, err := v.EmbedDocuments(t.Context(), lines(3)); err != nil || len(got) != 3 {
					t.Error(len(got), err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := v.EmbedDocuments(ctx, lines(3)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error("a caller waits for another one:", err)
		}
		if group.Wait(); by.texts.Load() != 3 {
			t.Error(by.texts.Load(), "texts")
		}
	})
}

// TestVectorsFaults: what an embedder does wrong is an error, and nothing of it is kept.
func TestVectorsFaults(t *testing.T) {
	nan := func() float32 { zero := float32(0); return zero / zero }()
	for why, got := range map[string][][]float32{
		"1 vectors for 2 texts": {{1}}, "2 vectors for 2 texts, or one without numbers": {{1}, {}},
		"or one without numbers": {{nan}, {1}}, "0 vectors for 2": nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			by := newSlow()
			v := &memory.Vectors{By: slow{by.texts, by.asked, func([]string) ([][]float32, error) { return got, nil }}}
			for range 2 {
				if _, err := v.EmbedDocuments(t.Context(), lines(2)); err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("%v, want %s", err, why)
				}
			}
			if by.texts.Load() != 4 {
				t.Error("something was kept of what cannot be used")
			}
		})
	}
}

// TestVectorsSent: prefixes, requests that grow, and calls that count.
func TestVectorsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := newSlow()
		v := &memory.Vectors{By: by, QueryPrefix: "query: ", DocumentPrefix: "passage: "}
		account := llm.Budget{}.Start()
		testutil.Value(v.EmbedDocuments(account.Into(t.Context()), lines(1000)))(t)
		if (*by.asked)[0] != "passage: "+lines(1000)[760] || account.Usage().Calls != 8 { // 8, 16, 32, 64, 128, 256, 256, 240
			t.Errorf("%d bytes in the last request, %d calls", len((*by.asked)[0]), account.Usage().Calls)
		}
		testutil.Value(v.EmbedQuery(t.Context(), "who?"))(t)
		if diff := cmp.Diff([]string{"query: who?"}, *by.asked); diff != "" {
			t.Error(diff)
		}
	})
}
