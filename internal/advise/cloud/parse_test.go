package cloud

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/netstate"
)

// TestBuiltinIsSourced: every rule, flow and type of the built-in table names
// a source that has a title, an address and the day it was read.
func TestBuiltinIsSourced(t *testing.T) {
	table, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string][]string{}
	for name, p := range table.providers {
		entries[name] = append(entries[name], p.source)
		for _, f := range p.flows {
			entries[name] = append(entries[name], f.Source)
		}
		if p.outside != nil {
			entries[name] = append(entries[name], p.outside.Source)
		}
		for _, r := range p.rules {
			entries[name] = append(entries[name], r.Source)
		}
		for _, i := range p.types {
			entries[name] = append(entries[name], i.source, i.burstSource, i.cardsSource)
		}
	}
	used := map[string]bool{}
	for name, sources := range entries {
		for _, s := range sources {
			used[s] = true
			if err := table.sources[s].check(); err != nil {
				t.Errorf("%s: source %q: %v", name, s, err)
			}
		}
	}
	for name := range table.sources {
		if !used[name] {
			t.Errorf("source %s is used by no entry", name)
		}
	}
	got, _ := Table{}.Providers()
	if diff := cmp.Diff([]string{"aws", "azure", "gcp", "ibm-vpc"}, got); diff != "" {
		t.Errorf("providers (-want +got):\n%s", diff)
	}
	if n := len(table.providers["aws"].types); n < 200 {
		t.Errorf("%d AWS types", n)
	}
}

const mine = `linerate-clouds: v1
sources:
  ours: {title: our measurement, url: "https://example.org/notes", read: 2026-01-02, confidence: read}
`

// TestExtend lays files over the built-in table.
func TestExtend(t *testing.T) {
	table, err := Table{}.Extend("mine.yaml", []byte(mine+`providers:
  aws:
    types:
      - source: ours
        types: {m5.large: {vcpus: 2, rate: 1G}, m99.large: {rate: 9G}}
  ibm-vpc:
    rules:
      - {name: by vCPUs, by_vcpus: true, per_vcpu: 2G, most: 80G, network_share: 0.75, interface: 25G, source: ours}
      - {name: first, match: '^bx2-(48)x192$', steps: [{vcpus: 1, rate: 7G}], source: ours}
  hetzner: {source: ours, interfaces: share, types: [{source: ours, types: {ccx13: {vcpus: 2, rate: 10G}}}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cloud netstate.Cloud
		want  float64
	}{
		{netstate.Cloud{Provider: "aws", Instance: "m5.large"}, 1e9},
		{netstate.Cloud{Provider: "aws", Instance: "m99.large"}, 9e9},
		{netstate.Cloud{Provider: "aws", Instance: "m5.16xlarge"}, 20e9},
		{netstate.Cloud{Provider: "ibm-vpc", VCPUs: 48}, 60e9},
		{netstate.Cloud{Provider: "ibm-vpc", Instance: "bx2-48x192"}, 7e9},
		{netstate.Cloud{Provider: "hetzner", Instance: "ccx13"}, 10e9},
	} {
		got, err := table.Caps(Query{Cloud: c.cloud, Interfaces: 2, Peer: &c.cloud})
		if err != nil || float64(got.Egress.Rate) != c.want {
			t.Errorf("%+v: %s, %v; want %g", c.cloud, got.Egress.Rate, err, c.want)
		}
	}
	got, _ := table.Caps(Query{Cloud: netstate.Cloud{Provider: "ibm-vpc", VCPUs: 48}, Interfaces: 2})
	if got.Interface.Rate != 25e9 || !strings.Contains(got.Interface.Why, "our measurement, read 2026-01-02") {
		t.Errorf("corrected interface: %s, %q", got.Interface.Rate, got.Interface.Why)
	}
	// The built-in table is untouched.
	if got, _ := (Table{}).Caps(Query{Cloud: netstate.Cloud{Provider: "aws", Instance: "m5.large"}}); got.Egress.Rate != .75e9 {
		t.Errorf("built-in m5.large has %s", got.Egress.Rate)
	}
}

func TestExtendRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `linerate-clouds is "", want v1`},
		{"linerate-clouds: v2\n", `is "v2"`},
		{"linerate-clouds: v1\nprovders: {}\n", "f:2:1: unknown field"},
		{"linerate-clouds: v1\nproviders: {aws: {types: [{source: ec2-table, types: {x: {rate: 5}}}]}}\n", "no unit"},
		{"linerate-clouds: v1\nproviders: {aws: {types: [{types: {x: {rate: 5G}}}]}}\n", "provider aws: type x: source is missing"},
		{"linerate-clouds: v1\nproviders: {aws: {types: [{source: no, types: {x: {rate: 5G}}}]}}\n", `source "no" is not under sources`},
		{"linerate-clouds: v1\nproviders: {aws: {types: [{source: ec2-table, types: {x: {vcpus: 1}}}]}}\n", "rate is missing"},
		{"linerate-clouds: v1\nproviders: {aws: {types: [{source: ec2-table, types: {x: {rate: 5G, burst: 1G}}}]}}\n", "burst is below rate"},
		{"linerate-clouds: v1\nproviders: {AWS: {title: x}}\n", "lower case"},
		{"linerate-clouds: v1\nproviders: {aws: {interfaces: glued}}\n", "want split or share"},
		{"linerate-clouds: v1\nproviders: {aws: {flows: [{when: moon, rate: 1G, source: ec2-table}]}}\n", "flow: when"},
		{"linerate-clouds: v1\nproviders: {new: {}}\n", "provider new: source is missing"},
		{"linerate-clouds: v1\nproviders: {aws: {rules: [{name: a, match: '(', per_vcpu: 1G, source: ec2-table}]}}\n", "match: error parsing regexp"},
		{"linerate-clouds: v1\nproviders: {aws: {rules: [{name: a, match: 'a', per_vcpu: 1G, source: ec2-table}]}}\n", "one group"},
		{"linerate-clouds: v1\nproviders: {aws: {rules: [{name: a, by_vcpus: true, source: ec2-table}]}}\n", "either per_vcpu or steps"},
		{"linerate-clouds: v1\nproviders: {aws: {rules: [{name: a, by_vcpus: true, per_vcpu: 1G, network_share: .nan, source: ec2-table}]}}\n", "network_share"},
		{"linerate-clouds: v1\nproviders: {aws: {rules: [{name: a, by_vcpus: true, per_vcpu: 1G, most_high: 1G, source: ec2-table}]}}\n", "a low is above"},
		{"linerate-clouds: v1\nsources: {a: {title: t, url: 'https://a', confidence: read}}\n", "source a: read is"},
		{"linerate-clouds: v1\nsources: {a: {title: t, url: 'https://a', read: 2026-01-02}}\n", "confidence"},
		{"linerate-clouds: v1\nsources: {a: {title: t, url: here, read: 2026-01-02, confidence: read}}\n", "no web address"},
		{"linerate-clouds: v1\nsources: &a {}\n", "f:2:10: anchors"},
		{"linerate-clouds: [\n", "f:"},
		{strings.Repeat("[", 100), "nested too deep"},
		{strings.Repeat(" ", maxText+1), "more than"},
	} {
		_, err := Table{}.Extend("f", []byte(c.text))
		if !errors.Is(err, ErrRules) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q: error %v, want %q", c.text, err, c.want)
		}
	}
}

// FuzzExtend: whatever a file says, it is refused in one line or gives caps
// that are finite and whose bounds hold.
func FuzzExtend(f *testing.F) {
	f.Add([]byte(mine)) // the built-in file itself takes too long to minimise
	for _, seed := range []string{
		"linerate-clouds: v1\nproviders: {aws: {rules: [{name: a, by_vcpus: true, per_vcpu: 1G, most: 3G, most_low: 1G, most_high: 9G, interface: 2G, source: ec2-table}], interfaces: split}}\n",
		"linerate-clouds: v1\nproviders:\n  aws:\n    outside: {rate: 1K, share: 1, source: ec2-table}\n", "? a\n: b", "- - -", "a: !!float x", "\"", "{", "%", "---\n...\n---",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := Table{}.Extend("f", text)
		if err != nil {
			if !errors.Is(err, ErrRules) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q", err)
			}
			return
		}
		names, _ := table.Providers()
		for _, name := range names {
			for _, c := range []netstate.Cloud{{Provider: name, VCPUs: 48}, {Provider: name, Instance: "m5.large"}, {Provider: name, Instance: "p4d.24xlarge"}} {
				caps, err := table.Caps(Query{Cloud: c, Interfaces: 3})
				if err != nil {
					continue
				}
				for _, one := range []Cap{caps.Egress, caps.Ingress, caps.OutsideEgress, caps.OutsideIngress, caps.Interface, caps.Flow} {
					if !finite(one.Rate, one.Low, one.High, one.Burst) || one.Low > one.Rate || one.High != 0 && one.High < one.Rate {
						t.Fatalf("cap %+v", one)
					}
				}
			}
		}
	})
}
