// Package confighash writes a configuration as bytes that are equal in every process, to hash them.
package confighash

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/llm"
)

// Write writes what tells values of one type apart, so that equal values give equal bytes in every process.
//
// Of a function and a channel it writes only whether there is one, of a model its type and name, of a value that can
// write itself as text ([encoding.TextMarshaler]) that text. Unexported fields count where they are plain (flags,
// numbers, texts) and part of the value itself. Behind a pointer or in a map they may be state, which changes while
// questions are answered.
func Write(w io.Writer, v any) { fieldsOf(w, reflect.ValueOf(v), false, nil) }

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
		if slices.ContainsFunc(path, func(p reflect.Value) bool {
			return p.Type() == v.Type() && p.Pointer() == v.Pointer()
		}) {
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
	default: // a flag or a number: %#v calls no method String
		fmt.Fprintf(w, "%#v", v)
	}
}

func isNilable(k reflect.Kind) bool {
	return k >= reflect.Chan && k <= reflect.Slice || k == reflect.UnsafePointer
}

func isPlain(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String
}
