package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages reads a client's messages, a line each, and passes on those that are one. The protocol's library ends with
// any other line: a log line of the client's shell, a batch of an older version. Such a line is answered with an error
// without an id, and the next one is read.
type messages struct {
	in   *bufio.Reader
	out  io.Writer
	left []byte // of the message that is passed on
}

func (m *messages) Read(p []byte) (int, error) {
	for len(m.left) == 0 {
		line, err := m.line()
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if code, why := fault(line); code == 0 {
				m.left = append(line, '\n')
			} else if werr := m.refuse(code, why); werr != nil {
				return 0, werr
			}
		}
		if err != nil && len(m.left) == 0 {
			return 0, err
		}
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

// Close has nothing to close: a read of standard input cannot be ended.
func (*messages) Close() error { return nil }

// line reads one line; of one over maxLine only the beginning, which is no message.
func (m *messages) line() (line []byte, err error) {
	for {
		part, err := m.in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// fault says why a line is no message; 0: it is one.
func fault(line []byte) (code int, why string) {
	switch {
	case len(line) > maxLine:
		return jsonrpc.CodeInvalidRequest, "the message is longer than 16 MiB"
	case !json.Valid(line):
		return jsonrpc.CodeParseError, "this line is not one JSON message"
	case line[0] == '[':
		return jsonrpc.CodeInvalidRequest, "batches are no part of this version of the protocol: send one message a line"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return jsonrpc.CodeInvalidRequest, "this line is no message of JSON-RPC 2.0"
	}
	var params struct {
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(line, &params) == nil && len(params.Params) > 0 && params.Params[0] != '{' &&
		string(params.Params) != "null" {
		return jsonrpc.CodeInvalidRequest, "params of a message are an object"
	}
	return 0, ""
}

func (m *messages) refuse(code int, why string) error {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": code, "message": why}})
	if err == nil {
		_, err = m.out.Write(append(text, '\n'))
	}
	return err
}

// writer writes one message at a time.
type writer struct {
	mu sync.Mutex
	io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Writer.Write(p)
}

func (*writer) Close() error { return nil }
