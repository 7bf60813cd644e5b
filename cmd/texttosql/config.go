package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/words"
)

// settings holds values from the environment and a file, for flags that the command line does not set.
type settings struct {
	p       *program
	file    string            // "": there is none
	profile string            // "": none
	chosen  map[string]any    // what the profile says
	values  map[string]any    // of the file, by flag; nil before it is read
	where   map[string]string // where the value of a flag comes from
	err     error             // of reading the file

	profiles, models []string // that the file names
}

// Validate implements kong.Resolver. It returns nil, because read checks the file.
func (s *settings) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag that the command line does not set: first from its
// variable, then from the file.
func (s *settings) Resolve(k *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if flag.Name == "help" || flag.Name == "version" {
		return nil, nil
	}
	names := []string{"TEXTTOSQL_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))}
	if flag.Name == "db" {
		names = append([]string{"TEXTTOSQL_DSN"}, names...)
	}
	for _, name := range names {
		if value := s.p.getenv(name); value != "" {
			s.where[flag.Name] = name
			return value, nil
		}
	}
	if flag.Name == "profile" || flag.Name == "config" {
		return nil, nil
	}
	if s.values == nil {
		s.err = s.read(k)
	}
	if s.err != nil { // kong would name this flag, which has nothing to do with it
		return nil, nil
	}
	value, found := s.values[flag.Name]
	if found {
		s.where[flag.Name] = "the file"
		if _, ok := s.chosen[flag.Name]; ok {
			s.where[flag.Name] = "profile " + s.profile
		}
	}
	return value, nil
}

// given is the value of a flag of the command line, else of its variable.
func (s *settings) given(k *kong.Context, name string) string {
	for _, path := range k.Path {
		if path.Flag != nil && path.Flag.Name == name {
			return fmt.Sprint(k.FlagValue(path.Flag))
		}
	}
	return s.p.getenv("TEXTTOSQL_" + strings.ToUpper(name))
}

// read reads the file: first the values at the top level, then those in the profile, which replace them.
func (s *settings) read(k *kong.Context) error {
	s.values, s.profile, s.file = map[string]any{}, s.given(k, "profile"), s.given(k, "config")
	named := s.file != ""
	if !named {
		folder := s.p.getenv("XDG_CONFIG_HOME")
		if home := s.p.getenv("HOME"); folder == "" && home != "" {
			folder = filepath.Join(home, ".config")
		}
		s.file = filepath.Join(folder, "texttosql", "config.toml")
	}
	var all map[string]any
	if _, err := toml.DecodeFile(s.file, &all); err != nil {
		var wrong toml.ParseError
		switch {
		case errors.Is(err, os.ErrNotExist) && !named && s.profile == "":
			s.file = ""
			return nil
		case errors.As(err, &wrong): // without the line itself, which may hold a password
			err = fmt.Errorf("line %d: this is no TOML", wrong.Position.Line)
		}
		return fmt.Errorf("%s: %w", s.file, cli.PathlessError(err))
	}
	profiles, _ := all["profiles"].(map[string]any)
	s.profiles, s.models = slices.Sorted(maps.Keys(profiles)), modelsOf(all)
	for _, name := range s.profiles {
		of, _ := profiles[name].(map[string]any)
		s.models = append(s.models, modelsOf(of)...)
	}
	if name, _ := all["profile"].(string); s.profile == "" {
		s.profile = name
	}
	delete(all, "profiles")
	delete(all, "profile")
	if s.profile != "" {
		chosen, ok := profiles[s.profile].(map[string]any)
		if !ok {
			like := cmp.Or(words.Like(s.profile, s.profiles), "; it has "+orNone(s.profiles, "none"))
			return fmt.Errorf("%s has no profile %q%s", s.file, s.profile, like)
		}
		if all == nil {
			all = map[string]any{}
		}
		maps.Copy(all, chosen)
		s.chosen = chosen
	}
	known := flagNames(k.Model.Node, map[string]bool{})
	for name, value := range all {
		if !known[name] {
			return fmt.Errorf("%s: no flag is called %q%s", s.file, name, words.Like(name, slices.Collect(maps.Keys(known))))
		}
		if list, ok := value.([]any); ok {
			s.values[name] = list
		} else {
			s.values[name] = fmt.Sprint(value)
		}
		if name == "db" {
			s.p.secrets = append(s.p.secrets, strings.Fields(strings.Trim(fmt.Sprint(value), "[]"))...)
		}
	}
	return nil
}

// modelsOf are the models that a table of the file names.
func modelsOf(table map[string]any) []string {
	if table["model"] == nil {
		return nil
	}
	return strings.Fields(strings.Trim(fmt.Sprint(table["model"]), "[]"))
}

func flagNames(node *kong.Node, names map[string]bool) map[string]bool {
	for _, f := range node.Flags {
		names[f.Name] = true
	}
	for _, child := range node.Children {
		flagNames(child, names)
	}
	return names
}

// configuration is the verb that shows what is in force.
type configuration struct {
	setup.Asking `embed:""`
	output       `embed:""`
}

// Help is the part of --help below the flags.
func (configuration) Help() string {
	return `A file of settings:

  # ~/.config/texttosql/config.toml
  model = "openai:gpt-4o-mini"
  [profiles.prod]
  db = "postgres://reader@host/shop"
  policy = "/etc/texttosql/policy.json"

A key is the name of a flag. A flag of the command line comes first, then its variable (--ask-below is TEXTTOSQL_ASK_BELOW), then the
profile (--profile prod, or profile = "prod" in the file), then the top of the file.`
}

// Run prints the configuration.
func (c *configuration) Run(p *program, k *kong.Context) error {
	s := p.settings
	place := "there is no file of settings"
	if s.file != "" {
		place = "file " + s.file
	}
	if s.profile != "" {
		place += ", profile " + s.profile
	}
	cli.Say(p.out, "%s\n", place)
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, flag := range k.Selected().Flags {
		target := flag.Target
		if target.Kind() == reflect.Pointer && !target.IsNil() {
			target = target.Elem()
		}
		from := s.where[flag.Name]
		if from == "" && !target.IsZero() {
			from = "default"
			for _, path := range k.Path {
				if path.Flag == flag && !path.Resolved {
					from = "command line"
				}
			}
		}
		if from == "" {
			continue
		}
		list, ok := target.Interface().([]string)
		if !ok {
			list = []string{fmt.Sprint(target.Interface())}
		}
		shown := make([]string, len(list))
		for i, text := range list {
			shown[i] = withoutPassword(text)
		}
		value := strings.Join(shown, " ")
		cli.Say(w, "%s\t%s\t%s\n", flag.Name, value, from)
	}
	return w.Flush()
}

// serverKinds are the kinds of a URL whose host is a server. Of another kind the host may be a project, a bucket or a
// key.
var serverKinds = []string{"postgres", "postgresql", "mysql", "mariadb", "http", "https"}

// withoutPassword shows a DSN without what may be secret.
func withoutPassword(text string) string {
	if !setup.IsDSN(text) {
		return text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "":
		return "(a DSN)"
	case !slices.Contains(serverKinds, u.Scheme):
		return u.Scheme + "://…"
	case u.User == nil && strings.Contains(text, "@"): // a sign of the password ended the name of the host
		return u.Scheme + "://…"
	}
	return u.Scheme + "://…@" + u.Host + u.Path
}
