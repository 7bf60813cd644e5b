package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ErrForm is the cause of a reply in JSON that has nothing of what the client asked for.
var ErrForm = errors.New("the server's reply is JSON of another form than the client reads" + addressed)

// Post sends body as JSON to base with path at its end, through a client of [HTTPClient], and reads the reply into out. Its
// error means something to [Call.Failure] only: the call has the status and the words of the server. A base that ends with
// path or "/" is taken as meant. A header replaces what Post sets by itself.
func Post(ctx context.Context, c *http.Client, base, path string, header http.Header, body, out any) error {
	at, err := url.Parse(strings.TrimSpace(base))
	if err != nil { // its text may repeat a password
		if call, ok := ctx.Value(callKey{}).(*Call); ok {
			call.end(outcome{err: errNoURL})
		}
		return errNoURL
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	at.Path = strings.TrimSuffix(strings.TrimRight(at.Path, "/"), path) + path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(text))
	if err != nil {
		return errNoURL
	}
	req.Header.Set("Content-Type", "application/json")
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}
