package cloud

import (
	"cmp"
	"fmt"

	"github.com/linerate/linerate/unit"
)

// document is a file of rules as it is written.
type document struct {
	Version   string                      `yaml:"linerate-clouds"`
	Sources   map[string]Source           `yaml:"sources"`
	Providers map[string]providerDocument `yaml:"providers"`
}

type providerDocument struct {
	Title      string            `yaml:"title"`
	Prefix     string            `yaml:"prefix"`
	Aliases    []string          `yaml:"aliases"`
	Interfaces string            `yaml:"interfaces"`
	Ingress    string            `yaml:"ingress"`
	Source     string            `yaml:"source"`
	Flows      []flowDocument    `yaml:"flows"`
	Outside    *outsideDocument  `yaml:"outside"`
	Rules      []sizeDocument    `yaml:"rules"`
	Types      []typesOfDocument `yaml:"types"`
}

type flowDocument struct {
	When   string   `yaml:"when"`
	Rate   rateText `yaml:"rate"`
	Source string   `yaml:"source"`
}

type outsideDocument struct {
	Rate     rateText `yaml:"rate"`
	Tier1    rateText `yaml:"tier1"`
	Share    float64  `yaml:"share"`
	FromCPUs int      `yaml:"from_vcpus"`
	Regions  bool     `yaml:"regions"`
	Source   string   `yaml:"source"`
}

type sizeDocument struct {
	Name          string         `yaml:"name"`
	Match         string         `yaml:"match"`
	ByVCPUs       bool           `yaml:"by_vcpus"`
	PerVCPU       rateText       `yaml:"per_vcpu"`
	Most          rateText       `yaml:"most"`
	MostLow       rateText       `yaml:"most_low"`
	MostHigh      rateText       `yaml:"most_high"`
	Steps         []stepDocument `yaml:"steps"`
	NetworkShare  float64        `yaml:"network_share"`
	VolumesLeast  rateText       `yaml:"volumes_least"`
	Interface     rateText       `yaml:"interface"`
	InterfaceLow  rateText       `yaml:"interface_low"`
	InterfaceHigh rateText       `yaml:"interface_high"`
	Note          string         `yaml:"note"`
	Source        string         `yaml:"source"`
}

type stepDocument struct {
	VCPUs int      `yaml:"vcpus"`
	Rate  rateText `yaml:"rate"`
	Tier1 rateText `yaml:"tier1"`
}

type typesOfDocument struct {
	Source      string                  `yaml:"source"`
	BurstSource string                  `yaml:"burst_source"`
	CardsSource string                  `yaml:"cards_source"`
	Types       map[string]typeDocument `yaml:"types"`
}

type typeDocument struct {
	VCPUs int      `yaml:"vcpus"`
	Rate  rateText `yaml:"rate"`
	Burst rateText `yaml:"burst"`
	Tier1 rateText `yaml:"tier1"`
	Cards int      `yaml:"cards"`
}

// rateText is a rate as written, "12.5G". It is no unit.BitRate because the
// decoder prints the whole file anew for every value that reads itself.
type rateText string

// rateReader reads rates and keeps the first error.
type rateReader struct{ err error }

func (r *rateReader) read(what, key string, text rateText) unit.BitRate {
	if text == "" {
		return 0
	}
	rate, err := unit.ParseBitRate(string(text))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: %s: %w", what, key, err)
	}
	return rate
}

func (d flowDocument) rule(read *rateReader) flowRule {
	return flowRule{When: condition(d.When), Rate: read.read("flow", "rate", d.Rate), Source: d.Source}
}

func (d outsideDocument) rule(read *rateReader) outsideRule {
	return outsideRule{
		Rate: read.read("outside", "rate", d.Rate), Tier1: read.read("outside", "tier1", d.Tier1),
		Share: d.Share, FromCPUs: d.FromCPUs, Regions: d.Regions, Source: d.Source,
	}
}

func (d sizeDocument) rule(read *rateReader) sizeRule {
	rate := func(key string, text rateText) unit.BitRate {
		return read.read(fmt.Sprintf("rule %q", d.Name), key, text)
	}
	r := sizeRule{
		Name: d.Name, Match: d.Match, ByVCPUs: d.ByVCPUs, NetworkShare: d.NetworkShare, Note: d.Note, Source: d.Source,
		PerVCPU: rate("per_vcpu", d.PerVCPU), VolumesLeast: rate("volumes_least", d.VolumesLeast),
		Most: rate("most", d.Most), MostLow: rate("most_low", d.MostLow), MostHigh: rate("most_high", d.MostHigh),
		Interface: rate("interface", d.Interface), InterfaceLow: rate("interface_low", d.InterfaceLow), InterfaceHigh: rate("interface_high", d.InterfaceHigh),
	}
	for _, s := range d.Steps {
		r.Steps = append(r.Steps, step{VCPUs: s.VCPUs, Rate: rate("steps", s.Rate), Tier1: rate("steps", s.Tier1)})
	}
	return r
}

func (d typesOfDocument) instance(name string, read *rateReader) instance {
	t := d.Types[name]
	rate := func(key string, text rateText) unit.BitRate { return read.read("type "+name, key, text) }
	return instance{
		VCPUs: t.VCPUs, Cards: t.Cards, Rate: rate("rate", t.Rate), Burst: rate("burst", t.Burst), Tier1: rate("tier1", t.Tier1),
		name: name, source: d.Source, burstSource: cmp.Or(d.BurstSource, d.Source), cardsSource: cmp.Or(d.CardsSource, d.Source),
	}
}
