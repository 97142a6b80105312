package teamd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// deepest is how many objects and lists may stand in one another; teamd's own
// configuration has four.
const deepest = 32

// Parse returns teamd's JSON as a tree whose nodes have their line and column in the
// text. The error is a yamldoc.Problem at the place: no JSON, no object, a key that is
// there twice (JSON_REJECT_DUPLICATES, teamd_config_load).
func Parse(text string) (*yamldoc.Node, error) {
	p := parser{text: text, line: 1, decoder: json.NewDecoder(strings.NewReader(text))}
	p.decoder.UseNumber()
	n, err := p.value(0)
	if err == nil && n.Kind != yamldoc.MappingNode {
		err = errors.New("teamd's configuration is one JSON object in braces")
	}
	if err == nil {
		if _, more := p.decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more stands behind the JSON object")
		}
	}
	if err != nil {
		p.reach(int(p.decoder.InputOffset()))
		return nil, yamldoc.Problem{Line: p.line, Column: p.column(), What: fmt.Sprintf("is no JSON that teamd reads: %v", err)}
	}
	return n, nil
}

// parser builds a tree of tokens, which come in the order of the text.
type parser struct {
	text    string
	decoder *json.Decoder
	// at is the offset up to which lines and columns are counted.
	at, line, runes int
}

// reach counts the lines up to an offset.
func (p *parser) reach(offset int) {
	for offset = min(offset, len(p.text)); p.at < offset; p.at++ {
		switch c := p.text[p.at]; {
		case c == '\n':
			p.line, p.runes = p.line+1, 0
		case c&0xc0 != 0x80: // no later byte of a character
			p.runes++
		}
	}
}

func (p *parser) column() int { return p.runes + 1 }

// start goes to where the next token begins.
func (p *parser) start() {
	offset := int(p.decoder.InputOffset())
	for offset < len(p.text) && strings.IndexByte(" \t\r\n:,", p.text[offset]) >= 0 {
		offset++
	}
	p.reach(offset)
}

func (p *parser) value(depth int) (*yamldoc.Node, error) {
	if depth > deepest {
		return nil, fmt.Errorf("more than %d objects in one another", deepest)
	}
	p.start()
	n := &yamldoc.Node{Kind: yamldoc.ScalarNode, Flow: true, Line: p.line, Column: p.column()}
	token, err := p.decoder.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '[' {
			n.Kind = yamldoc.SequenceNode
			return n, p.items(n, depth)
		}
		n.Kind = yamldoc.MappingNode
		return n, p.pairs(n, depth)
	case string:
		n.Text, n.Quoted = v, true
	case nil:
		n.Kind = yamldoc.NullNode
	default:
		n.Text = fmt.Sprint(v)
	}
	return n, nil
}

func (p *parser) items(n *yamldoc.Node, depth int) error {
	for p.decoder.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, item)
	}
	_, err := p.decoder.Token()
	return err
}

func (p *parser) pairs(n *yamldoc.Node, depth int) error {
	seen := map[string]bool{}
	for p.decoder.More() {
		p.start()
		pair := yamldoc.Pair{Line: p.line, Column: p.column()}
		token, err := p.decoder.Token()
		if err != nil {
			return err
		}
		pair.Key, _ = token.(string)
		if seen[pair.Key] {
			return fmt.Errorf("the key %q is there twice", pair.Key)
		}
		seen[pair.Key] = true
		if pair.Value, err = p.value(depth + 1); err != nil {
			return err
		}
		n.Pairs = append(n.Pairs, pair)
	}
	_, err := p.decoder.Token()
	return err
}

// Embedded is Parse for JSON that stands in one line of a file: all of it is there.
func Embedded(text string, line int) (*yamldoc.Node, error) {
	n, err := Parse(text)
	if err != nil {
		var problem yamldoc.Problem
		if errors.As(err, &problem) {
			problem.Line, problem.Column = line, 0
			return nil, problem
		}
		return nil, err
	}
	move(n, line)
	return n, nil
}

func move(n *yamldoc.Node, line int) {
	n.Line, n.Column = line, 0
	for i := range n.Pairs {
		n.Pairs[i].Line, n.Pairs[i].Column = line, 0
		move(n.Pairs[i].Value, line)
	}
	for _, item := range n.Items {
		move(item, line)
	}
}
