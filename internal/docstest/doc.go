// Package docstest holds the README and the pages of docs/ against the code: blocks, links, names, commands and
// figures.
package docstest
