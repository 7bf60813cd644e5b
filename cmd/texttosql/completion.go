package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	predict "github.com/posener/complete"
	"github.com/willabides/kongplete"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
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
	if len(words) == 0 {
		words = []string{""}
	}
	before, last, glued := words[:len(words)-1], words[len(words)-1], ""
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(name, "--") { // --strategy=ma
		before, last, glued = append(slices.Clip(before), name), value, name+"="
	}
	known, err := kongplete.Command(parser, kongplete.WithPredictors(p.predictors(before)))
	if err != nil {
		return err
	}
	asked := predict.Args{All: append(slices.Clip(before), last), Completed: before, Last: last}
	if len(before) > 0 {
		asked.LastCompleted = before[len(before)-1]
	}
	found := known.Predict(asked)
	slices.Sort(found)
	for _, word := range slices.Compact(found) {
		if strings.HasPrefix(word, last) {
			cli.Say(p.out, "%s\n", glued+word)
		}
	}
	return nil
}

// predictors complete what no enumeration of a flag has, by the tags of the flags. before are the words before the last
// one.
func (p *program) predictors(before []string) map[string]predict.Predictor {
	of := func(list func() []string) predict.Predictor {
		return predict.PredictFunc(func(predict.Args) []string { return list() })
	}
	return map[string]predict.Predictor{
		"strategy": of(func() (names []string) {
			for _, preset := range setup.Presets() {
				names = append(names, preset.Name)
			}
			return names
		}),
		"model": of(func() []string {
			names := append(p.file(before).models, "replay:")
			for _, provider := range providers.All() {
				names = append(names, provider.Name+":")
			}
			return names
		}),
		"profile": of(func() []string { return p.file(before).profiles }),
		"table":   of(func() []string { return p.tables(before) }),
	}
}

// file is the file of settings that a command line would read, as far as it can be read.
func (p *program) file(words []string) *settings {
	s := &settings{p: p}
	if parser, err := p.parser(&verbs{}, s); err == nil {
		if k, err := kong.Trace(parser, words); err == nil {
			_ = s.read(k) // a completion tells no faults
		}
	}
	return s
}

// completing bounds the time in which a database answers for a completion.
const completing = 2 * time.Second

// tables are those of the database that a command line names; none where it does not answer.
func (p *program) tables(words []string) (names []string) {
	ctx, cancel := context.WithTimeout(p.ctx, completing)
	defer cancel()
	var v verbs
	parser, err := p.parser(&v, &settings{p: p, where: map[string]string{}})
	if err == nil {
		_, err = parser.Parse(words)
	}
	if err != nil {
		return nil
	}
	e, err := v.Schema.Engine(ctx, p.getenv)
	if err != nil {
		return nil
	}
	defer e.Close()
	if s, err := e.Schema(ctx); err == nil {
		for _, t := range s.Tables {
			names = append(names, t.Name)
		}
	}
	return names
}

// list is the verb that lists what --strategy and --model take.
type list struct{}

// Run lists it.
func (list) Run(p *program) error {
	_, err := io.WriteString(p.out, setup.Help(p.width()))
	return err
}
