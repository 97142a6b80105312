package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits on what is handed to the YAML parser, which recurses on nesting.
const (
	MaxText    = 16 << 20
	maxDepth   = 64
	maxAnchors = 10_000
)

func Quote(s string) string { return strconv.Quote(s) }
func itoa(n int) string     { return strconv.Itoa(n) }

// Normalised is the text without byte order mark and carriage returns, so
// that a file saved on Windows reads the same.
func Normalised(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

// Read reads one YAML document. What is wrong goes to ps; the tree is nil
// when nothing could be read.
func Read(ps *Collector, text []byte) *Document {
	if len(text) > MaxText {
		ps.Add(1, 1, fmt.Sprintf("the file has %d bytes, more than the %d that are read", len(text), MaxText), "")
		return nil
	}
	if !plainText(ps, text) {
		return nil
	}
	file := parseAST(ps, untabbed(text))
	if file == nil {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	b := &builder{Collector: ps, lines: lines, anchors: map[string]*Node{}, sizes: map[*Node]int{}, aliased: map[*Node]bool{}}
	var root *Node
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil || isComment(doc.Body) {
			continue
		}
		if _, directive := doc.Body.(*ast.DirectiveNode); directive {
			continue
		}
		if root != nil {
			ps.At(b.build(doc.Body), "a second YAML document", "write one file for each fabric")
			break
		}
		root = b.build(doc.Body)
	}
	if root == nil {
		root = &Node{Line: 1, Column: 1}
	}
	if b.full {
		return nil
	}
	return &Document{Root: root, aliased: b.aliased, lines: lines}
}

// untabbed has a blank for every tab behind a line's first word: the parser
// loses its way at tabs in quotes, which sysctl's output brings along.
func untabbed(text []byte) []byte {
	out := append([]byte(nil), text...)
	indent := true
	for i, c := range out {
		switch {
		case c == '\n':
			indent = true
		case c == '\t' && !indent:
			out[i] = ' '
		case c != ' ' && c != '\t':
			indent = false
		}
	}
	return out
}

func isComment(n ast.Node) bool {
	_, ok := n.(*ast.CommentGroupNode)
	return ok
}

// plainText refuses what is no UTF-8 text.
func plainText(ps *Collector, text []byte) bool {
	line, column := 1, 1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			ps.Add(line, column, fmt.Sprintf("byte 0x%02x is not UTF-8 text", text[i]), "save the file as UTF-8")
			return false
		case r < ' ' && r != '\t' && r != '\n' || r == 0x7f:
			ps.Add(line, column, fmt.Sprintf("control character 0x%02x", r), "this is not a text file, or was damaged: save it as UTF-8")
			return false
		}
		i += size
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return true
}

// parseAST runs the YAML parser. The parser is not ours and sees text of any
// kind, so that a panic of its own becomes a problem of the file.
func parseAST(ps *Collector, text []byte) (file *ast.File) {
	defer func() {
		if recover() != nil {
			ps.Add(1, 1, "this YAML cannot be read", "check brackets, quotes and indentation")
			file = nil
		}
	}()
	if line := endlessNesting(text); line > 0 {
		ps.Add(line, 1, fmt.Sprintf("nesting deeper than %d levels", maxDepth), "")
		return nil
	}
	tokens := lexer.Tokenize(string(text))
	if tk := tooDeep(tokens); tk != nil {
		ps.Add(tk.Position.Line, tk.Position.Column, fmt.Sprintf("nesting deeper than %d levels or too many anchors", maxDepth), "")
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		syntaxProblem(ps, err)
		return nil
	}
	return file
}

func syntaxProblem(ps *Collector, err error) {
	var located yaml.Error
	if !errors.As(err, &located) {
		ps.Add(1, 1, "YAML: "+firstLine(err.Error()), "")
		return
	}
	line, column := 1, 1
	if tk := located.GetToken(); tk != nil && tk.Position != nil {
		line, column = tk.Position.Line, tk.Position.Column
	}
	what, hint := "YAML: "+firstLine(located.GetMessage()), ""
	if strings.ContainsRune(what, '\t') || strings.Contains(what, `\t`) {
		what, hint = "YAML: a tab in the indentation", "indent with blanks"
	}
	switch {
	case hint != "":
	case strings.Contains(what, "flow"):
		hint = "look for a bracket that is not closed, or a comma that is missing"
	default:
		hint = "look at this line and the one before: keys of one block begin in one column, and a key ends with a colon and a blank"
	}
	ps.Add(line, column, what, hint)
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return first
}

// endless is a nesting that no file has, not even in its text: brackets that are open at
// once, wherever they stand, and entries of lists that begin on one line.
const endless = 1000

// endlessNesting is the line from which a text nests without end; zero none. It looks at
// bytes, since a token for each takes hundreds of times their room.
func endlessNesting(text []byte) (line int) {
	open, entries, indent := 0, 0, true
	line = 1
	for i, b := range text {
		switch {
		case b == '\n':
			line, entries, indent = line+1, 0, true
			continue
		case b == '[' || b == '{':
			open++
		case b == ']' || b == '}':
			open = max(0, open-1)
		case indent && b == '-' && i+1 < len(text) && text[i+1] == ' ':
			entries++
		}
		indent = indent && (b == ' ' || b == '-')
		if open > endless || entries > endless {
			return line
		}
	}
	return 0
}

// tooDeep returns the first token that nests deeper than the parser should
// follow: brackets, entries of compact lists on one line, indentation, and
// anchors and tags, each of which the parser recurses on.
func tooDeep(tokens token.Tokens) *token.Token {
	var (
		brackets, entries, line, prefixes int
		indents                           []int
	)
	for _, tk := range tokens {
		if tk.Position == nil {
			continue
		}
		first := tk.Position.Line != line
		if first {
			line, entries = tk.Position.Line, 0
		}
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(0, brackets-1)
		case token.SequenceEntryType, token.MappingKeyType:
			entries++
		case token.AnchorType, token.TagType, token.AliasType:
			prefixes++
		}
		if first && brackets == 0 {
			for len(indents) > 0 && indents[len(indents)-1] > tk.Position.Column {
				indents = indents[:len(indents)-1]
			}
			if len(indents) == 0 || indents[len(indents)-1] < tk.Position.Column {
				indents = append(indents, tk.Position.Column)
			}
		}
		if brackets > maxDepth || entries > maxDepth || len(indents) > maxDepth || prefixes > maxAnchors {
			return tk
		}
	}
	return nil
}
