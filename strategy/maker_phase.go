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
	report := drawnReport(ctx, p.run, p.name, drawn, err, func(r reading[T]) string {
		if r.flag == nil {
			return ""
		}
		return r.flag.Reason
	})
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

// drawnReport is the report of an election that ended with err: how it ended, and
// which draws have no vote. flagOf is why not; "" for one that has.
func drawnReport[T any](ctx context.Context, run *makerRun, name string, d Drawn[T], err error, flagOf func(T) string) PhaseReport {
	r := PhaseReport{Phase: name, Attempt: run.attempt, Draws: len(d.Slots)}
	allowed, short := d.short(run.Samples)
	switch {
	case d.Stopped:
		r.Stop = "decided"
	case short:
		r.Stop = "budget"
	case r.Draws == run.Samples:
		r.Stop = "all drawn"
	default:
		r.Stop = "all failed" // so no more was asked
	}
	for i, s := range d.Slots {
		if s.Err != nil {
			r.Flags = append(r.Flags, Flag{i, FlagFailed})
			run.out.note("%s: draw %d failed: %v", name, i, s.Err)
		} else if why := flagOf(s.Value); why != "" {
			r.Flags = append(r.Flags, Flag{i, why})
		}
	}
	r.Flagged = len(r.Flags)
	run.out.Saved += d.Saved
	if short && err == nil {
		run.out.warn(ctx, "budget-spent", "%s: the budget allowed %d of %d draws", name, allowed, run.Samples)
	}
	return r
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
