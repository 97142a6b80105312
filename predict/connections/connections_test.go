package connections_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/connections"
	"github.com/linerate/linerate/predict/testfabric"
)

// link is what one gigabit link carries.
const link = 1e9 * 1448 / 1538

const cores = 8

// bonded is two hosts with a bond of two links, and a switch that hashes alike.
func bonded(policy netstate.HashPolicy, switchHash string) predict.Fabric {
	b := testfabric.Bond{Ports: 2, Speed: 1e9, Mode: netstate.LACP, Policy: policy, Mtu: 1500, Kernel: "6.1.0"}
	a, z := b, b
	a.Name, a.Addrs = "client", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "server", []string{"10.0.0.2/24"}
	f := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: []fabric.Path{{From: "client", To: "server", RTT: time.Millisecond, SwitchHash: switchHash, Declared: true}}}
	for _, h := range []netstate.Host{a.Host(), z.Host()} {
		h.CPU.Cores = cores
		f.Hosts[h.Name] = h
	}
	return f
}

// apart is two hosts with two plain links, a subnet each.
func apart() predict.Fabric {
	f := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: []fabric.Path{{From: "client", To: "server", RTT: time.Millisecond, Declared: true}}}
	for _, h := range []netstate.Host{testfabric.Plain("client", 1e9, 1500, "10.1.0.1/24", "10.2.0.1/24"), testfabric.Plain("server", 1e9, 1500, "10.1.0.2/24", "10.2.0.2/24")} {
		h.CPU.Cores = cores
		f.Hosts[h.Name] = h
	}
	return f
}

func question(t *testing.T, f predict.Fabric, use string) connections.Question {
	t.Helper()
	u, err := workload.Parse(use)
	if err != nil {
		t.Fatal(err)
	}
	return connections.Question{Fabric: f, Path: f.Paths[0], Use: u}
}

// TestEveryProgram: what each row's connections carry over a bond of two links is
// what their number says: one link where the policy sees no ports, however many
// they are, else the mean of as many tosses of a coin.
func TestEveryProgram(t *testing.T) {
	for _, program := range workload.Programs() {
		uses := []string{program.Name}
		if knob, ok := program.Knob(); ok {
			uses = append(uses, program.Name+":"+knob.Key+"=8")
		}
		for _, use := range uses {
			for _, policy := range netstate.HashPolicies() {
				q := question(t, bonded(policy, policy.String()), use)
				o, err := q.Opened()
				if err != nil {
					t.Errorf("%s: %v", use, err)
					continue
				}
				if len(o.Lanes) != 1 {
					t.Errorf("%s: %d pairs of addresses, and there is one", use, len(o.Lanes))
				}
				want := 1.0
				switch {
				case policy == netstate.Layer34:
					want = 2 - math.Pow(0.5, float64(o.Connections-1))
				case policy == netstate.Encap34: // the switch tosses again
					want = 0
				}
				for _, d := range []flow.Direction{flow.Forward, flow.Reverse} {
					p, err := q.Predict(d)
					if err != nil {
						t.Errorf("%s, %s: %v", use, policy, err)
						continue
					}
					if p.Streams != o.Connections || p.Rate > p.Ceiling {
						t.Errorf("%s, %s: %d streams, %v of %v", use, policy, p.Streams, p.Rate, p.Ceiling)
					}
					got := float64(p.Rate) / link
					if want > 0 && math.Abs(got-want) > 0.01 || want == 0 && (got < 0.99 || o.Connections > 1 && got < 1.2) {
						t.Errorf("%s, %s, %s: %.3f links, want %.3f (%d connections)", use, policy, d, got, want, o.Connections)
					}
				}
			}
		}
	}
}

// TestTwoInterfaces: without a bond the addresses decide, and a program that uses
// one address has one link, however many connections it opens.
func TestTwoInterfaces(t *testing.T) {
	for use, want := range map[string]float64{
		"nfs:nconnect=8": 1, "nfs:mounts=2,max_connect=2": 2, "nfs:mounts=2": 1, "nfs:mounts=2,vers=3": 2, "iscsi": 2, "nvme:queues=1": 2, "smb": 2,
		"cifs": 1, "cifs:max_channels=2": 2, "drbd": 1, "drbd:load-balance-paths=yes": 2, "ceph:pairs=12": 1, "rsync:processes=4": 1, "qemu:channels=8": 1,
	} {
		p, err := question(t, apart(), use).Predict(flow.Forward)
		if got := float64(p.Rate) / link; err != nil || math.Abs(got-want) > 0.01 {
			t.Errorf("%s: %.3f links, want %v (%v)", use, got, want, err)
		}
	}
}

// TestAdvise: the option that carries more, in the program's words, and nothing
// where nothing does.
func TestAdvise(t *testing.T) {
	ports := "layer3+4"
	for _, c := range []struct {
		name   string
		fabric predict.Fabric
		use    string
		want   []string // of the changes, in order
	}{
		{"one connection, ports decide", bonded(netstate.Layer34, ports), "nfs", []string{"nconnect=8"}},
		{"few connections", bonded(netstate.Layer34, ports), "nfs:nconnect=2", []string{"nconnect=8", "chosen source ports"}},
		{"enough connections", bonded(netstate.Layer34, ports), "nfs:nconnect=16", nil},
		{"several options", bonded(netstate.Layer34, ports), "qemu", []string{"virsh migrate --live --parallel --parallel-connections 8"}},
		{"addresses decide", bonded(netstate.Layer23, "layer2+3"), "nfs:nconnect=8", []string{"transmit hash policy layer3+4 on both hosts, a hash of ports on the switch", "another address for each link"}},
		{"addresses decide, one connection", bonded(netstate.Layer23, "layer2+3"), "nfs", []string{"transmit hash policy layer3+4 on both hosts, a hash of ports on the switch, and nconnect=8", "another address for each link"}},
		{"MAC addresses decide", bonded(netstate.Layer2, ports), "nfs:nconnect=8", []string{"transmit hash policy layer3+4 on both hosts"}},
		{"no option for more", bonded(netstate.Layer34, ports), "pg_basebackup", []string{"one connection over several links"}},
		{"no option for more, on one of two interfaces", apart(), "pg_basebackup", []string{"one connection over several links"}},
		{"an address unused", apart(), "nfs", []string{"nfs:mounts=2,max_connect=2"}},
		{"paths for failover", apart(), "drbd", []string{"drbd:load-balance-paths=yes"}},
		{"both in use", apart(), "iscsi", nil},
	} {
		q := question(t, c.fabric, c.use)
		p, err := q.Predict(flow.Forward)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range q.Advise(flow.Forward, p) {
			got = append(got, a.Change)
			if a.Rate > 0 && a.Rate <= p.Rate {
				t.Errorf("%s: %s for %v, and %v is expected now", c.name, a.Change, a.Rate, p.Rate)
			}
			if a.Rate == 0 && a.How == "" {
				t.Errorf("%s: %s says neither a rate nor how", c.name, a.Change)
			}
		}
		if strings.Join(got, " | ") != strings.Join(c.want, " | ") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	f := bonded(netstate.Layer34, "layer3+4")
	h := f.Hosts["client"]
	h.CPU.Cores = 0
	f.Hosts["client"] = h
	for use, want := range map[string]error{"nvme": workload.ErrCores, "nfs:mounts=2": workload.ErrAddresses} {
		if _, err := question(t, f, use).Predict(flow.Forward); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", use, err, want)
		}
	}
	q := question(t, f, "nfs")
	if got := q.Advise(flow.Forward, predict.Prediction{}); got != nil {
		t.Errorf("advice for what nobody could predict: %v", got)
	}
}
