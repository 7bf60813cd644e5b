package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzUnstreamed: a stream is anybody's bytes. What comes out is JSON, an error, or the text as it was.
func FuzzUnstreamed(f *testing.F) {
	for _, seed := range []string{
		`data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", "data: 1\n\n",
		"event: error\ndata: x\n\n",
		`data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}` + "\r\n\r\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"content_block\":null}\n\ndata: " +
			"{\"type\":\"content_block_delta\"}\n\n",
		`data: {"choices":[{"index":{},"delta":{"content":[1]}}],"usage":3}` + "\n\n",
		`data: {"choices":[{"message":4}],"error":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := unstreamed(body)
		if err == nil && string(out) != string(body) && !json.Valid(out) {
			t.Errorf("%q became %q", body, out)
		}
		problemIn(out)
		nothingBut(out)
		if text := unquoted(string(body)); len(text) > len(body) {
			t.Errorf("%q grew to %q", body, text)
		}
		Stop(strings.ToValidUTF8(string(body), ""))
	})
}
