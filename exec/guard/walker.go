package guard

import "reflect"

// The bounds of a tree. The text check, which bounds brackets, comes before.
const (
	mostNodes = 400_000
	mostDepth = 4_000
)

// Nodes are the types of which the tree of a statement may be made, with the numbers of their exported fields.
type Nodes map[reflect.Type][]int

// NodesOf returns the types of some structs.
func NodesOf(structs ...any) Nodes {
	nodes := Nodes{}
	for _, s := range structs {
		t := reflect.TypeOf(s)
		nodes[t] = []int{}
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				nodes[t] = append(nodes[t], i)
			}
		}
	}
	return nodes
}

// Walker visits the tree that a parser made of a statement, and stops at what is not on its list: new syntax of the parser is
// refused. It is for one tree, in the function that [Walked] runs.
type Walker struct {
	Nodes Nodes
	// Wrapped says that each value behind an interface is a struct around a pointer to the node, as protobuf has it.
	Wrapped bool
	// Visit looks at a node, which is a pointer to it. inside visits what the node holds.
	Visit func(node any, inside func())
	// Unlisted returns the refusal of a type that is not on the list. nil: it is a leaf.
	Unlisted func(t reflect.Type) error

	visited, depth int
}

// Walk visits a value with all that the exported fields in it hold. The visitors that parsers bring skip some.
func (w *Walker) Walk(v any) { w.walk(reflect.ValueOf(v)) }

func (w *Walker) walk(v reflect.Value) {
	switch kind := v.Kind(); kind {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v = v.Elem(); kind == reflect.Interface && w.Wrapped {
			v = w.unwrapped(v.Elem())
		}
		w.walk(v)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Struct:
		w.node(v)
	case reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		if !v.IsNil() {
			w.unlisted(v.Type())
		}
	}
}

// unwrapped returns the pointer in a struct around one.
func (w *Walker) unwrapped(wrapper reflect.Value) reflect.Value {
	inner := wrapper.Field(0)
	if inner.Kind() != reflect.Pointer {
		w.unlisted(wrapper.Type())
	}
	return inner
}

func (w *Walker) unlisted(t reflect.Type) {
	if err := w.Unlisted(t); err != nil {
		Stop(err)
	}
}

func (w *Walker) node(v reflect.Value) {
	if w.visited++; w.visited > mostNodes || w.depth > mostDepth {
		Stop(Refuse(reasonTooComplex, "its tree has over %d parts or is over %d deep", mostNodes, mostDepth))
	}
	fields, listed := w.Nodes[v.Type()]
	if !listed {
		w.unlisted(v.Type())
	}
	if !v.CanAddr() { // a struct behind an interface; parsers make pointers only
		Stop(Refuse(reasonGuard, "%s is not where the parser has it", v.Type().Name()))
	}
	w.depth++
	w.Visit(v.Addr().Interface(), func() {
		for _, i := range fields {
			w.walk(v.Field(i))
		}
	})
	w.depth--
}

// stopped ends a walk over a tree.
type stopped struct{ err error }

// Stop ends the function that [Walked] runs, with an error.
func Stop(err error) { panic(stopped{err}) }

// Walked runs f, which reads a statement or walks its tree, and returns the error by which f was stopped. Any other panic
// becomes a refusal: no text may end the program.
func Walked(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopped:
			err = r.err
		default:
			err = Refuse(reasonGuard, "the guard panicked: %v", r)
		}
	}()
	f()
	return nil
}
