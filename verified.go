package texttosql

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
)

// peopleSaid are the statements that people found right: those of the knowledge that the policy allows, then the confirmed answers
// of the scope.
func (e *Engine) peopleSaid(ctx context.Context, env *strategy.Env, q asking) (list []knowledge.VerifiedQuery, err error) {
	if env.Knowledge != nil {
		list = append(list, env.Knowledge.VerifiedQueries...)
	}
	learned, err := e.learn(ctx, env.Snapshot, q)
	for _, p := range learned.confirmed {
		if p.Evidence == "" {
			list = append(list, knowledge.VerifiedQuery{Question: p.Question, SQL: p.SQL, VerifiedBy: p.By, VerifiedAt: day(p.At)})
		}
	}
	return list, err
}

// peopleKnow reports whether people said of any question what answers it.
func (e *Engine) peopleKnow() bool {
	confirmed, err := e.confirmed.Pairs()
	return err != nil || len(confirmed) > 0 || e.knowledge != nil && len(e.knowledge.VerifiedQueries) > 0
}

// day is a date as a person reads it; "" of none.
func day(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.Format(time.DateOnly)
}

// verified answers a question that a verified one is, word for word but for parameters whose values are stored.
// Evidence and corrections may change what the words mean, so questions with any go to the models.
func (a *answering) verified(ctx context.Context) error {
	if len(a.task.Corrections) > 0 || a.q.Evidence != "" {
		return nil
	}
	var m knowledge.Model
	if a.env.Knowledge != nil {
		m = *a.env.Knowledge
	}
	language := a.db.Language()
	for _, v := range a.people {
		if len(v.Params) == 0 && !mayBe(v.Question, a.q.Text) {
			continue
		}
		v = v.Parameterized(a.env.Schema, language.Text)
		values, ok := v.Match(a.q.Text)
		if !ok {
			continue
		}
		stored, err := a.stored(ctx, m, a.env.Schema, v, values)
		if err != nil {
			return err
		}
		sql, werr := m.Statement(v, values, language.Name)
		if !stored || werr != nil {
			continue
		}
		if _, err := a.db.Examine(ctx, sql, exec.PlanChecks()...); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue // the database is another one since
		}
		g := v.GroundOf(knowledge.GroundVerified, values)
		a.out, a.res.Grounds = &strategy.Outcome{SQL: sql, Confidence: 1}, []knowledge.Ground{g}
		a.out.Note("the question is %s, and no model was asked", g)
		return nil
	}
	return nil
}

// mayBe is a quick look at whether a question is another one but for some constants: a third of its words stand in front and behind.
func mayBe(verified, question string) bool {
	known, asked := words.Of(verified), words.Of(question)
	same := 0
	for same < min(len(known), len(asked)) && known[same] == asked[same] {
		same++
	}
	for i := 1; i <= min(len(known), len(asked))-same && known[len(known)-i] == asked[len(asked)-i]; i++ {
		same++
	}
	return 3*same >= len(known)
}

// stored reports whether every parameter has its default, or a value that its column holds.
func (e *Engine) stored(ctx context.Context, m knowledge.Model, s *schema.Schema, v knowledge.VerifiedQuery, values map[string]string) (bool, error) {
	for _, p := range v.Params {
		text, given := values[p.Name]
		if !given || text == p.Default {
			continue
		}
		column, ok := m.Stored(s, p.Column)
		if !ok {
			return false, nil
		}
		holds, err := e.holds(ctx, column, text)
		if err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

// holds reports whether a column holds a text, or the number that it is. The error is ctx.Err(): what cannot be looked up is not held.
func (e *Engine) holds(ctx context.Context, c schema.ColumnName, text string) (bool, error) {
	candidates := []any{text}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		candidates = []any{n, text}
	}
	for _, value := range candidates {
		if ok, err := e.db.Probe(ctx, c.Table.Schema, c.Table.Name, c.Column, value); ok && err == nil {
			return true, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return false, nil
}

// nearestVerified is how many verified questions an answer is compared with.
const nearestVerified = 10

// confirmedBy finds a verified query with the shape of the answer (sqltext.Statement.Template) among those whose questions are
// nearest. false: there is none.
func (a *answering) confirmedBy(ctx context.Context, answer *sqltext.Statement) (knowledge.Ground, bool) {
	if len(a.out.Candidates) == 0 || len(a.people) == 0 {
		return knowledge.Ground{}, false
	}
	pool := &memory.Pool{}
	for i, v := range a.people {
		if !v.Logical {
			pool.Pairs = append(pool.Pairs, memory.Pair{ID: strconv.Itoa(i), Question: v.Question, SQL: v.SQL})
		}
	}
	near, err := memory.Similar{Pool: pool, K: nearestVerified, WithoutValues: a.env.WithoutValues}.Pick(ctx, a.env.Schema, a.q.Text)
	if err != nil {
		return knowledge.Ground{}, false
	}
	shape := answer.Template()
	for _, p := range near {
		i, _ := strconv.Atoi(p.ID)
		if templateOf(answer.Dialect(), a.people[i]) == shape {
			return a.people[i].GroundOf(knowledge.GroundConfirmedBy, nil), true
		}
	}
	return knowledge.Ground{}, false
}

// templateOf is the template of a verified query, its parameters as constants.
func templateOf(d sqltext.Dialect, v knowledge.VerifiedQuery) string {
	sql := v.SQL
	for _, p := range v.Params {
		sql = strings.ReplaceAll(sql, ":"+p.Name, "''")
	}
	return d.Parse(sql).Template()
}

// raised is the confidence of an answer that has the shape of a verified one: half of what it lacks is gained. All 15 such
// answers of the recorded votes on EHRSQL were right, of the others .601: the direction is sure, the size is not.
func raised(confidence float64) float64 { return confidence + (1-confidence)/2 }
