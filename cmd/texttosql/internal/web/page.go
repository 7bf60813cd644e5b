package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

//go:embed page
var pageFiles embed.FS

// The page's own script, in parts that read from top to bottom. They are one script with names of its own.
var pageScripts = []string{"base", "pages", "talk", "rows", "sql", "charts", "next", "keys"}

// The libraries of the page with their licences: one lays SQL out, as its package on npm has it; the other cuts it into
// the pieces that have colours and edits it, see libraries/codemirror.
//
//go:embed libraries/sql-formatter.min.js
var formatterJS []byte

//go:embed libraries/codemirror.min.js
var codemirrorJS []byte

// part is a file of the page that is no library.
func part(name string) []byte {
	text, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return text
}

// script is the page's own script.
func script() []byte {
	text := []byte("'use strict';\n(() => {\n")
	for _, name := range pageScripts {
		text = append(append(text, part(name+".js")...), '\n')
	}
	return append(text, "})();\n"...)
}

// document is the page that a browser gets, with its content policy.
type document struct {
	text   []byte
	packed []byte // the same, as gzip
	policy string
}

// icon is the sign of the page in a tab: a speech bubble with rows in it.
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">` +
	`<path fill="#1f5fae" d="M5 3h22a3 3 0 0 1 3 3v15a3 3 0 0 1-3 3H16l-8 6v-6H5a3 3 0 0 1-3-3V6a3 3 0 0 1 3-3z"/>` +
	`<path stroke="#fff" stroke-width="3" d="M7 9h5m3 0h10M7 14h5m3 0h10M7 19h5m3 0h5"/></svg>`

// assembled puts style and scripts into the document. The policy names them by their hashes: nothing else runs, and no
// text can become markup (trusted types).
func assembled(colours *strings.Replacer) document {
	style := []byte(colours.Replace(string(part("page.css"))))
	d := document{text: bytes.Replace(part("page.html"), []byte("/* style */"), style, 1)}
	var hashes []string
	for _, one := range []struct {
		place string
		text  []byte
	}{{"/* script */", script()}, {"/* codemirror */", codemirrorJS}, {"/* formatter */", formatterJS}} {
		d.text = bytes.Replace(d.text, []byte(one.place), one.text, 1)
		hashes = append(hashes, hash(one.text))
	}
	d.policy = "default-src 'none'; script-src " + strings.Join(hashes, " ") + "; style-src " + hash(style) +
		"; connect-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'" +
		"; require-trusted-types-for 'script'; trusted-types 'none'"
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	w.Write(d.text)
	w.Close()
	d.packed = packed.Bytes()
	return d
}

// The accents of the style, on white and on the dark background.
const lightAccent, darkAccent = "#2457d6", "#7ea2ff"

// accents puts a colour in the place of both accents, as dark and as light as a text must be there.
func accents(colour string) (*strings.Replacer, error) {
	if colour == "" {
		return strings.NewReplacer(), nil
	}
	if !hexColour.MatchString(colour) {
		return nil, fmt.Errorf("web: the accent %q is no colour: write it as %s", colour, lightAccent)
	}
	return strings.NewReplacer(lightAccent, "oklch(from "+colour+" min(l, .5) c h)", darkAccent, "oklch(from "+colour+
		" max(l, .75) c h)"), nil
}

var hexColour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", s.page.policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(s.page.packed)
		return
	}
	w.Write(s.page.text)
}
