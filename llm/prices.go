package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// ReadPrices reads a price list for [Budget.Prices]: a JSON array of at most 1 MiB, with one object for each model.
//
//	[{"model": "gpt-5-mini", "input": 0.25, "cached": 0.025, "output": 2, "date": "2026-11-20"}]
//
// Prices are per million tokens, in one currency for the whole list. "date" is the day on which the price was looked
// up; of several entries for one model the newest counts. "cached" may be left out, and "cache_write" is for
// providers that charge for it ([Price]). The model "" means every other model. An unknown member, a negative price,
// or an entry without model, input, output or date is an error that names the entry.
func ReadPrices(r io.Reader) (map[string]Price, error) {
	var list []struct {
		Model      *string  `json:"model"`
		Input      *float64 `json:"input"`
		Cached     float64  `json:"cached"`
		CacheWrite float64  `json:"cache_write"`
		Output     *float64 `json:"output"`
		Date       string   `json:"date"`
	}
	d := json.NewDecoder(io.LimitReader(r, 1<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("llm: reading the price list: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("llm: reading the price list: something stands behind it")
	}
	prices, dates := map[string]Price{}, map[string]string{}
	for i, e := range list {
		_, err := time.Parse(time.DateOnly, e.Date)
		switch {
		case e.Model == nil || e.Input == nil || e.Output == nil:
			return nil, fmt.Errorf("llm: entry %d of the price list needs model, input and output", i)
		case err != nil:
			return nil, fmt.Errorf("llm: entry %d of the price list, %q: the date is not like 2026-11-20", i, *e.Model)
		}
		p := Price{Prompt: *e.Input, Completion: *e.Output, Cached: e.Cached, CacheWrite: e.CacheWrite}
		if !p.valid() {
			return nil, fmt.Errorf("llm: entry %d of the price list, %q: a price is negative", i, *e.Model)
		}
		if e.Date >= dates[*e.Model] {
			prices[*e.Model], dates[*e.Model] = p, e.Date
		}
	}
	return prices, nil
}
