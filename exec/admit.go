package exec

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/inspection"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// wall decides on a statement, and writes down in it what it found.
type wall func(ctx context.Context, c Conn, s *Statement) error

// walls are what stands between a statement that passed the text check and its run, in order.
func walls() []wall { return []wall{small, readable, confirmed} }

// small refuses what would grow where it is written out. A statement with the rules in it was not refused as it is
// written, and they add the same to each table and multiply nothing: guard.Catalog.Splice bounds it.
func small(_ context.Context, _ Conn, s *Statement) (err error) {
	if s.Size, err = s.Catalog.Weigh(s.Statement); s.Splice != nil {
		return nil
	}
	return err
}

// readable refuses what the engine's parser finds, or what may not be read by its name.
func readable(ctx context.Context, c Conn, s *Statement) (err error) {
	if s.Names, err = c.Read(ctx, s); err != nil {
		return err
	}
	if s.Names == nil {
		s.Names = &guard.Names{}
	}
	if s.Splice == nil { // else the statement was permitted as it was written, and a rule may read what it may not
		if err := s.Catalog.Permit(s.Names); err != nil {
			return err
		}
	}
	s.reads = s.Catalog.Reads(s.Names)
	return nil
}

// confirmed refuses what the engine itself says.
func confirmed(ctx context.Context, c Conn, s *Statement) (err error) {
	if s.Seen, err = c.Confirm(ctx, s); err != nil {
		return err
	}
	if err := s.Catalog.Confirm(s.reads, s.Seen); err != nil {
		return err
	}
	if len(s.Names.Absent) > 0 {
		return guard.Refuse("table", "%s is no table of the schema", s.Names.Absent[0])
	}
	return nil
}

// held is a connection under guard, and what goes on on it. A call that does not come back keeps its own, so nothing
// else looks at it then.
type held struct {
	GuardedConn
	db   *DB
	conn *sql.Conn
	wait time.Duration // the time-out that it was opened for
	own  bool          // the statements are ours
	gone func()        // the call has no slot any more

	catalog  *Catalog
	at       *snapshot.Snapshot // that catalog belongs to
	looked   time.Time          // when catalog was the current one
	used     bool               // something was sent since the last use ended
	admitted *Statement         // that this use is about
	unfit    bool               // the connection is not used again
	sink     *result.RowWriter  // takes the rows, where they are streamed
}

// admit decides on a statement, once a use: whoever explains or runs it then takes it from here.
func (h *held) admit(ctx context.Context, statement *sqltext.Statement, args []any) (*Statement, error) {
	if a := h.admitted; a != nil && len(args) == 0 && len(a.Args) == 0 && a.SQL() == statement.SQL() {
		return a, nil
	}
	if err := h.db.scopeError(); err != nil {
		return nil, err
	}
	if err := h.finish(ctx); err != nil { // a use has one statement
		return nil, err
	}
	if time.Since(h.looked) > trusted {
		if err := h.renew(ctx, true); err != nil {
			return nil, err
		}
	}
	h.used = true
	for tries := 0; ; tries++ {
		a := &Statement{Statement: statement, Args: args, Ours: h.own || len(args) > 0, Catalog: h.catalog}
		err := h.judgeWithRules(ctx, a)
		if err == nil {
			if len(args) == 0 {
				h.admitted = a
			}
			return a, nil
		}
		stale := errors.Is(err, guard.ErrStale)
		// a catalog read for this statement is not too old for its names
		if !stale && (tries > 0 || !isAboutNames(err)) || h.unfit {
			return nil, h.suggested(a, err)
		}
		before := h.catalog
		if rerr := h.renew(ctx, true); rerr != nil {
			return nil, rerr
		}
		switch same := h.catalog == before; {
		case stale && (same || tries > 1):
			return nil, guard.Refuse("guard", "the schema changes all the time")
		case same:
			return nil, h.suggested(a, err)
		}
	}
}

// suggested says of a table or a column that may not be read, or is not there, which readable one may be meant. It
// looks at no other ones, so it does not tell which of the two holds.
func (h *held) suggested(a *Statement, err error) error {
	err = alike(err, len(h.db.policy.DenyColumns) > 0)
	if advised := h.db.language.advised(err, a.Statement); advised != err {
		return advised
	}
	refused, ok := err.(*RefusedError)
	if ok && refused.Name == "*" {
		return h.named(a, refused)
	}
	if !ok || refused.Name == "" {
		return err
	}
	var names []string
	name := refused.Name[strings.LastIndexByte(refused.Name, '.')+1:]
	switch refused.Reason {
	case "table":
		names = h.readableTables(name)
	case "column":
		names = h.readableColumns(a, name)
	}
	near := words.Nearest(name, names)
	if near == "" {
		return err
	}
	told := *refused
	told.Detail += ". Did you mean " + h.db.language.PromptQuoter().Quote(near) + "?"
	return &told
}

// named adds to the refusal of a star which columns of the tables of a statement are hidden for their names alone. It
// names none that a policy denies.
func (h *held) named(a *Statement, refused *RefusedError) error {
	if len(h.db.policy.DenyColumns) > 0 || h.db.policy.Scoped() {
		return refused
	}
	of := a.Statement.Tables()
	hidden := slices.DeleteFunc(h.db.hidden(h.catalog), func(name string) bool {
		return !slices.ContainsFunc(of, func(ref sqlshape.TableRef) bool {
			return strings.HasPrefix(schema.FoldCase(name), schema.FoldCase(ref.Name)+".")
		})
	})
	if len(hidden) == 0 {
		return refused
	}
	told := *refused
	told.Hidden = ". Hidden, since its name is that of a secret: " + strings.Join(hidden, ", ")
	return &told
}

// readableTables are the tables that may be read, but for those of a name, which are in another schema.
func (h *held) readableTables(but string) (names []string) {
	for _, r := range h.catalog.Relations {
		if r.Allowed() && r.Refused == nil && !schema.EqualFold(r.Name, but) {
			names = append(names, r.Name)
		}
	}
	return names
}

// readableColumns are those of the tables that a statement names, but for those of a name, which are in another table.
func (h *held) readableColumns(a *Statement, but string) (names []string) {
	named := a.Statement.Tables()
	for _, r := range h.catalog.Relations {
		if !r.Allowed() || !slices.ContainsFunc(named, func(ref sqlshape.TableRef) bool {
			return schema.EqualFold(ref.Name, r.Name)
		}) {
			continue
		}
		for _, column := range r.Columns() {
			if !r.Denies(column) && !schema.EqualFold(column, but) && !words.LooksAlike(but, column) {
				names = append(names, column)
			}
		}
	}
	return names
}

// How engines say that a column is not there, and that several are.
var (
	noColumn  = regexp.MustCompile(`(?i)\bcolumn\b|unrecognized name|not found inside`)
	ambiguous = regexp.MustCompile(`(?i)\bambiguous\b`)
)

// alike returns an error that is the same for a column that may not be read and for one that is not there, if the
// policy is about columns. Another statement may do without the column then, as without an absent one.
func alike(err error, policy bool) error {
	name, absent := absentColumn(err)
	refused, ok := err.(*RefusedError)
	denied := ok && refused.Reason == "column" && refused.Name != "*"
	switch {
	case policy && denied && refused.Name != "":
		name = refused.Name
	case denied:
		told := *refused
		told.Name = ""
		return &told
	case !policy || !absent:
		return err
	}
	told := guard.Refuse("column", "%s: no such column, or you may not read it", name)
	told.Name = name
	return told
}

// absentColumn returns the name of a column that the engine did not find, without the table.
func absentColumn(err error) (name string, absent bool) {
	invalid, ok := err.(*InvalidError)
	if !ok || invalid.Fault != "schema" || invalid.Name == "" || ambiguous.MatchString(invalid.Message) {
		return "", false
	}
	return schema.FoldCase(invalid.Name[strings.LastIndexByte(invalid.Name, '.')+1:]),
		noColumn.MatchString(invalid.Message)
}

// judge sends a statement against the walls.
func (h *held) judge(ctx context.Context, a *Statement) error {
	for _, wall := range h.db.walls {
		if err := wall(ctx, h.Conn, a); err != nil {
			return h.classify(err)
		}
	}
	return nil
}

// isAboutNames reports whether an error may come from an old catalog.
func isAboutNames(err error) bool {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Reason == "table" || refused.Reason == "column" || refused.Reason == "function"
	}
	var invalid *InvalidError
	return errors.As(err, &invalid) && invalid.Fault == "schema"
}

// classify gives an error of a statement its type. After an error that the statement did not cause the connection is
// not used again: its driver may take it for whole.
func (h *held) classify(err error) error {
	if err == nil {
		return nil
	}
	err = h.db.dialect.Classify(err)
	h.unfit = h.unfit || !IsClassified(err)
	return err
}

// unblamed gives an error of a statement of our own a type that blames no statement of a caller.
func (db *DB) unblamed(err error) error {
	switch typed := db.dialect.Classify(err); {
	case err == nil:
		return nil
	case errors.As(typed, new(*PolicyError)), errors.As(typed, new(*UnguardedError)), errors.Is(typed, ErrBusy),
		errors.Is(typed, ErrBroken):
		return typed
	case IsRejection(typed):
		return unavailable{fmt.Errorf("exec: guarding a connection: %v", typed)}
	default:
		return unavailable{fmt.Errorf("exec: guarding a connection: %w", typed)}
	}
}

// trusted is how long a catalog is not asked for again. A statement whose names are refused asks earlier.
const trusted = time.Second

// seen says which version of a database was the current one, and when.
type seen struct {
	version string
	asked   time.Time
}

var (
	// lastSeen is what was seen last, whatever the policy.
	lastSeen = &snapshot.Derived[struct{}, seen]{Reach: snapshot.OfVersions}
	// inspections are what was asked for a catalog, for other policies.
	inspections = &snapshot.Derived[struct{}, *inspection.Store]{
		Reach: snapshot.OfDatabase, Size: func(_ struct{}, i *inspection.Store) int { return i.Size() },
	}
	catalogs = &snapshot.Derived[struct{}, *Catalog]{
		Reach: snapshot.OfPolicy, Needed: true, Size: func(_ struct{}, c *Catalog) int { return sizeOf(c.Schema) },
	}
)

// finish ends a use of the connection.
func (h *held) finish(ctx context.Context) error {
	used := h.used
	h.admitted, h.used = nil, false
	if h.EndUse == nil || !used || h.unfit {
		return nil
	}
	fit, err := h.EndUse(ctx)
	h.unfit = h.unfit || !fit
	if err == nil || IsClassified(err) {
		return err
	}
	if typed := h.db.dialect.Classify(err); !IsRejection(typed) {
		return typed
	}
	return err
}

// renew gives h the catalog of its connection. now: the engine is asked whether the one that is known is old.
func (h *held) renew(ctx context.Context, now bool) error {
	c, err := h.db.catalogOf(ctx, h.GuardedConn, now)
	if err != nil {
		h.unfit = h.unfit || !IsClassified(h.db.dialect.Classify(err))
		return h.db.unblamed(err)
	}
	h.catalog, h.at, h.looked = c, h.db.at(h.Place, c.Version), time.Now()
	return nil
}

// catalogOf returns the catalog of a connection: the one that is known unless it is old.
func (db *DB) catalogOf(ctx context.Context, o GuardedConn, now bool) (c *Catalog, err error) {
	last, known := lastSeen.Known(db.at(o.Place, ""), struct{}{})
	asked, version := time.Now(), o.Version
	if now || version == "" {
		if known && !now && time.Since(last.asked) < trusted {
			if c, ok := catalogs.Known(db.at(o.Place, last.version), struct{}{}); ok {
				return c, nil
			}
		}
		if version, err = o.Conn.Version(ctx); err != nil {
			return nil, err
		}
	}
	c, ok := catalogs.Known(db.at(o.Place, version), struct{}{})
	if !ok || version == "" {
		if c, err = db.readCatalog(ctx, o, version); err != nil {
			return nil, err
		}
	}
	if last.version != "" && last.version != c.Version {
		db.kept.Drop(func(k snapshot.Key) bool { return k.Database == o.Place && k.Version == last.version })
	}
	catalogs.Keep(db.at(o.Place, c.Version), struct{}{}, c)
	lastSeen.Keep(db.at(o.Place, c.Version), struct{}{}, seen{c.Version, asked})
	return c, nil
}

// readCatalog reads the catalog of a connection, again if it changed while it was read. What was asked for another
// policy is not asked again while the version is the same.
func (db *DB) readCatalog(ctx context.Context, o GuardedConn, version string) (*Catalog, error) {
	for range 3 {
		asked, known := inspections.Known(db.at(o.Place, version), struct{}{})
		if !known || version == "" {
			asked = &inspection.Store{}
		}
		c, err := o.Conn.Catalog(inspection.NewContext(ctx, asked))
		if err != nil {
			return nil, err
		}
		again, err := o.Conn.Version(ctx)
		if err != nil {
			return nil, err
		}
		if again != "" && again != c.Version {
			version = again
			continue
		}
		if again != "" {
			inspections.Keep(db.at(o.Place, again), struct{}{}, asked)
		}
		c.Text, c.Schema.Version = db.language.Text, c.Version
		c.Rules = db.rules
		if unknown := c.Apply(db.policy); unknown != nil && !db.checked.Load() {
			return nil, unknown
		}
		db.leaveOut(c)
		if err := db.tryRules(ctx, o, c); err != nil {
			return nil, err
		}
		db.checked.Store(true)
		return c, nil
	}
	return nil, fmt.Errorf("%w: the schema changes all the time", ErrBusy)
}
