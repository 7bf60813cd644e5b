package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// ErrForm is the cause of a reply in JSON that has nothing of what the client asked for.
var ErrForm = errors.New("the server's reply is JSON of another form, with nothing that the client reads" + addressed)

// Post sends body as JSON to base with path at its end, through a client of [HTTPClient], and reads the reply into out.
// Its error means something to [Call.Failure] only: the call has the status and the words of the server. A base that
// ends with path or "/" is taken as meant. A header replaces what Post sets by itself.
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
	if text, err = io.ReadAll(resp.Body); err != nil {
		return err
	}
	return decode(text, out)
}

// decode reads a reply. It skips a byte order mark and comments of a stream in front of it, as proxies send them. A
// usage of another form is no reason to lose a reply: it counts as unknown.
func decode(text []byte, out any) error {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\uFEFF")))
	for bytes.HasPrefix(text, []byte(":")) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
		text = bytes.TrimSpace(text)
	}
	err := json.Unmarshal(text, out)
	var odd *json.UnmarshalTypeError // the rest is read all the same
	if errors.As(err, &odd) && strings.HasPrefix(strings.ToLower(odd.Field), "usage") {
		return nil
	}
	return err
}
