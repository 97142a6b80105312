package pathmtu

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// network answers echoes as links of given MTUs do, taken in turn.
type network struct {
	links  []int
	own    int // above it the sender's kernel refuses
	silent bool
	loses  int // every so manieth echo
	burst  int // so many in a row, behind the first
	fails  error
	sent   int
}

func (n *network) Ask(_ context.Context, _ agentapi.AnyMethod, request, reply any) (err error) {
	r, ok := request.(agentapi.PingRequest)
	if !ok {
		return errors.ErrUnsupported
	}
	*reply.(*agentapi.PingReply), err = n.ping(r)
	return err
}

func (n *network) ping(r agentapi.PingRequest) (agentapi.PingReply, error) {
	if n.fails != nil {
		return agentapi.PingReply{}, n.fails
	}
	n.sent++
	reply := agentapi.PingReply{Sent: r.Count}
	if n.own > 0 && r.Packet > n.own {
		reply.TooBig = n.own
		return reply, nil
	}
	if n.sent > 1 && n.sent <= 1+n.burst {
		return reply, nil
	}
	if n.silent || n.loses > 0 && n.sent%n.loses == 0 || r.DontFragment && r.Packet > n.links[n.sent%len(n.links)] {
		return reply, nil
	}
	reply.RTTs = append(reply.RTTs, time.Millisecond)
	return reply, nil
}

var way = Way{From: "alpha", To: "beta", Link: "eth0", MTU: 9000,
	Lane: flow.Lane{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")}}

func TestProve(t *testing.T) {
	for _, c := range []struct {
		name    string
		net     network
		links   int
		proven  bool
		answers bool
		passes  int
		named   int
		most    int // echoes
	}{
		{"all of it", network{links: []int{9000}}, 1, true, true, 9000, 0, 2},
		{"all of it, two links", network{links: []int{9000, 9000}}, 2, true, true, 9000, 0, 13},
		{"a switch with 1500", network{links: []int{1500}}, 1, false, true, 1500, 0, 60},
		{"an odd size", network{links: []int{8951}}, 1, false, true, 8951, 0, 60},
		{"below every rule", network{links: []int{500}}, 1, false, true, 0, 0, 30},
		{"one link of two is small", network{links: []int{9000, 1500}}, 2, false, true, 1500, 0, 90},
		{"one link of two is small by 4", network{links: []int{9000, 8996}}, 2, false, true, 8996, 0, 250},
		{"the own link is smaller", network{links: []int{9000}, own: 1500}, 1, false, true, 1500, 1500, 20},
		{"loss", network{links: []int{9000}, loses: 2}, 1, true, true, 9000, 0, 4},
		{"a burst of losses just then", network{links: []int{9000}, burst: 4}, 1, true, true, 9000, 0, 60},
		{"a burst, and a small link", network{links: []int{1500}, burst: 4}, 1, false, true, 1500, 0, 70},
		{"loss, two links", network{links: []int{9000, 9000}, loses: 14}, 2, true, true, 9000, 0, 30},
		{"nobody answers", network{silent: true}, 1, false, false, 0, 0, 2},
	} {
		w := way
		w.Links = c.links
		got, err := Prove(t.Context(), &c.net, w)
		if err != nil || got.Proven() != c.proven || got.Answers != c.answers || got.Passes != c.passes || got.Named != c.named {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if c.net.sent > c.most {
			t.Errorf("%s: %d echoes, at most %d", c.name, c.net.sent, c.most)
		}
		if _, bad := diagnosehost.Path(got); bad != (c.answers && !c.proven) {
			t.Errorf("%s: judged %v", c.name, bad)
		}
	}
	failed := errors.New("failed")
	if _, err := Prove(t.Context(), &network{fails: failed}, way); !errors.Is(err, failed) {
		t.Errorf("error is %v", err)
	}
}

func TestFabric(t *testing.T) {
	host := func(name, address string, mtu int) netstate.Host {
		return netstate.Host{Name: name, Links: []netstate.Link{{Name: "eth0", Up: true, Carrier: true, MTU: mtu, Addresses: []netip.Prefix{netip.MustParsePrefix(address)}}}}
	}
	f := predict.Fabric{Hosts: map[string]netstate.Host{
		"alpha": host("alpha", "10.0.0.1/24", 9000), "beta": host("beta", "10.0.0.2/24", 1500), "gamma": host("gamma", "10.9.0.2/24", 1500),
	}}
	failed := errors.New("failed")
	got, err := Fabric(t.Context(), f, map[string]ask.Host{"alpha": &network{links: []int{1500}}, "beta": &network{links: []int{1500}}, "gamma": &network{fails: failed}})
	if err != nil || len(got) != 2 || got[0].Proven() || got[0].Passes != 1500 || !got[1].Proven() {
		t.Errorf("%+v, %v", got, err)
	}
	found := diagnosehost.Pairs(f, got)
	if len(found) != 1 || found[0].Kind != diagnosehost.PairMTU || found[0].Severity != diagnosehost.Fault {
		t.Errorf("findings: %+v", found)
	}
	if got, err = Fabric(t.Context(), f, map[string]ask.Host{"alpha": &network{fails: failed}, "beta": &network{links: []int{1500}}}); !errors.Is(err, failed) || len(got) != 1 {
		t.Errorf("with a host that cannot send: %+v, %v", got, err)
	}
}
