package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/dateprompt"
	"github.com/texttosql/texttosql/llm"
)

// Player is a model that answers from a recording.
//
// The n-th call with a key gets the n-th recorded outcome, and later calls get the last one. So a call that failed
// twice before its reply fails twice in the replay. Safe for concurrent use.
//
// A request contains the current day. A request that was recorded on another day also answers it, so a recording
// stays valid. To replay a recording without days, create the engine with texttosql.WithClock(nil).
//
// For a recording of one model, the Player is that model and has its name. For a recording of several models, get each
// by
// [Player.Model].
type Player struct {
	outcomes map[key][]*line
	samples  map[key]int // the number of samples of a request; its keys have no sample
	models   []string
	days     []string // the lines of the requests that say which day it is, each once; "" is a request without one
	notes    []string

	mu     sync.Mutex
	served map[key]int
}

// missingError reports that a recording has no outcome for a call. Players return it in an [*llm.Error] of
// ClassPermanent.
type missingError struct {
	Model   string // "" if the model has no name
	Purpose string // the purpose of the request
	Sample  int    // the sample of the request
	Hash    string // [llm.Request.Hash] of the request
	About   string // the question of its last user message, cut at 80 runes
	Samples int    // the number of samples of this request in the recording
}

// Error names the call.
func (e *missingError) Error() string {
	var b strings.Builder
	b.WriteString("replay: no recorded reply to ")
	b.WriteString(strconv.Quote(e.Purpose))
	if e.Model != "" {
		b.WriteString(" of model " + strconv.Quote(e.Model))
	}
	fmt.Fprintf(&b, ", sample %d, request %.16s (%d of its samples recorded): %s", e.Sample, e.Hash, e.Samples, e.About)
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
	p.notes = named(path, p.notes)
	return p, nil
}

// NewPlayer reads a recording to its end. An error about a line has its number.
func NewPlayer(r io.Reader) (*Player, error) {
	rec, err := read(r)
	if err != nil {
		return nil, err
	}
	p := &Player{outcomes: make(map[key][]*line), samples: make(map[key]int), served: make(map[key]int),
		notes: rec.notes()}
	names := make(map[string]bool)
	for _, l := range rec.lines {
		k := l.key()
		if len(p.outcomes[k]) == 0 {
			p.samples[k.request()]++
		}
		p.outcomes[k] = append(p.outcomes[k], l)
		names[l.Model] = true
		if !slices.Contains(p.days, l.Day) {
			p.days = append(p.days, l.Day)
		}
	}
	p.models = slices.Sorted(maps.Keys(names))
	return p, nil
}

// request returns k without its sample.
func (k key) request() key {
	k.sample = -1
	return k
}

// Notes returns facts about the file for a person, such as an ignored last line; nil if there are none.
func (p *Player) Notes() []string { return p.notes }

// Models returns the sorted names of the models in the recording; "" is a model without a name.
func (p *Player) Models() []string { return p.models }

// Name returns the name of the recording's only model; "" if it has no name or there are several models.
func (p *Player) Name() string {
	if len(p.models) == 1 {
		return p.models[0]
	}
	return ""
}

// Complete returns the recorded outcome for req, or an error that names the call.
func (p *Player) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	return p.complete(ctx, p.Name(), req)
}

// Model returns the model of the given name in the recording.
func (p *Player) Model(name string) llm.Model {
	return llm.Named(name, llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		return p.complete(ctx, name, req)
	}))
}

// key is the key of a request: of the same request on a day of the recording, where it holds none of the request's own
// day.
func (p *Player) key(model string, req llm.Request) key {
	own := keyOf(model, req)
	if len(p.outcomes[own]) > 0 {
		return own
	}
	for _, day := range p.days {
		if k := keyOf(model, req.OnDay(day)); len(p.outcomes[k]) > 0 {
			return k
		}
	}
	return own
}

// Now returns the day on which the recording began, in its time zone, or the current time if the recording has no
// day. To resume an interrupted run on that day, use texttosql.WithClock(player.Now).
func (p *Player) Now() time.Time {
	for _, day := range p.days {
		if t, ok := dateprompt.Parse(day); ok {
			return t
		}
	}
	return time.Now()
}

func (p *Player) complete(ctx context.Context, model string, req llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, ctx.Err()
	}
	k := p.key(model, req)
	outcomes := p.outcomes[k]
	if len(outcomes) == 0 {
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Err: &missingError{
			Model: model, Purpose: req.Purpose, Sample: req.Sample, Hash: k.hash, About: about(req),
			Samples: p.samples[k.request()],
		}}
	}
	p.mu.Lock()
	n := min(p.served[k], len(outcomes)-1)
	p.served[k]++
	p.mu.Unlock()
	return outcomes[n].outcome()
}

// Or is a middleware that answers from the recording: the n-th call with a key gets the n-th recorded reply. Further
// calls, and calls with only recorded errors, go to next. It resumes an interrupted run:
//
//	rec, err := replay.Append(path) // makes the file, or mends its end
//	player, err := replay.Open(path)
//	model = llm.Chain(model, player.Or, rec.Record)
//
// A run that starts over needs a new Player, which counts from the first reply.
func (p *Player) Or(next llm.Model) llm.Model {
	model := llm.NameOf(next)
	return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if ctx.Err() != nil {
			return llm.Response{}, ctx.Err()
		}
		k := p.key(model, req)
		if l := p.nextReply(k); l != nil {
			return l.outcome()
		}
		return next.Complete(ctx, req)
	})
}

// nextReply returns the first reply to k that Or has not given yet; nil: there is none.
func (p *Player) nextReply(k key) *line {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := p.served[k]; n < len(p.outcomes[k]); n++ {
		if l := p.outcomes[k][n]; l.Error == nil {
			p.served[k] = n + 1
			return l
		}
	}
	return nil
}

// Usage returns the total cost of the recorded replies. It does not depend on the order in which they were recorded.
func (p *Player) Usage() llm.Usage {
	var all []llm.Usage
	for _, lines := range p.outcomes {
		for _, l := range lines {
			if l.Error == nil {
				all = append(all, l.Reply.Usage)
			}
		}
	}
	slices.SortFunc(all, func(a, b llm.Usage) int { return cmp.Compare(a.Money, b.Money) }) // sums of floats depend on it
	var sum llm.Usage
	for _, u := range all {
		sum = sum.Add(u)
	}
	return sum
}
