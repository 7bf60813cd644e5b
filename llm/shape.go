package llm

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// shapeOf returns the JSON schema of what [Ask] reads into a T; nil for one that has none, as a map. An object has the
// fields of the struct in their order, all required and no others, as providers want it. Of a type with a method
// JSONSchema() string, that is its schema. A tag schema:"number" names the type of a field of any type, which is else a
// string; schema:"-" leaves a field out.
func shapeOf[T any]() json.RawMessage {
	t := reflect.TypeFor[T]()
	text := shape(t, 0)
	if !strings.HasPrefix(text, `{"type":"object"`) {
		return nil
	}
	return json.RawMessage(text)
}

// shape returns "" where a part has no schema.
func shape(t reflect.Type, depth int) string {
	if written, ok := reflect.Zero(t).Interface().(interface{ JSONSchema() string }); ok && t.Kind() != reflect.Pointer {
		return written.JSONSchema()
	}
	if depth > 8 { // a type within itself
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shape(t.Elem(), depth+1)
	case reflect.Bool:
		return `{"type":"boolean"}`
	case reflect.String, reflect.Interface:
		return `{"type":"string"}`
	case reflect.Float32, reflect.Float64:
		return `{"type":"number"}`
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return `{"type":"integer"}`
	case reflect.Slice, reflect.Array:
		if items := shape(t.Elem(), depth+1); items != "" {
			return fmt.Sprintf(`{"type":"array","items":%s}`, items)
		}
	case reflect.Struct:
		var properties, required []string
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			tag := f.Tag.Get("schema")
			if !f.IsExported() || name == "-" || tag == "-" {
				continue
			}
			if name == "" {
				name = f.Name
			}
			of := shape(f.Type, depth+1)
			if tag != "" {
				of = fmt.Sprintf(`{"type":%q}`, tag)
			}
			if of == "" {
				return ""
			}
			properties = append(properties, fmt.Sprintf("%q:%s", name, of))
			required = append(required, fmt.Sprintf("%q", name))
		}
		return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`,
			strings.Join(properties, ","), strings.Join(required, ","))
	}
	return ""
}
