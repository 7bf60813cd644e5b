// Package yaml converts YAML into JSON for the readers of package knowledge, so that these do not depend on a YAML
// library.
//
//	data, err := yaml.JSON(file)
//	m, err := ossie.Read(bytes.NewReader(data))
//
// It is a separate module.
package yaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"go.yaml.in/yaml/v3"
)

// maxNodes is how many values a text may have once its aliases are written out: a text of a few lines can stand for
// billions.
const maxNodes = 1_000_000

// JSON returns the first document of a YAML text as JSON, keys in alphabetical order. Dates and times stay texts, as
// they are written. A JSON text is YAML, too. Numbers that JSON does not have (.inf, .nan), binary data and keys that
// are not texts are errors.
func JSON(r io.Reader) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.NewDecoder(r).Decode(&doc); err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	c := converter{left: maxNodes}
	value, err := c.value(&doc)
	if err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	return json.Marshal(value)
}

type converter struct{ left int }

func (c *converter) value(n *yaml.Node) (any, error) {
	if c.left--; c.left < 0 {
		return nil, errors.New("the text is too large with its aliases written out")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return c.value(n.Content[0])
	case yaml.AliasNode:
		return c.value(n.Alias)
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			v, err := c.value(item)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return c.object(n)
	}
	return scalar(n)
}

// object reads a mapping. What << merges stands behind the keys that are written.
func (c *converter) object(n *yaml.Node) (any, error) {
	object := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		v, err := c.value(value)
		if err != nil {
			return nil, err
		}
		if key.Tag == "!!merge" {
			merged, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("line %d: << merges no mapping", key.Line)
			}
			for name, v := range merged {
				if _, ok := object[name]; !ok {
					object[name] = v
				}
			}
			continue
		}
		if key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a key that is no text", key.Line)
		}
		object[key.Value] = v
	}
	return object, nil
}

func scalar(n *yaml.Node) (any, error) {
	var v any
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool", "!!int", "!!float":
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
			return nil, fmt.Errorf("line %d: JSON has no %s", n.Line, n.Value)
		}
		return v, nil
	case "!!binary":
		return nil, fmt.Errorf("line %d: binary data", n.Line)
	}
	return n.Value, nil // texts, and dates as they are written
}
