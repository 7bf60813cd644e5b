package texttosql

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/llm"
)

// configHash is a hash of what must be the same when a conversation goes on: the strategy with its fields, the models by
// name, and those options that change an answer and have one form in writing.
func (e *Engine) configHash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%T ", e.strategy)
	writeFields(h, e.strategy)
	for _, m := range e.models {
		fmt.Fprintf(h, " %q", llm.NameOf(m))
	}
	fmt.Fprintf(h, " %d %d %q %v %t %t", e.samples, e.seed, e.instructions, e.askBelow, e.withoutExecution, e.withoutValues)
	if e.refuseBelow > 0 {
		fmt.Fprintf(h, " refuse %v", e.refuseBelow)
	}
	if e.knowledge != nil {
		writeFields(h, *e.knowledge)
	}
	if e.narrowed {
		writeFields(h, e.db.Policy())
	}
	for _, p := range e.exemplars {
		fmt.Fprintf(h, " %q %q", p.Question, p.SQL)
		if p.Past {
			io.WriteString(h, " past")
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// writeFields writes what tells values of one type apart, so that equal values give equal bytes in every process.
//
// Of a function and a channel it writes only whether there is one, of a model its type and name, of a value that can
// write itself as text ([encoding.TextMarshaler]) that text. Unexported fields count where they are plain (flags,
// numbers, texts) and part of the value itself. Behind a pointer or in a map they may be state, which changes while
// questions are answered.
func writeFields(w io.Writer, v any) { fieldsOf(w, reflect.ValueOf(v), false, nil) }

// fieldsOf writes v. shared says that it stands behind a pointer or in a map; path is what leads to it.
func fieldsOf(w io.Writer, v reflect.Value, shared bool, path []reflect.Value) {
	kind := v.Kind()
	if kind == reflect.Invalid || isNilable(kind) && v.IsNil() {
		io.WriteString(w, "nil")
		return
	}
	if v.CanInterface() && kind != reflect.Interface {
		switch x := v.Interface().(type) {
		case llm.Model:
			fmt.Fprintf(w, "%v %q", v.Type(), llm.NameOf(x))
			return
		case encoding.TextMarshaler:
			if text, err := x.MarshalText(); err == nil {
				fmt.Fprintf(w, "%v %q", v.Type(), text)
				return
			}
		}
	}
	if kind == reflect.Pointer || kind == reflect.Map || kind == reflect.Slice {
		if slices.ContainsFunc(path, func(p reflect.Value) bool { return p.Type() == v.Type() && p.Pointer() == v.Pointer() }) {
			io.WriteString(w, "itself")
			return
		}
		path = append(slices.Clip(path), v)
	}
	switch kind {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		io.WriteString(w, v.Type().String())
	case reflect.Pointer, reflect.Interface:
		fmt.Fprintf(w, "%v ", v.Elem().Type())
		fieldsOf(w, v.Elem(), shared || kind == reflect.Pointer, path)
	case reflect.Struct:
		io.WriteString(w, "{")
		for field, x := range v.Fields() {
			if field.IsExported() || field.Anonymous || !shared && isPlain(x.Kind()) {
				io.WriteString(w, field.Name+": ")
				fieldsOf(w, x, shared, path)
				io.WriteString(w, ", ")
			}
		}
		io.WriteString(w, "}")
	case reflect.Slice, reflect.Array:
		io.WriteString(w, "[")
		for i := range v.Len() {
			fieldsOf(w, v.Index(i), shared, path)
			io.WriteString(w, ", ")
		}
		io.WriteString(w, "]")
	case reflect.Map:
		var entries []string
		for key, x := range v.Seq2() {
			var entry strings.Builder
			fieldsOf(&entry, key, true, path)
			entry.WriteString(": ")
			fieldsOf(&entry, x, true, path)
			entries = append(entries, entry.String())
		}
		slices.Sort(entries)
		fmt.Fprintf(w, "%q", entries)
	case reflect.String:
		fmt.Fprintf(w, "%q", v.String())
	case reflect.Bool:
		fmt.Fprint(w, v.Bool())
	default: // a number; not by fmt.Fprint of v, which calls its methods
		switch {
		case v.CanInt():
			fmt.Fprint(w, v.Int())
		case v.CanUint():
			fmt.Fprint(w, v.Uint())
		case v.CanFloat():
			fmt.Fprint(w, v.Float())
		default:
			fmt.Fprint(w, v.Complex())
		}
	}
}

func isNilable(k reflect.Kind) bool {
	return k == reflect.Func || k == reflect.Chan || k == reflect.Pointer || k == reflect.Interface || k == reflect.Slice || k == reflect.Map || k == reflect.UnsafePointer
}

func isPlain(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String
}
