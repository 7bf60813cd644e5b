package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// phase is an election over something that is no statement: the scope, the
// filter.
type phase[T interface {
	Key() string
	String() string
}] struct {
	run      *makerRun
	name     string
	purpose  string
	messages []llm.Message
	read     func(reply string) (T, []string, error)
}

// reading is a reply as it was read. One with a flag does not vote.
type reading[T any] struct {
	draw  int
	value T
	flag  *FlagError
}

// party is the readings of one key, by draw.
type party[T any] struct {
	key     string
	members []reading[T]
}

// elect draws. The parties are those that voted, most votes first, ties by the
// earliest draw. before is Election.Before with the parties so far.
func (p phase[T]) elect(ctx context.Context, before func(drawn int, voted []party[T])) ([]party[T], PhaseReport, error) {
	report := PhaseReport{Phase: p.name, Attempt: p.run.attempt}
	maker := p.run.MAKER
	election := Election[reading[T]]{
		N: maker.Samples, Wave: maker.wave(), Stop: maker.until(), MinVotes: maker.MinVotes,
		Concurrency: p.run.env.concurrency(), Room: p.run.room,
		Draw: func(ctx context.Context, i int) (reading[T], error) { return p.draw(ctx, i) },
		Key: func(r reading[T]) (string, bool) {
			if r.flag != nil {
				return "", false
			}
			return r.value.Key(), true
		},
	}
	if before != nil {
		election.Before = func(d Drawn[reading[T]]) { before(len(d.Slots), parties(d.Values())) }
	}
	p.run.begin(p.messages)
	drawn, err := election.Run(ctx)
	p.run.settle(len(drawn.Slots))
	report.drawn(drawn.Stopped, len(drawn.Slots), len(drawn.Failed()), maker.Samples)
	for i, s := range drawn.Slots {
		switch {
		case s.Err != nil:
			report.Flags = append(report.Flags, Flag{i, FlagFailed})
			p.run.out.note("%s: draw %d failed: %v", p.name, i, s.Err)
		case s.Value.flag != nil:
			report.Flags = append(report.Flags, Flag{i, s.Value.flag.Reason})
		}
	}
	report.Flagged = len(report.Flags)
	voted := parties(drawn.Values())
	report.UniqueSignatures = len(voted)
	votes := float64(max(drawn.Votes(), 1))
	for _, v := range voted {
		c := vote.Cluster{Key: v.members[0].value.String(), Best: v.members[0].draw, Weight: float64(len(v.members))}
		c.Share = c.Weight / votes
		for _, m := range v.members {
			c.Members = append(c.Members, m.draw)
		}
		report.Clusters = append(report.Clusters, c)
	}
	p.run.saved(drawn.Saved)
	return voted, report, err
}

func (p phase[T]) draw(ctx context.Context, i int) (reading[T], error) {
	reply, err := p.run.ask(ctx, p.purpose, p.messages, i)
	if err != nil {
		return reading[T]{}, err
	}
	r := reading[T]{draw: i}
	_, most := p.run.maxTokens(p.purpose)
	err = flagReply(reply, most)
	if err == nil {
		var notes []string
		r.value, notes, err = p.read(reply.Text)
		for _, n := range notes {
			trace.From(ctx).Event("note", trace.Attr{Key: "text", Value: n})
		}
	}
	if errors.As(err, &r.flag) {
		trace.From(ctx).Set("flag", r.flag.Reason)
		return r, nil
	}
	if err == nil {
		trace.From(ctx).Set("answer", trace.SQL(r.value.String()))
	}
	return r, err
}

// parties groups what voted.
func parties[T interface{ Key() string }](readings []reading[T]) []party[T] {
	var all []party[T]
	at := map[string]int{}
	for _, r := range readings {
		if r.flag != nil {
			continue
		}
		key := r.value.Key()
		i, seen := at[key]
		if !seen {
			i = len(all)
			at[key] = i
			all = append(all, party[T]{key: key})
		}
		all[i].members = append(all[i].members, r)
	}
	slices.SortStableFunc(all, func(a, b party[T]) int { return cmp.Compare(len(b.members), len(a.members)) })
	return all
}

// drawn notes how an election ended.
func (r *PhaseReport) drawn(stopped bool, draws, failed, planned int) {
	r.Draws = draws
	switch {
	case stopped:
		r.Stop = "decided"
	case draws == planned:
		r.Stop = "all drawn"
	case failed == draws && draws > 0:
		r.Stop = "all failed" // so no more was asked
	default:
		r.Stop = "budget"
	}
}

// failed is the number of draws that gave no reply.
func (r *PhaseReport) failed() int {
	n := 0
	for _, f := range r.Flags {
		if f.Reason == FlagFailed {
			n++
		}
	}
	return n
}

// end writes the report to the outcome and to the span of its phase.
func (run *makerRun) end(ctx context.Context, r PhaseReport) {
	run.out.Phases = append(run.out.Phases, r)
	span := trace.From(ctx)
	if 2*r.Flagged > r.Draws {
		span.Warn("red-flag-rate", fmt.Sprintf("%s: %d of %d replies did not vote", r.Phase, r.Flagged, r.Draws))
	}
	span.Set("valid", r.Valid)
	span.Set("draws", r.Draws)
	span.Set("flagged", r.Flagged)
	span.Set("unique_signatures", r.UniqueSignatures)
	span.Set("share", r.Share)
	span.Set("stop", r.Stop)
	if r.Winner != "" {
		span.Set("winner", trace.SQL(r.Winner))
	}
	if r.Fallback != "" {
		span.Set("fallback", r.Fallback)
	}
	for _, c := range r.Clusters {
		answer := c.Key
		if c.SQL != "" {
			answer = c.SQL
		}
		span.Event("cluster", trace.Attr{Key: "votes", Value: len(c.Members)}, trace.Attr{Key: "answer", Value: trace.SQL(answer)})
	}
}
