package llm

import "slices"

// Middleware wraps a Model in another one of the same name ([NameOf]). [Wrap] keeps the name.
type Middleware func(Model) Model

// Chain wraps m in middlewares, the first of them outermost. A nil middleware is skipped. A nil Model stays nil.
func Chain(m Model, outermostFirst ...Middleware) Model {
	if m == nil {
		return nil
	}
	for _, mw := range slices.Backward(outermostFirst) {
		if mw != nil {
			m = mw(m)
		}
	}
	return m
}

// Wrap returns a Model that completes by f and has the name of next. Middlewares are written with it.
func Wrap(next Model, f Func) Model { return named{f, NameOf(next)} }

// inner is the model inside of a middleware, which has its name.
type inner struct{ next Model }

func (i inner) Name() string { return NameOf(i.next) }

// Named gives m a name. The name identifies the model where several answer, in cache and replay keys, in price tables
// and in traces. Names are compared byte by byte. A nil Model stays nil, so that texttosql.New can refuse it.
func Named(name string, m Model) Model {
	if m == nil {
		return nil
	}
	return named{m, name}
}

type named struct {
	Model
	name string
}

func (n named) Name() string { return n.name }

// Validate is that of the model, if it has one: a client that could not be made says so to texttosql.New.
func (n named) Validate() error {
	if v, ok := n.Model.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// NameOf returns the name that [Named] gave m, or else the result of m's method Name() string, or "" without one.
func NameOf(m Model) string {
	if n, ok := m.(interface{ Name() string }); ok {
		return n.Name()
	}
	return ""
}
