package maker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// hold holds the election of a phase, which e tells how to sample, and reports how it ended. flagOf says why a sample
// has no vote; "" for one that has. why says that too few voted; the error is that of the question: where no call got a
// reply, a fallback would get none either.
func hold[T any](ctx context.Context, r *run, name string, e strategy.Election[T],
	flagOf func(T) string) (d strategy.Sampled[T], p Phase, why string, err error) {
	n := r.Samples
	e.N, e.MinWave, e.MinVotes = n, r.minWave(), r.MinVotes
	if e.Stop == nil {
		e.Stop = r.until()
	}
	if !r.published {
		e.Prompts = len(r.env.Models)
	}
	e.Concurrency, e.Room = r.env.Parallel(), func() (int, bool) { return r.left(), true }
	d, err = e.Run(ctx)
	r.out.Saved += d.Saved

	p = Phase{Phase: name, Samples: len(d.Slots)}
	allowed, short := d.Short(n)
	switch {
	case d.Stopped:
		p.Stop = "decided"
	case short:
		p.Stop = "budget"
	case p.Samples == n:
		p.Stop = "all sampled"
	default:
		p.Stop = "all failed" // so no more was asked
	}
	for i, s := range d.Slots {
		if s.Err != nil {
			p.Flags = append(p.Flags, flag{i, "failed"})
			r.out.Note("%s: sample %d failed: %v", name, i, s.Err)
		} else if why := flagOf(s.Value); why != "" {
			p.Flags = append(p.Flags, flag{i, why})
		}
	}
	p.Flagged = len(p.Flags)
	if short && err == nil {
		r.out.Warn(ctx, "budget-spent", "%s: the budget allowed %d of %d samples", name, allowed, n)
	}
	switch {
	case err == nil:
		return d, p, "", nil
	case ctx.Err() != nil:
		return d, p, "", ctx.Err()
	case !errors.Is(err, strategy.ErrQuorum):
	case len(d.Failed()) == p.Samples:
		err = &strategy.NoCandidateError{Failed: d.Failed()}
	case p.Stop == "budget":
		return d, p, whyBudget, nil
	default:
		return d, p, whyQuorum, nil
	}
	return d, p, "", fmt.Errorf("maker: %s: %w", name, err)
}

// phase is an election over something that is no statement: the scope, the filter.
type phase[T interface {
	Key() string
	String() string
}] struct {
	run      *run
	name     string
	purpose  string
	messages []llm.Message
	read     func(ctx context.Context, reply string) (T, error)
	// valid reports whether the members of a party agree on something to build on. Sampling does not stop before the
	// leading party does. nil: every party.
	valid func(members []reading[T]) bool
}

// reading is a reply as it was read. One with a flag does not vote.
type reading[T any] struct {
	sample int
	value  T
	flag   *flagError
}

// elect holds the election. The parties are the readings that voted, grouped by key, most votes first, ties by the
// earliest sample.
func (p phase[T]) elect(ctx context.Context) (voted [][]reading[T], report Phase, why string, err error) {
	election := strategy.Election[reading[T]]{
		Sample: p.sample,
		Key: func(r reading[T]) (string, bool) {
			if r.flag != nil {
				return "", false
			}
			return r.value.Key(), true
		},
	}
	if stop := p.run.until(); stop != nil && p.valid != nil {
		var seen []reading[T]
		election.State = func(values []reading[T], planned int) vote.State {
			seen = values
			return standing(values, planned)
		}
		election.Stop = func(t vote.State) bool {
			if !stop(t) {
				return false
			}
			leading := parties(seen)
			return len(leading) == 0 || p.valid(leading[0])
		}
	}
	sampled, report, why, err := hold(ctx, p.run, p.name, election, func(r reading[T]) string {
		if r.flag == nil {
			return ""
		}
		return r.flag.Reason
	})
	voted = parties(sampled.Values())
	report.UniqueSignatures = len(voted)
	for _, v := range voted {
		c := vote.Cluster{Key: v[0].value.String(), Best: v[0].sample, Weight: float64(len(v))}
		c.Share = c.Weight / float64(sampled.Votes())
		for _, m := range v {
			c.Members = append(c.Members, m.sample)
		}
		report.Clusters = append(report.Clusters, c)
	}
	return voted, report, why, err
}

// sample asks for one reply and reads it.
func (p phase[T]) sample(ctx context.Context, i int) (reading[T], error) {
	r := reading[T]{sample: i}
	reply, err := p.run.ask(ctx, p.purpose, p.messages, i)
	if err != nil {
		return r, err
	}
	_, most := p.run.maxTokens(p.purpose)
	if err = flagReply(reply, most); err == nil {
		r.value, err = p.read(ctx, reply.Text)
	}
	if errors.As(err, &r.flag) {
		trace.FromContext(ctx).Set("flag", r.flag.Reason)
		return r, nil
	}
	if err == nil {
		trace.FromContext(ctx).Set("answer", trace.PrivateSQL.Secret(r.value.String()))
	}
	return r, err
}

// standing counts the votes of readings.
func standing[T interface{ Key() string }](readings []reading[T], planned int) vote.State {
	t := vote.State{Remaining: planned}
	for _, r := range readings {
		if r.flag == nil {
			t.Vote(r.value.Key(), 1, 0)
		} else {
			t.Abstain()
		}
	}
	return t
}

// parties groups the readings that voted.
func parties[T interface{ Key() string }](readings []reading[T]) (all [][]reading[T]) {
	at := map[string]int{}
	for _, r := range readings {
		if r.flag != nil {
			continue
		}
		i, seen := at[r.value.Key()]
		if !seen {
			i = len(all)
			at[r.value.Key()] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	slices.SortStableFunc(all, func(a, b []reading[T]) int { return cmp.Compare(len(b), len(a)) })
	return all
}

// end writes what became of a phase to the report and to the phase's span.
func (r *run) end(ctx context.Context, p Phase) {
	r.report.Phases = append(r.report.Phases, p)
	span := trace.FromContext(ctx)
	if 2*p.Flagged > p.Samples {
		span.Warn("red-flag-rate", fmt.Sprintf("%s: %d of %d replies did not vote", p.Phase, p.Flagged, p.Samples))
	}
	span.Set("valid", p.Valid)
	span.Set("samples", p.Samples)
	span.Set("flagged", p.Flagged)
	span.Set("unique_signatures", p.UniqueSignatures)
	span.Set("share", p.Share)
	span.Set("stop", p.Stop)
	if p.Winner != "" {
		span.Set("winner", trace.PrivateSQL.Secret(p.Winner))
	}
	if p.Fallback != "" {
		span.Set("fallback", p.Fallback)
	}
	for _, c := range p.Clusters {
		span.Event("cluster", trace.Attr{Key: "votes", Value: len(c.Members)},
			trace.Attr{Key: "answer", Value: trace.PrivateSQL.Secret(cmp.Or(c.SQL, c.Key))})
	}
}
