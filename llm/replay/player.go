package replay

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/llm"
)

// Player is a model that answers from a recording.
//
// The n-th call of a key gets the n-th outcome recorded for it, and every later
// call the last one. So a call that failed twice before it got its reply does so
// again. Safe for concurrent use.
//
// A Player itself is the only model of its recording, with that model's name.
// For a recording of several, take each by [Player.Model].
type Player struct {
	outcomes map[key][]*line
	draws    map[key]int // of a key without its draw: how many draws there are
	models   []string
	notes    []string

	mu     sync.Mutex
	served map[key]int
}

// MissingError says that a recording has no outcome for a call. Players return
// it in an [*llm.Error] of ClassPermanent.
type MissingError struct {
	Model   string // "" if the model has no name
	Purpose string // of the request
	Draw    int    // of the request
	Hash    string // [llm.Request.Hash] of the request
	About   string // the question of its last user message, cut at 80 runes
	Draws   int    // how many draws of this request the recording has
}

// Error names the call.
func (e *MissingError) Error() string {
	var b strings.Builder
	b.WriteString("replay: no recorded reply to ")
	b.WriteString(strconv.Quote(e.Purpose))
	if e.Model != "" {
		b.WriteString(" of model " + strconv.Quote(e.Model))
	}
	fmt.Fprintf(&b, ", draw %d, request %.16s (%d of its draws recorded): %s", e.Draw, e.Hash, e.Draws, e.About)
	return b.String()
}

// Open reads a recording.
func Open(path string) (*Player, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("replay: opening recording: %w", err)
	}
	defer f.Close()
	p, err := NewPlayer(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// NewPlayer reads a recording to its end. Errors name the line.
func NewPlayer(r io.Reader) (*Player, error) {
	rec, err := read(r)
	if err != nil {
		return nil, err
	}
	p := &Player{outcomes: make(map[key][]*line), draws: make(map[key]int), served: make(map[key]int)}
	if note := rec.note(); note != "" {
		p.notes = []string{note}
	}
	names := make(map[string]bool)
	for _, l := range rec.lines {
		k := l.key()
		if len(p.outcomes[k]) == 0 {
			p.draws[k.request()]++
		}
		p.outcomes[k] = append(p.outcomes[k], l)
		names[l.Model] = true
	}
	p.models = slices.Sorted(maps.Keys(names))
	return p, nil
}

// request is k for any draw.
func (k key) request() key {
	k.draw = -1
	return k
}

// Notes returns what a person should know about the file, such as a last line
// that was ignored; nil for nothing.
func (p *Player) Notes() []string { return p.notes }

// Models returns the names of the models in the recording, sorted; "" is one
// without a name.
func (p *Player) Models() []string { return p.models }

// Name returns the name of the recording's only model; "" if it has none, or if
// there are several.
func (p *Player) Name() string {
	if len(p.models) == 1 {
		return p.models[0]
	}
	return ""
}

// Complete returns what was recorded for req, or a [*MissingError].
func (p *Player) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	return p.complete(ctx, p.Name(), req)
}

// Model returns the model of the given name in the recording.
func (p *Player) Model(name string) llm.Model {
	return llm.Named(name, llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		return p.complete(ctx, name, req)
	}))
}

func (p *Player) complete(ctx context.Context, model string, req llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, ctx.Err()
	}
	k := keyOf(model, req)
	outcomes := p.outcomes[k]
	if len(outcomes) == 0 {
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Err: &MissingError{
			Model: model, Purpose: req.Purpose, Draw: req.Draw, Hash: k.hash, About: about(req), Draws: p.draws[k.request()],
		}}
	}
	p.mu.Lock()
	n := min(p.served[k], len(outcomes)-1)
	p.served[k]++
	p.mu.Unlock()
	return outcomes[n].outcome()
}

// Or is a middleware that asks next for what is not recorded, and for what is
// recorded as an error only. It resumes a run that was broken off:
//
//	rec, err := replay.Append(path) // makes the file, or mends its end
//	player, err := replay.Open(path)
//	model = llm.Chain(model, player.Or, llm.Record(rec.Record))
func (p *Player) Or(next llm.Model) llm.Model {
	model := llm.NameOf(next)
	return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if ctx.Err() != nil {
			return llm.Response{}, ctx.Err()
		}
		for _, l := range slices.Backward(p.outcomes[keyOf(model, req)]) {
			if l.Error == nil {
				return l.outcome()
			}
		}
		return next.Complete(ctx, req)
	})
}
