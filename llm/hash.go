package llm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// Hash returns 32 hexadecimal digits that identify what is sent: messages, temperature, top_p, limit, seed, stop texts
// and effort. It does not depend on Purpose and Sample, which are not sent. It does not depend on Schema and
// CachePrefix either: some clients cannot send them, and they ask for nothing that the messages do not. It never
// changes between versions, because recordings hold it.
func (r Request) Hash() string {
	// Every text follows its length and every list its count, so that different requests give different bytes.
	size := 64
	for _, m := range r.Messages {
		size += len(m.Role) + len(m.Text) + 2*binary.MaxVarintLen32
	}
	for _, s := range r.Stop {
		size += len(s) + binary.MaxVarintLen32
	}
	b := make([]byte, 0, size)
	b = appendText(b, "")
	b = binary.AppendUvarint(b, uint64(len(r.Messages)))
	for _, m := range r.Messages {
		b = appendText(b, m.Role)
		b = appendText(b, m.Text)
	}
	if r.Temperature == nil {
		b = append(b, 0)
	} else {
		b = append(b, 1)
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(*r.Temperature))
	}
	b = appendNumber(b, r.MaxTokens)
	b = appendNumber(b, r.Seed)
	b = binary.AppendUvarint(b, uint64(len(r.Stop)))
	for _, s := range r.Stop {
		b = appendText(b, s)
	}
	if r.TopP != nil { // younger than recordings, which have none
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(*r.TopP))
	}
	if r.Seed != nil && *r.Seed == 0 || r.MaxTokens != nil && *r.MaxTokens == 0 { // younger too
		b = append(b, "zero"...)
	}
	if r.Effort != "" { // younger too
		b = appendText(append(b, "effort"...), r.Effort)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// appendNumber appends a number; nil is 0, as recordings have it.
func appendNumber(b []byte, n *int) []byte {
	if n == nil {
		return binary.AppendVarint(b, 0)
	}
	return binary.AppendVarint(b, int64(*n))
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
