package cloud

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/linerate/linerate/unit"
)

//go:embed clouds.yaml
var builtinText []byte

// Table is a set of rules. The zero value is the built-in one.
type Table struct {
	sources   map[string]Source
	providers map[string]provider
}

// provider is one provider's rules.
type provider struct {
	title, prefix string
	aliases       []string
	split         bool // the network's bandwidth is dealt out over interfaces
	free          bool // what arrives is not limited
	source        string
	flows         []flowRule
	outside       *outsideRule
	rules         []sizeRule
	types         map[string]instance // by lower-case name without prefix
}

// flowRule is a cap on one flow.
type flowRule struct {
	When   condition
	Rate   unit.BitRate
	Source string
}

// condition says when a flowRule holds.
type condition string

const (
	always     condition = ""
	cluster    condition = "cluster"     // both ends in one cluster placement group
	enaExpress condition = "ena-express" // ENA Express on at both ends
	outside    condition = "outside"     // the peer is beyond the provider's network
)

var conditions = []condition{always, cluster, enaExpress, outside}

// outsideRule caps the host in all towards peers beyond the network.
type outsideRule struct {
	Rate     unit.BitRate
	Tier1    unit.BitRate
	Share    float64 // of the host's bandwidth, where it is more
	FromCPUs int
	Regions  bool // another region counts as outside
	Source   string
}

// sizeRule derives a host's bandwidth from its vCPUs.
type sizeRule struct {
	Name string
	// Match is a pattern of instance names whose first group is the vCPUs.
	Match string
	// ByVCPUs: the rule of a host of which only the vCPUs are said.
	ByVCPUs bool

	PerVCPU       unit.BitRate
	Most          unit.BitRate
	MostLow       unit.BitRate
	MostHigh      unit.BitRate
	Steps         []step
	NetworkShare  float64
	VolumesLeast  unit.BitRate
	Interface     unit.BitRate
	InterfaceLow  unit.BitRate
	InterfaceHigh unit.BitRate
	Note          string
	Source        string

	pattern *regexp.Regexp
}

// step is the bandwidth from a number of vCPUs on.
type step struct {
	VCPUs int
	Rate  unit.BitRate
	Tier1 unit.BitRate
}

// instance is one type of the table.
type instance struct {
	VCPUs int
	Rate  unit.BitRate
	Burst unit.BitRate
	Tier1 unit.BitRate
	Cards int

	name                             string
	source, burstSource, cardsSource string
}

// parsedBuiltin reads the embedded rules once.
var parsedBuiltin = sync.OnceValues(func() (Table, error) {
	return extend(Table{}, "clouds.yaml", builtinText)
})

// Builtin is the table that comes with the program.
func Builtin() (Table, error) { return parsedBuiltin() }

// BuiltinText is the file of the built-in rules, for a user to correct.
func BuiltinText() []byte { return bytes.Clone(builtinText) }

// orBuiltin is the table itself, or the built-in one for the zero value.
func (t Table) orBuiltin() (Table, error) {
	if t.providers != nil {
		return t, nil
	}
	return Builtin()
}

// Extend lays a file of rules over the table: sources and instance types by
// name, size rules by their name, and whatever else of a provider it says.
// Errors name the file and the line.
func (t Table) Extend(file string, text []byte) (Table, error) {
	base, err := t.orBuiltin()
	if err != nil {
		return Table{}, err
	}
	return extend(base, file, text)
}

// Providers lists the providers' names in order.
func (t Table) Providers() ([]string, error) {
	t, err := t.orBuiltin()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(t.providers)), nil
}

// find returns the provider of a name or alias, whatever its case.
func (t Table) find(name string) (provider, error) {
	low := strings.ToLower(strings.TrimSpace(name))
	known := slices.Sorted(maps.Keys(t.providers))
	if p, ok := t.providers[low]; ok {
		return p, nil
	}
	for _, key := range known {
		if slices.Contains(t.providers[key].aliases, low) {
			return t.providers[key], nil
		}
	}
	if len(known) == 0 {
		return provider{}, fmt.Errorf("%w %q", ErrUnknownProvider, name)
	}
	return provider{}, fmt.Errorf("%w %q (nearest: %s; known: %s)", ErrUnknownProvider, name, nearest(low, known), strings.Join(known, ", "))
}

// cite returns sources by their names, each once.
func (t Table) cite(names ...string) []Source {
	var all []Source
	for i, name := range names {
		if s, ok := t.sources[name]; ok && !slices.Contains(names[:i], name) {
			all = append(all, s)
		}
	}
	return all
}
