package main

import (
	"github.com/texttosql/texttosql/internal/presets"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// strategyNamed returns a preset that asks nobody back.
func strategyNamed(name string) (presets.Preset, error) {
	chosen, err := presets.Named(name)
	if s, ok := chosen.Strategy.(threephase.Strategy); ok {
		s.OnAmbiguity = threephase.PickTop
		chosen.Strategy = s
	}
	return chosen, err
}
