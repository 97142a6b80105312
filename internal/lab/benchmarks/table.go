// Package benchmarks holds throughput that others measured and published, and
// judges the model by it: what is predicted for each row, how far off that is,
// and whether the limit named is the one that the source shows. A table of a
// user's own is judged the same way. Pure; it must not bend a prediction
// towards a row, nor know a number that the model uses.
package benchmarks

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Version is the value of the file's key "published".
const Version = "v1"

//go:embed data.yaml
var builtin []byte

// Builtin are the tables of the program's own data file.
func Builtin() ([]Table, error) { return Read("internal/lab/benchmarks/data.yaml", builtin) }

// Source is the program's own data file, as an example of the format.
func Source() []byte { return append([]byte(nil), builtin...) }

// Kind says what a published number is.
type Kind string

// The kinds of numbers.
const (
	KindRate  Kind = "rate"  // steady throughput
	KindRange Kind = "range" // a reading that varies
	KindBurst Kind = "burst" // what a test reads of a bucket that empties
	KindClaim Kind = "claim" // to hold against the ceiling
	KindRatio Kind = "ratio" // of two rows
)

// Table is one source's results and what is known of its hosts.
type Table struct {
	Name  string `yaml:"name"`
	Title string `yaml:"title"`
	// Fabric is a fabric file's text.
	Fabric string `yaml:"fabric"`
	// Duration is how long each test read; zero is steady state.
	Duration span      `yaml:"duration"`
	Rows     []Row     `yaml:"rows"`
	Profiles []Profile `yaml:"profiles"`
}

// Row is one published number.
type Row struct {
	Step      string         `yaml:"step" json:"step,omitempty"`
	From      string         `yaml:"from" json:"from"`
	To        string         `yaml:"to" json:"to"`
	Direction flow.Direction `yaml:"direction" json:"direction"` // forward where left out
	Streams   int            `yaml:"streams" json:"streams"`     // 1 where left out
	Ports     string         `yaml:"ports" json:"ports,omitempty"`
	// With are changes to the table's fabric, as whatif.Parse reads them.
	With string `yaml:"with" json:"with,omitempty"`
	Kind Kind   `yaml:"kind" json:"kind"`
	// Published is payload; Ratio stands in its place where Kind is ratio.
	Published unit.BitRate `yaml:"published" json:"published_bps,omitempty"`
	Ratio     float64      `yaml:"published_ratio" json:"published_ratio,omitempty"`
	As        string       `yaml:"as" json:"published_as,omitempty"` // in the source's words
	Of        string       `yaml:"of" json:"of,omitempty"`           // the step that Ratio is of
	// Within is how far off the prediction may be; zero is Kind's default.
	Within float64 `yaml:"within" json:"within_ratio,omitempty"`
	// Limit is what binds, and Links how many of the sender's links carry it;
	// "" and zero where the source does not show it.
	Limit record.Cause `yaml:"limit" json:"published_limit,omitempty"`
	Links int          `yaml:"links" json:"published_links_count,omitempty"`
	// Calibrates: later rows of the same pair and direction are predicted
	// with what this one teaches.
	Calibrates bool `yaml:"calibrates" json:"calibrates,omitempty"`
}

// Profile is one worked example of a cloud's rule.
type Profile struct {
	Provider     string       `yaml:"provider" json:"provider"`
	VCPUs        int          `yaml:"vcpus" json:"vcpus_count"`
	Interfaces   int          `yaml:"interfaces" json:"interfaces_count"`
	Network      unit.BitRate `yaml:"network" json:"network_bps"`
	PerInterface unit.BitRate `yaml:"per_interface" json:"per_interface_bps"`
}

// span is a time as the fabric file writes it.
type span time.Duration

// UnmarshalText reads "30s".
func (s *span) UnmarshalText(b []byte) error {
	d, err := unit.ParseDuration(string(b))
	*s = span(d)
	return err
}

// Read reads a file of tables. What is wrong is a yamldoc.Problems with line
// and column.
func Read(name string, text []byte) (tables []Table, err error) {
	var file struct {
		Published string  `yaml:"published"`
		Tables    []Table `yaml:"tables"`
	}
	defer func() {
		if recover() != nil { // the YAML parser is not ours
			tables, err = nil, problem(name, 1, 1, "this YAML cannot be read", "check brackets, quotes and indentation")
		}
	}()
	if err := fabric.CheckYAML(name, text); err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		return nil, located(name, err)
	}
	switch {
	case file.Published != Version:
		return nil, problem(name, 1, 1, "want `published: "+Version+"`", "`linerate predict --validate --format` shows a file")
	case len(file.Tables) == 0:
		return nil, problem(name, 1, 1, "no tables", "")
	}
	for i := range file.Tables {
		if err := file.Tables[i].check(); err != nil {
			return nil, problem(name, 0, 0, err.Error(), "")
		}
	}
	return file.Tables, nil
}

func problem(name string, line, column int, what, hint string) error {
	return yamldoc.Problems{{File: name, Line: line, Column: column, What: what, Hint: hint}}
}

// located is an error of the YAML parser with its place.
func located(name string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) {
		return problem(name, 0, 0, firstLine(err.Error()), "")
	}
	line, column := 1, 1
	if token := at.GetToken(); token != nil && token.Position != nil {
		line, column = token.Position.Line, token.Position.Column
	}
	return problem(name, line, column, firstLine(at.GetMessage()), "")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return plaintext.Line(line)
}

// kinds is the one table of kinds: how far off a prediction may be.
var kinds = map[Kind]float64{KindRate: 0.05, KindRange: 0.10, KindBurst: 0.10, KindClaim: 0, KindRatio: 0.05}

// check fills in what was left out and refuses what cannot be judged.
func (t *Table) check() error {
	if t.Name == "" || len(t.Rows) > 0 && t.Fabric == "" {
		return fmt.Errorf("table %q: want a name and a fabric", t.Name)
	}
	steps := map[string]bool{}
	for i := range t.Rows {
		r := &t.Rows[i]
		if err := r.fill(); err != nil {
			return fmt.Errorf("table %s, row %d (%s): %w", t.Name, i+1, r.Step, err)
		}
		if r.Kind == KindRatio && !steps[r.Of] {
			return fmt.Errorf("table %s, row %d (%s): of: no row above has the step %q", t.Name, i+1, r.Step, r.Of)
		}
		steps[r.Step] = true
	}
	for i, p := range t.Profiles {
		if p.Provider == "" || p.VCPUs < 1 || p.Interfaces < 1 {
			return fmt.Errorf("table %s, profile %d: want provider, vcpus and interfaces", t.Name, i+1)
		}
	}
	return nil
}

func (r *Row) fill() error {
	if r.Direction == "" {
		r.Direction = flow.Forward
	}
	if r.Streams == 0 {
		r.Streams = 1
	}
	if r.Kind == "" {
		r.Kind = KindRate
	}
	within, known := kinds[r.Kind]
	if r.Within == 0 {
		r.Within = within
	}
	switch {
	case !known:
		return fmt.Errorf("kind: want rate, range, burst, claim or ratio, not %q", r.Kind)
	case r.From == "" || r.To == "":
		return errors.New("want from and to")
	case r.Streams < 1 || r.Streams > 4096:
		return errors.New("streams: want 1 to 4096")
	case r.Kind == KindRatio && r.Ratio <= 0, r.Kind != KindRatio && r.Published <= 0:
		return errors.New("want published (a rate such as 24.7G), or published_ratio where the kind is ratio")
	case r.Within < 0 || r.Within > 10:
		return errors.New("within: want a share such as 0.05")
	}
	return nil
}
