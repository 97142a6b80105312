package cloud

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// TestIBMExamples are the article's worked examples (Multiple Virtual Network
// Interfaces: Maximizing Throughput in IBM Cloud VPC, appendix), then the
// table of IBM's documentation for named profiles.
func TestIBMExamples(t *testing.T) {
	for _, c := range []struct {
		vcpus, interfaces int
		instance          string
		share             float64
		network, each     unit.BitRate
		low, high         unit.BitRate
	}{
		{vcpus: 8, interfaces: 1, network: 12e9, each: 12e9},
		{vcpus: 8, interfaces: 2, network: 12e9, each: 6e9},
		{vcpus: 32, interfaces: 1, network: 48e9, each: 16e9},
		{vcpus: 32, interfaces: 2, network: 48e9, each: 16e9},
		{vcpus: 48, interfaces: 2, network: 60e9, each: 16e9},
		{vcpus: 48, interfaces: 4, network: 60e9, each: 15e9},
		{vcpus: 8, interfaces: 1, share: 0.5, network: 8e9, each: 8e9},
		{vcpus: 16, interfaces: 2, share: 0.999, network: 31.5e9, each: 15.75e9},
		{instance: "bx2-16x64", interfaces: 1, network: 24e9, each: 24e9, low: 16e9},
		{instance: "bx2-32x128", interfaces: 1, network: 48e9, each: 25e9, low: 16e9},
		{instance: "bx2-32x128", interfaces: 2, network: 48e9, each: 24e9, low: 16e9},
		{instance: "bx2-48x192", interfaces: 2, network: 60e9, each: 25e9, low: 16e9},
		{instance: "bx2-48x192", interfaces: 3, network: 60e9, each: 20e9, low: 16e9},
		{instance: "bx2-16x64", interfaces: 2, network: 24e9, each: 12e9},
		{instance: "bx3d-176x880", interfaces: 2, network: 150e9, each: 25e9, high: 75e9},
		{instance: "ux2d-8x224", interfaces: 1, network: 6e9, each: 6e9},
	} {
		q := Query{Interfaces: c.interfaces, Cloud: netstate.Cloud{Provider: "ibm-vpc", VCPUs: c.vcpus, Instance: c.instance, NetworkShare: c.share}}
		got, err := Table{}.Caps(q)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if !near(got.Egress.Rate, c.network) || !near(got.Ingress.Rate, c.network) || !near(got.Interface.Rate, c.each) || !got.Adds {
			t.Errorf("%d vCPUs %s, %d interfaces: network %s and %s, each %s; want %s and %s\n%s", c.vcpus, c.instance, c.interfaces,
				got.Egress.Rate, got.Ingress.Rate, got.Interface.Rate, c.network, c.each, got.Interface.Why)
		}
		if !near(got.Interface.Low, c.low) || !near(got.Interface.High, c.high) || (c.low+c.high > 0) != (got.Interface.Open != "") {
			t.Errorf("%s, %d interfaces: from %s to %s (%q), want %s to %s", c.instance, c.interfaces, got.Interface.Low, got.Interface.High, got.Interface.Open, c.low, c.high)
		}
		if got.Flow.Rate != 0 {
			t.Errorf("a flow is held to %s", got.Flow.Rate)
		}
	}
}

func near(a, b unit.BitRate) bool { return a-b < 1 && b-a < 1 }

func TestAWSAndOthers(t *testing.T) {
	aws := func(instance string) netstate.Cloud { return netstate.Cloud{Provider: "aws", Instance: instance} }
	with := func(c netstate.Cloud, change func(*netstate.Cloud)) netstate.Cloud { change(&c); return c }
	clustered := func(c *netstate.Cloud) { c.Placement = "cluster" }
	express := func(c *netstate.Cloud) { c.ENAExpress = true }
	gcp := func(instance string) netstate.Cloud { return netstate.Cloud{Provider: "gcp", Instance: instance} }
	azure := netstate.Cloud{Provider: "azure", Instance: "Standard_D96s_v5"}
	plain := netstate.Cloud{Provider: "ibm-vpc", VCPUs: 8}
	type rates struct{ out, in, each, flow, beyond unit.BitRate }
	for _, c := range []struct {
		name string
		host netstate.Cloud
		peer *netstate.Cloud
		n    int
		udp  bool
		want rates
		high unit.BitRate // of the host in all
		why  string
	}{
		{name: "inside a region", host: aws("m6i.metal"), peer: new(aws("m6i.metal")), n: 4, want: rates{out: 50e9, in: 50e9, flow: 5e9}},
		{name: "name in capitals", host: netstate.Cloud{Provider: "AWS", Instance: "M6I.metal"}, peer: new(aws("m6i.metal")), want: rates{out: 50e9, in: 50e9, flow: 5e9}},
		{name: "cluster", host: with(aws("c5n.18xlarge"), clustered), peer: new(with(aws("c5n.18xlarge"), clustered)), want: rates{out: 100e9, in: 100e9, flow: 10e9}},
		{name: "only one in the cluster", host: with(aws("c5n.18xlarge"), clustered), peer: new(aws("c5n.18xlarge")), want: rates{out: 100e9, in: 100e9, flow: 5e9}},
		{name: "ENA Express", host: with(aws("c6i.32xlarge"), express), peer: new(with(aws("c6i.32xlarge"), express)), want: rates{out: 50e9, in: 50e9, flow: 25e9}, why: "ENA Express"},
		{name: "ENA Express at one end", host: with(aws("c6i.32xlarge"), express), peer: new(aws("c6i.32xlarge")), want: rates{out: 50e9, in: 50e9, flow: 5e9}},
		{name: "bursts", host: aws("m5.large"), peer: new(aws("m5.large")), want: rates{out: .75e9, in: .75e9, flow: 5e9}, high: 10e9, why: "credits"},
		{name: "another region, 128 vCPUs", host: with(aws("m6i.metal"), func(c *netstate.Cloud) { c.Region = "eu-west-1" }), peer: new(with(aws("m6i.metal"), func(c *netstate.Cloud) { c.Region = "us-east-1" })), want: rates{out: 50e9, in: 50e9, flow: 5e9, beyond: 25e9}, why: "50 % of 50.0 Gbit/s"},
		{name: "another region, 16 vCPUs", host: with(aws("c7gn.4xlarge"), func(c *netstate.Cloud) { c.Region = "eu-west-1" }), peer: new(with(aws("c7gn.4xlarge"), func(c *netstate.Cloud) { c.Region = "us-east-1" })), want: rates{out: 50e9, in: 50e9, flow: 5e9, beyond: 5e9}, why: "below 32 vCPUs"},
		{name: "peer not said", host: aws("m6i.metal"), want: rates{out: 50e9, in: 50e9, flow: 5e9, beyond: 25e9}, why: "not declared"},
		{name: "four cards", host: aws("p4d.24xlarge"), peer: new(aws("p4d.24xlarge")), n: 4, want: rates{out: 400e9, in: 400e9, each: 100e9, flow: 5e9}, why: "4 network cards"},
		{name: "GCP", host: gcp("n2-standard-32"), peer: new(gcp("n2-standard-32")), n: 2, want: rates{out: 32e9}},
		{name: "GCP Tier_1", host: with(gcp("c3-standard-176"), func(c *netstate.Cloud) { c.Tier1 = true }), peer: new(gcp("c3-standard-176")), want: rates{out: 200e9}, why: "Tier_1"},
		{name: "GCP in two regions", host: with(gcp("c3-standard-22"), func(c *netstate.Cloud) { c.Region = "a" }), peer: new(with(gcp("n1-standard-8"), func(c *netstate.Cloud) { c.Region = "b" })), want: rates{out: 23e9}},
		{name: "GCP to another cloud", host: gcp("n2-standard-32"), peer: &plain, want: rates{out: 32e9, flow: 3e9, beyond: 7e9}, why: "recalled"},
		{name: "GCP by vCPUs", host: netstate.Cloud{Provider: "google", VCPUs: 8}, peer: new(gcp("n2-standard-8")), want: rates{out: 16e9}, high: 100e9},
		{name: "Azure", host: azure, peer: &azure, n: 8, want: rates{out: 35e9}},
		{name: "Azure, short name", host: netstate.Cloud{Provider: "azure", Instance: "d2s_v3"}, peer: &azure, want: rates{out: 1e9}},
		{name: "GCP, peer not said", host: gcp("n2-standard-32"), want: rates{out: 32e9, flow: 3e9, beyond: 7e9}, why: "not declared"},
		{name: "GCP outside with Tier_1", host: with(gcp("n2-standard-32"), func(c *netstate.Cloud) { c.Tier1 = true }), peer: &plain, want: rates{out: 50e9, flow: 3e9, beyond: 25e9}},
		{name: "outside is no less", host: aws("t3.nano"), want: rates{out: 32e6, in: 32e6, flow: 5e9}, high: 5e9},
		{name: "own words", host: netstate.Cloud{Provider: "aws", Instance: "m99.huge", Bandwidth: 42e9, FlowRate: 9e9, InterfaceRate: 20e9}, peer: new(aws("m6i.metal")), want: rates{out: 42e9, in: 42e9, each: 20e9, flow: 9e9}},
		{name: "own words, unknown provider", host: netstate.Cloud{Provider: "mine", Bandwidth: 42e9}, want: rates{out: 42e9, in: 42e9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Table{}.Caps(Query{Cloud: c.host, Interfaces: c.n, Peer: c.peer, UDP: c.udp})
			if err != nil {
				t.Fatal(err)
			}
			if r := (rates{got.Egress.Rate, got.Ingress.Rate, got.Interface.Rate, got.Flow.Rate, got.OutsideEgress.Rate}); r != c.want {
				t.Errorf("caps %+v, want %+v", r, c.want)
			}
			if got.Egress.High != c.high || c.high > 0 && got.Egress.Open == "" {
				t.Errorf("at most %s (%q), want %s", got.Egress.High, got.Egress.Open, c.high)
			}
			if want := got.OutsideEgress; (got.Ingress.Rate > 0) != (got.OutsideIngress.Rate > 0) && want.Rate > 0 {
				t.Errorf("from outside %s, to it %s", got.OutsideIngress.Rate, want.Rate)
			}
			if got.OutsideEgress.Rate > 0 && (got.OutsideEgress.High > 0) != (c.peer == nil) {
				t.Errorf("outside at most %s with peer %v", got.OutsideEgress.High, c.peer)
			}
			if text := got.Egress.Why + got.OutsideEgress.Why + got.Interface.Why + got.Flow.Why; !strings.Contains(text, c.why) {
				t.Errorf("text %q lacks %q", text, c.why)
			}
		})
	}
}

// TestUncertainFlow: what ENA Express does is a range where it hangs on what
// nobody said.
func TestUncertainFlow(t *testing.T) {
	a := netstate.Cloud{Provider: "aws", Instance: "c6i.32xlarge", ENAExpress: true, Zone: "a", Placement: "cluster"}
	b := a
	got, err := Table{}.Caps(Query{Cloud: a, Peer: &b, UDP: true})
	if err != nil || got.Flow.Rate != 25e9 || got.Flow.Low != 10e9 || !strings.Contains(got.Flow.Open, "UDP") {
		t.Errorf("UDP: %+v, %v", got.Flow, err)
	}
	b.Zone = "b"
	got, err = Table{}.Caps(Query{Cloud: a, Peer: &b})
	if err != nil || got.Flow.Rate != 25e9 || got.Flow.Low != 5e9 || !strings.Contains(got.Flow.Open, "zones") {
		t.Errorf("two zones: %+v, %v", got.Flow, err)
	}
}

func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		cloud netstate.Cloud
		want  error
		says  string
	}{
		{netstate.Cloud{Provider: "awz"}, ErrUnknownProvider, "nearest: aws"},
		{netstate.Cloud{Provider: "aws", Instance: "m6i.metall"}, ErrUnknownInstance, "nearest: m6i.metal"},
		{netstate.Cloud{Provider: "azure", Instance: "Standard_D96s_v55"}, ErrUnknownInstance, "nearest: D96s_v5"},
		{netstate.Cloud{Provider: "aws", VCPUs: 8}, ErrUnsized, "AWS EC2 goes by instance types"},
		{netstate.Cloud{Provider: "ibm-vpc"}, ErrUnsized, "needs instance or vcpus"},
		{netstate.Cloud{Provider: "gcp", Instance: "c3-standard-2"}, ErrUnknownInstance, "begin at 4 vCPUs"},
		{netstate.Cloud{Provider: "ibm-vpc", Instance: "bx2-99999999999999999999x1"}, ErrUnknownInstance, ""},
	} {
		got, err := Table{}.Caps(Query{Cloud: c.cloud})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: error %v, want %v with %q", c.cloud, err, c.want, c.says)
		}
		if got.Egress.Rate != 0 || got.Interface.Rate != 0 {
			t.Errorf("%+v: guessed %+v", c.cloud, got)
		}
	}
}

// TestMoreInterfaces: another interface never lowers what a host's interfaces
// carry together, and they never carry more than the host, whatever the
// provider and the type.
func TestMoreInterfaces(t *testing.T) {
	table, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var hosts []netstate.Cloud
	for name, p := range table.providers {
		for _, i := range p.types {
			hosts = append(hosts, netstate.Cloud{Provider: name, Instance: i.name})
		}
	}
	for n := 1; n <= 200; n += 7 {
		hosts = append(hosts, netstate.Cloud{Provider: "ibm-vpc", VCPUs: n}, netstate.Cloud{Provider: "gcp", VCPUs: n})
	}
	for _, host := range hosts {
		before := unit.BitRate(0)
		for n := 1; n <= 8; n++ {
			caps, err := table.Caps(Query{Cloud: host, Interfaces: n, Peer: &host})
			if err != nil {
				t.Fatalf("%+v: %v", host, err)
			}
			all := caps.Egress.Rate
			if each := caps.Interface.Rate; each > 0 {
				all = min(all, each*unit.BitRate(n))
			}
			if all < before*(1-1e-9) {
				t.Errorf("%+v: %d interfaces carry %s, one less %s", host, n, all, before)
			}
			if host.Provider == "ibm-vpc" && caps.Interface.Rate*unit.BitRate(n) > caps.Egress.Rate*(1+1e-9) {
				t.Errorf("%+v: %d interfaces of %s are more than %s", host, n, caps.Interface.Rate, caps.Egress.Rate)
			}
			before = all
		}
	}
}
