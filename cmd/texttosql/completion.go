package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/providers"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
)

// completion is the verb that prints a script for a shell. The script asks the program itself.
type completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help says how to use the script.
func (completion) Help() string {
	return `To use it:

  bash: source <(texttosql completion bash)
  zsh:  source <(texttosql completion zsh)
  fish: texttosql completion fish | source`
}

var scripts = map[string]string{
	"bash": `_texttosql() {
	local IFS=$'\n'
	COMPREPLY=($(texttosql complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -o nosort -F _texttosql texttosql
`,
	"zsh": `_texttosql() {
	local -a found
	found=("${(@f)$(texttosql complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n "${found[*]}" ]]; then compadd -U -Q -- "${found[@]}"; else _files; fi
}
compdef _texttosql texttosql
`,
	"fish": `complete -c texttosql -a '(texttosql complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

// Run prints the script.
func (c *completion) Run(p *program) error {
	_, err := fmt.Fprint(p.out, scripts[c.Shell])
	return err
}

// complete is what the scripts ask: the words behind the program, of which the last one is completed.
type complete struct {
	Words []string `arg:"" optional:""`
}

// Run prints what the last word may become, one a line; nothing where a file or a text belongs.
func (c *complete) Run(p *program, parser *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	last := ""
	if len(words) > 0 {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	for _, candidate := range candidates(parser.Model.Node, words, last) {
		if strings.HasPrefix(candidate, last) {
			fmt.Fprintln(p.out, candidate)
		}
	}
	return nil
}

// candidates returns what may stand behind words.
func candidates(node *kong.Node, words []string, last string) (found []string) {
	var open *kong.Flag // it wants a value
	for _, word := range words {
		if open != nil {
			open = nil
			continue
		}
		at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word })
		if at >= 0 {
			node = node.Children[at]
			continue
		}
		for _, f := range flags(node) {
			if (word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short)) && !f.IsBool() {
				open = f
			}
		}
	}
	name, _, glued := strings.Cut(last, "=")
	if glued { // --strategy=ma
		for _, f := range flags(node) {
			if name == "--"+f.Name {
				for _, v := range values(f.Value) {
					found = append(found, name+"="+v)
				}
			}
		}
		return found
	}
	switch {
	case open != nil:
		return values(open.Value)
	case strings.HasPrefix(last, "-"):
		for _, f := range flags(node) {
			found = append(found, "--"+f.Name)
		}
	case len(node.Children) > 0:
		for _, n := range node.Children {
			if !n.Hidden {
				found = append(found, n.Name)
			}
		}
	case len(node.Positional) > 0:
		return values(node.Positional[0])
	}
	return found
}

func flags(node *kong.Node) (all []*kong.Flag) {
	for _, group := range node.AllFlags(true) {
		all = append(all, group...)
	}
	return all
}

// values returns what a flag or an argument may be, nothing where that is no list.
func values(v *kong.Value) (list []string) {
	switch v.Name {
	case "strategy":
		for _, preset := range setup.Presets() {
			list = append(list, preset.Name)
		}
	case "model":
		for _, p := range providers.All() {
			list = append(list, p.Name+":")
		}
		list = append(list, "replay:")
	default:
		for _, word := range strings.Split(cmp.Or(v.Enum, ""), ",") {
			if word != "" {
				list = append(list, word)
			}
		}
	}
	return list
}

// list is the verb that lists what --strategy and --model take.
type list struct{}

// Run lists it.
func (list) Run(p *program) error {
	_, err := fmt.Fprintln(p.out, setup.Help())
	return err
}
