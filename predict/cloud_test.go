package predict

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// clouded is two like instances with n interfaces each, of unknown speed as
// virtual ones are, so near that no window binds.
func clouded(a, b *netstate.Cloud, n, mtu int) Fabric {
	var near, far []string
	for i := range n {
		subnet := string(rune('0' + i))
		near, far = append(near, "10.0."+subnet+".1/24"), append(far, "10.0."+subnet+".2/24")
	}
	f := JoinedHosts(testfabric.Plain("a", 0, mtu, near...), testfabric.Plain("b", 0, mtu, far...), 10*time.Microsecond, "")
	for name, c := range map[string]*netstate.Cloud{"a": a, "b": b} {
		h := f.Hosts[name]
		h.Cloud = c
		f.Hosts[name] = h
	}
	return f
}

// TestCloudIBM are the article's worked examples as traffic sees them: rate
// and ceiling, every interface with streams of its own.
func TestCloudIBM(t *testing.T) {
	for _, c := range []struct {
		vcpus, interfaces int
		want              unit.BitRate
	}{{8, 1, 12e9}, {8, 2, 12e9}, {32, 1, 16e9}, {32, 2, 32e9}, {48, 2, 32e9}, {48, 4, 60e9}} {
		host := &netstate.Cloud{Provider: "ibm-vpc", VCPUs: c.vcpus}
		p := mustPredict(t, clouded(host, host, c.interfaces, 9000), Traffic{Streams: 4 * c.interfaces})
		if !near(p.Rate, float64(c.want)*8948/9014, 1e-6) || p.Limit != record.Shaper {
			t.Errorf("%d vCPUs, %d interfaces: %s, %s; want %s on the wire", c.vcpus, c.interfaces, p.Rate, p.Limit, c.want)
		}
		if !near(p.Ceiling, float64(c.want)*8948/9000, 1e-6) {
			t.Errorf("%d vCPUs, %d interfaces: ceiling %s", c.vcpus, c.interfaces, p.Ceiling)
		}
		one := mustPredict(t, clouded(host, host, c.interfaces, 9000), Traffic{Streams: 1})
		each := min(c.want/unit.BitRate(c.interfaces), 16e9)
		if !near(one.Rate, float64(each)*8948/9014, 1e-6) {
			t.Errorf("%d vCPUs, %d interfaces: one stream %s, want %s on the wire", c.vcpus, c.interfaces, one.Rate, each)
		}
	}
}

func TestCloudFlows(t *testing.T) {
	metal := &netstate.Cloud{Provider: "aws", Instance: "m6i.metal"}
	small := &netstate.Cloud{Provider: "aws", Instance: "m5.large"}
	placed := &netstate.Cloud{Provider: "aws", Instance: "m6i.metal", Placement: "cluster"}
	slow := &netstate.Cloud{Provider: "azure", Instance: "Standard_D4s_v3"}
	fast := &netstate.Cloud{Provider: "azure", Instance: "Standard_D64s_v3"}
	const l2 = 8948.0 / 9014
	for _, c := range []struct {
		name       string
		a, b       *netstate.Cloud
		interfaces int
		traffic    Traffic
		want       float64 // counted from the Ethernet header on
		says       string
	}{
		{"one flow", metal, metal, 1, Traffic{Streams: 1}, 5e9, "one flow gets 5.00 Gbit/s"},
		{"eight flows", metal, metal, 1, Traffic{Streams: 8}, 40e9, "8 streams"},
		{"many flows", metal, metal, 1, Traffic{Streams: 16}, 50e9, "m6i.metal has 50.0 Gbit/s"},
		{"interfaces do not add", metal, metal, 2, Traffic{Streams: 32}, 50e9, "m6i.metal has"},
		{"cluster", placed, placed, 1, Traffic{Streams: 1}, 10e9, "placement group"},
		{"subflows are flows", metal, metal, 2, Traffic{Streams: 1, Protocol: "mptcp"}, 10e9, "one flow gets"},
		{"baseline", small, small, 1, Traffic{Streams: 4}, .75e9, "credits"},
		{"a short test reads the burst", small, small, 1, Traffic{Streams: 4, Window: 30 * time.Second}, 10e9, "credits"},
		{"a long test reads the baseline", small, small, 1, Traffic{Streams: 4, Window: 2 * time.Hour}, .75e9, "credits"},
		{"sender is metered", slow, fast, 1, Traffic{Streams: 4}, 2e9, "D4s_v3"},
		{"receiver is not", slow, fast, 1, Traffic{Streams: 4, Direction: flow.Reverse}, 30e9, "D64s_v3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustPredict(t, clouded(c.a, c.b, c.interfaces, 9000), c.traffic)
			share := l2
			if c.traffic.Protocol == "mptcp" {
				w, err := newWay(clouded(c.a, c.b, c.interfaces, 9000), Traffic{From: "a", To: "b", Streams: 1, Protocol: "mptcp"}, flow.Forward)
				if err != nil {
					t.Fatal(err)
				}
				share = w.shaperShare()
			}
			if !near(p.Rate, c.want*share, 1e-6) || p.Limit != record.Shaper || !strings.Contains(p.Limits[0].Why, c.says) {
				t.Errorf("%s, %s: %s; want %g and %q", p.Rate, p.Limit, p.Limits[0].Why, c.want*share, c.says)
			}
			if p.Ceiling < p.Rate || p.RateLow > p.Rate || p.RateHigh != 0 && (p.RateHigh < p.Rate || p.RateHigh > p.Ceiling*(1+1e-9)) {
				t.Errorf("rate %s from %s to %s, ceiling %s", p.Rate, p.RateLow, p.RateHigh, p.Ceiling)
			}
			if p.RateHigh > p.Rate && p.RangeWhy == "" {
				t.Error("a range without a reason")
			}
		})
	}
}

// TestCloudUnknown: what nobody knows is said with the nearest name, and what
// is known counts.
func TestCloudUnknown(t *testing.T) {
	host := &netstate.Cloud{Provider: "aws", Instance: "m6i.metall"}
	f := clouded(host, host, 1, 9000)
	for name, h := range f.Hosts {
		h.Links[0].Speed = 10e9
		f.Hosts[name] = h
	}
	p := mustPredict(t, f, Traffic{Streams: 16})
	last := p.Limits[len(p.Limits)-2] // cores that nobody calibrated come after it
	if !near(p.Rate, 10e9*8948/9038, 1e-6) || last.Cause != record.Unknown || !strings.Contains(last.Why, "nearest: m6i.metal") {
		t.Errorf("%s, last limit %+v", p.Rate, last)
	}
	if one := mustPredict(t, f, Traffic{Streams: 1}); !near(one.Rate, 5e9*8948/9014, 1e-6) {
		t.Errorf("a flow of an unknown type gets %s", one.Rate)
	}
	if _, err := Predict(clouded(host, host, 1, 9000), Traffic{From: "a", To: "b", Streams: 1, Direction: flow.Forward}); err != nil {
		t.Errorf("one flow between unknown types: %v", err)
	}
}

// TestCloudTable: a corrected table counts, also in what a change on paper
// and a calibration predict.
func TestCloudTable(t *testing.T) {
	table, err := cloud.Table{}.Extend("mine", []byte(`linerate-clouds: v1
providers: {aws: {types: [{source: ec2-table, types: {m6i.metal: {vcpus: 128, rate: 33G}}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	host := &netstate.Cloud{Provider: "aws", Instance: "m6i.metal"}
	f := clouded(host, host, 1, 9000)
	f.Clouds = table
	traffic := Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 16}
	if p := mustPredict(t, f, traffic); !near(p.Rate, 33e9*8948/9014, 1e-6) {
		t.Errorf("corrected: %s", p.Rate)
	}
}

// TestVNICs: what a provider deals bandwidth out to.
func TestVNICs(t *testing.T) {
	h := testfabric.Plain("a", 0, 1500, "10.0.0.1/24", "10.0.1.1/24")
	for _, l := range []netstate.Link{
		{Name: "lo", Kind: "loopback", Up: true}, {Name: "docker0", Kind: "bridge", Up: true},
		{Name: "ens3.7", Kind: "vlan", Up: true, VLAN: &netstate.VLAN{ID: 7, Parent: "ens3"}}, {Name: "down"},
	} {
		l.Addresses = h.Links[0].Addresses
		h.Links = append(h.Links, l)
	}
	h.Links = append(h.Links, netstate.Link{Name: "ens9", Up: true, Carrier: true})
	if n := vNICs(h); n != 2 {
		t.Errorf("two interfaces, a VLAN, lo, a bridge of its own, one down and one without address: %d", n)
	}
	b := testfabric.Bond{Name: "b", Addrs: []string{"10.0.0.1/24"}, Ports: 3, Mode: netstate.LACP, Vlan: 5}
	if n := vNICs(b.Host()); n != 3 {
		t.Errorf("a bond of three: %d", n)
	}
}
