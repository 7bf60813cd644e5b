package llm

import "slices"

// Middleware wraps a Model in another Model with the same name ([NameOf]). [Wrap] keeps the name.
type Middleware func(Model) Model

// Chain wraps m in middlewares, the first of them outermost. It skips a nil middleware. A nil Model stays nil.
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

// Wrap returns a Model that calls f and has the name of next. Use it to write a middleware.
func Wrap(next Model, f Func) Model { return wrapped{f, next} }

type wrapped struct {
	Func
	next Model
}

func (w wrapped) Name() string { return NameOf(w.next) }

// Validate returns the error of the inner model.
func (w wrapped) Validate() error { return validate(w.next) }

// validate is the method Validate of a model, if it has one.
func validate(m Model) error {
	if v, ok := m.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// inner is the model inside of a middleware, which has its name.
type inner struct{ next Model }

func (i inner) Name() string { return NameOf(i.next) }

// Validate returns the error of the inner model.
func (i inner) Validate() error { return validate(i.next) }

// Named gives m a name. The name identifies the model among several, in cache and replay keys, in price tables and in
// traces. Names are compared byte by byte. A nil Model stays nil, so that texttosql.New can reject it.
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

// Validate returns the error of the model, if it has the method: a client that could not be created reports it to
// texttosql.New.
func (n named) Validate() error { return validate(n.Model) }

// NameOf returns the name that [Named] gave m, or else the result of m's method Name() string, or "" without one.
func NameOf(m Model) string {
	if n, ok := m.(interface{ Name() string }); ok {
		return n.Name()
	}
	return ""
}
