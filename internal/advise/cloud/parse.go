package cloud

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"github.com/linerate/linerate/unit"
)

// Version is the format of a file of rules.
const Version = "v1"

// ErrRules is a file of rules that cannot be used.
var ErrRules = errors.New("bad cloud rules")

// rulesError is what is wrong with a file; it is ErrRules too.
type rulesError struct {
	at  string
	err error
}

func (e *rulesError) Error() string   { return e.at + e.err.Error() }
func (e *rulesError) Unwrap() []error { return []error{e.err, ErrRules} }

// Bounds on what is handed to the YAML decoder, which recurses on nesting.
const (
	maxText = 256 << 10
	// maxLine bounds a line, which the lexer takes time by its square for.
	maxLine  = 4 << 10
	maxDepth = 32
	// maxIndent is the widest indentation outside brackets.
	maxIndent = 128
)

// extend reads a file over a table and checks the whole.
func extend(base Table, file string, text []byte) (Table, error) {
	doc, err := decode(text)
	if err != nil {
		return Table{}, &rulesError{file + ":", err}
	}
	t, err := base.with(doc)
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return Table{}, &rulesError{file + ": ", err}
	}
	return t, nil
}

// decode reads the text; its errors begin with line and column. The decoder is
// not ours and sees text of any kind, so that a panic of its own becomes an
// error of the file.
func decode(text []byte) (doc document, err error) {
	if len(text) > maxText {
		return doc, fmt.Errorf("1:1: %d bytes, more than the %d that are read", len(text), maxText)
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(line) > maxLine {
			return doc, fmt.Errorf("%d:1: a line of %d bytes, more than the %d that are read", i+1, len(line), maxLine)
		}
	}
	defer func() {
		if recover() != nil {
			doc, err = document{}, errors.New("1:1: this YAML cannot be read")
		}
	}()
	if tk, why := refused(lexer.Tokenize(string(text))); tk != nil {
		return doc, fmt.Errorf("%d:%d: %s", tk.Position.Line, tk.Position.Column, why)
	}
	if err := yaml.UnmarshalWithOptions(text, &doc, yaml.Strict()); err != nil {
		return document{}, placed(err)
	}
	return doc, nil
}

// refused is the first token of what is not read here: references, and
// nesting by brackets, on one line, or by indentation.
func refused(tokens token.Tokens) (*token.Token, string) {
	brackets, entries, line := 0, 0, 0
	for _, tk := range tokens {
		if tk.Position == nil {
			continue
		}
		first := tk.Position.Line != line
		if first {
			line, entries = tk.Position.Line, 0
		}
		switch tk.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType:
			return tk, "anchors, aliases and tags are not read here"
		case token.MappingStartType, token.SequenceStartType:
			brackets++
		case token.MappingEndType, token.SequenceEndType:
			brackets = max(0, brackets-1)
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			if brackets == 0 {
				entries++
			}
		}
		if brackets > maxDepth || entries > maxDepth || first && brackets == 0 && tk.Position.Column > maxIndent {
			return tk, "nested too deep"
		}
	}
	return nil, ""
}

// placed is the decoder's error as "line:column: what".
func placed(err error) error {
	var positioned yaml.Error
	if errors.As(err, &positioned) && positioned.GetToken() != nil {
		at := positioned.GetToken().Position
		return fmt.Errorf("%d:%d: %s", at.Line, at.Column, oneLine(positioned.GetMessage()))
	}
	return fmt.Errorf("1:1: %s", oneLine(err.Error()))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// with lays what a document says over the table.
func (t Table) with(doc document) (Table, error) {
	if doc.Version != Version {
		return t, fmt.Errorf("linerate-clouds is %q, want %s", doc.Version, Version)
	}
	out := Table{sources: map[string]Source{}, providers: map[string]provider{}}
	maps.Copy(out.sources, t.sources)
	maps.Copy(out.sources, doc.Sources)
	maps.Copy(out.providers, t.providers)
	for name, d := range doc.Providers {
		if name != strings.ToLower(name) {
			return t, fmt.Errorf("provider %q: write its name in lower case", name)
		}
		p, err := out.providers[name].with(name, d)
		if err != nil {
			return t, fmt.Errorf("provider %s: %w", name, err)
		}
		out.providers[name] = p
	}
	return out, nil
}

// with lays a provider's document over what is known of it.
func (p provider) with(name string, d providerDocument) (provider, error) {
	p.title = cmp.Or(d.Title, p.title, name)
	p.prefix = cmp.Or(d.Prefix, p.prefix)
	p.source = cmp.Or(d.Source, p.source)
	if d.Aliases != nil {
		p.aliases = d.Aliases
	}
	var err error
	if p.split, err = choose("interfaces", d.Interfaces, p.split, "split", "share"); err != nil {
		return p, err
	}
	if p.free, err = choose("ingress", d.Ingress, p.free, "free", "capped"); err != nil {
		return p, err
	}
	var read rateReader
	if d.Flows != nil {
		p.flows = nil
		for _, f := range d.Flows {
			p.flows = append(p.flows, f.rule(&read))
		}
	}
	if d.Outside != nil {
		p.outside = new(d.Outside.rule(&read))
	}
	var rules []sizeRule
	for _, r := range d.Rules {
		rules = append(rules, r.rule(&read))
	}
	if p.rules, err = withRules(p.rules, rules); err != nil {
		return p, err
	}
	p.types = maps.Clone(p.types)
	if p.types == nil {
		p.types = map[string]instance{}
	}
	for _, g := range d.Types {
		for _, name := range slices.Sorted(maps.Keys(g.Types)) {
			p.types[p.key(name)] = g.instance(name, &read)
		}
	}
	return p, read.err
}

// withRules replaces rules of the same name and puts new ones first, so that
// a user's pattern is tried before the built-in ones.
func withRules(known, more []sizeRule) ([]sizeRule, error) {
	all := slices.Clone(known)
	var before []sizeRule
	for _, r := range more {
		if r.Match != "" {
			if len(r.Match) > 256 {
				return nil, fmt.Errorf("rule %q: match is longer than 256 characters", r.Name)
			}
			pattern, err := regexp.Compile("(?i)" + r.Match)
			if err != nil {
				return nil, fmt.Errorf("rule %q: match: %s", r.Name, oneLine(err.Error()))
			}
			r.pattern = pattern
		}
		if i := slices.IndexFunc(all, func(k sizeRule) bool { return k.Name == r.Name }); i >= 0 {
			all[i] = r
		} else {
			before = append(before, r)
		}
	}
	return append(before, all...), nil
}

// choose reads one of two words: the first is true; "" keeps what was.
func choose(key, word string, was bool, yes, no string) (bool, error) {
	switch word {
	case "":
		return was, nil
	case yes, no:
		return word == yes, nil
	}
	return was, fmt.Errorf("%s is %q, want %s or %s", key, word, yes, no)
}

// key is an instance's name as the table holds it.
func (p provider) key(name string) string {
	low := strings.ToLower(strings.TrimSpace(name))
	return strings.TrimPrefix(low, strings.ToLower(p.prefix))
}

// finite reports a rate that arithmetic can be done with.
func finite(rates ...unit.BitRate) bool {
	return !slices.ContainsFunc(rates, func(r unit.BitRate) bool { return !(r >= 0 && r <= 1e6*unit.Tbps) })
}
