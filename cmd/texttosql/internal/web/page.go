package web

import (
	"bytes"
	_ "embed"
)

//go:embed page.html
var pageHTML []byte

//go:embed page.css
var pageCSS []byte

//go:embed page.js
var pageJS []byte

// document is the page that a browser gets, with its content policy.
type document struct {
	text   []byte
	policy string
}

// assembled puts style and script into the document. The policy names both by their hashes: nothing else runs, and no
// text can become markup (trusted types).
func assembled() document {
	text := bytes.Replace(pageHTML, []byte("/* style */"), pageCSS, 1)
	text = bytes.Replace(text, []byte("/* script */"), pageJS, 1)
	return document{text, "default-src 'none'; script-src " + hash(pageJS) + "; style-src " + hash(pageCSS) +
		"; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'" +
		"; require-trusted-types-for 'script'; trusted-types 'none'"}
}
