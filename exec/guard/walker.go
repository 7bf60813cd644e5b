package guard

import (
	"reflect"
)

// The bounds of a tree. The text check, which bounds brackets, comes before.
const (
	mostNodes = 400_000
	mostDepth = 4_000
)

// nodeFields are the types of which the tree of a statement may be made, with the numbers of their exported fields.
type nodeFields map[reflect.Type][]int

// NodesOf returns the types of some structs, for [Walker].Nodes.
func NodesOf(structs ...any) nodeFields {
	nodes := nodeFields{}
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

// Walker visits the parse tree of a statement and stops at a node that is not on its list. So it refuses syntax that
// is new in the parser. A Walker is for one tree. Use it in the function that [RecoverWalk] runs.
type Walker struct {
	Nodes nodeFields // made by [NodesOf]
	// Wrapped reports that each interface value is a struct with a pointer to the node, as in protobuf.
	Wrapped bool
	// Visit is called with a pointer to each node. inside visits the children of the node.
	Visit func(node any, inside func())
	// Unlisted returns the refusal of a type that is not on the list. nil: it is a leaf.
	Unlisted func(t reflect.Type) error

	visited, depth int
}

// Walk visits a value with everything in its exported fields. The parsers' own visitors skip some fields.
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
		Abort(err)
	}
}

func (w *Walker) node(v reflect.Value) {
	if w.visited++; w.visited > mostNodes || w.depth > mostDepth {
		Abort(Refuse("too-complex", "its tree has over %d parts or is over %d deep", mostNodes, mostDepth))
	}
	fields, listed := w.Nodes[v.Type()]
	if !listed {
		w.unlisted(v.Type())
	}
	if !v.CanAddr() { // a struct behind an interface; parsers make pointers only
		Abort(Refuse("guard", "%s is not where the parser has it", v.Type().Name()))
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

// Abort ends the function that [RecoverWalk] runs, with an error.
func Abort(err error) { panic(stopped{err}) }

// RecoverWalk runs f, which reads a statement or walks its tree, and returns the error passed to [Abort]. Any other
// panic becomes a refusal, so that no statement can end the program.
func RecoverWalk(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopped:
			err = r.err
		default:
			err = Refuse("guard", "the guard panicked: %v", r)
		}
	}()
	f()
	return nil
}
