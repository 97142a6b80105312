package measure

import (
	"math"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// listened is a trial with one lane each way that carried 100 Mb/s for 2 s,
// and what a server says of it.
func listened(protocol string, forward agentapi.IPerf3Count) record.Trial {
	t := &trial{spec: Spec{From: "near", To: "far", Direction: flow.Both, Streams: 1, Protocol: protocol}, feed: &feed{}}
	t.feed.ended = &agentapi.IPerf3EndReply{Streams: []agentapi.IPerf3Count{forward, {Retransmits: 7}}, CPU: 0.5}
	out := record.Trial{Window: 2, CPU: []record.CPUUse{{Host: "near"}, {Host: "far"}}, Lanes: []record.Lane{
		{Way: flow.Forward, Goodput: 100 * unit.Mbps, EgressLink: "eth0", IngressLink: "unknown"},
		{Way: flow.Reverse, Goodput: 100 * unit.Mbps, EgressLink: "unknown", IngressLink: "eth0"},
	}}
	t.addServer(&out)
	return out
}

// The server's count decides where it is less than what was acknowledged, and
// what nobody can know of its host is left out.
func TestAddServer(t *testing.T) {
	for name, c := range map[string]struct {
		count agentapi.IPerf3Count
		want  float64 // Mb/s forward
		note  string
	}{
		"agrees":    {agentapi.IPerf3Count{Own: 50e6, Server: 50e6, ServerSeconds: 4}, 100, "counted 100 Mbit/s over its whole test of 4.0 s"},
		"took less": {agentapi.IPerf3Count{Own: 50e6, Server: 40e6, ServerSeconds: 4}, 80, "the lesser of the two is used"},
		"took more": {agentapi.IPerf3Count{Own: 50e6, Server: 60e6, ServerSeconds: 4}, 100, "the lesser of the two is used"},
		"silent":    {agentapi.IPerf3Count{Own: 50e6}, 100, ""},
	} {
		out := listened("tcp", c.count)
		if got := float64(out.Lanes[0].Goodput) / 1e6; math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %.1f Mb/s, want %.1f", name, got, c.want)
		}
		if all := strings.Join(out.Notes, " "); !strings.Contains(all, c.note) {
			t.Errorf("%s: notes %q", name, all)
		}
		if out.Tool != "iperf3" || out.Lanes[0].IngressLink != "" || out.Lanes[1].EgressLink != "" || out.Lanes[1].Retransmits != 7 || len(out.CPU) != 2 || out.CPU[1].Busy != 0.5 {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// Of UDP the share that arrived is the server's word, put on the window.
func TestAddServerDatagrams(t *testing.T) {
	out := listened("udp", agentapi.IPerf3Count{Own: 50e6, Server: 45e6, ServerSeconds: 4, Packets: 50_000, Lost: 5_000})
	u := out.Lanes[0].UDP
	if u == nil || u.Payload != 1000 || math.Abs(u.LossRatio-0.1) > 1e-9 || u.Received != 22_500 || u.Lost != 2_500 || math.Abs(float64(out.Lanes[0].Goodput)-90e6) > 1 {
		t.Errorf("%+v at %v", u, out.Lanes[0].Goodput)
	}
}

// A server that says nothing leaves a note in the place of its figures.
func TestAddServerWithout(t *testing.T) {
	tr := &trial{spec: Spec{From: "near", To: "far", Direction: flow.Forward, Streams: 1}, feed: &feed{ended: &agentapi.IPerf3EndReply{Why: "it hung up"}}}
	out := record.Trial{Lanes: []record.Lane{{Way: flow.Forward, Goodput: 5}}}
	tr.addServer(&out)
	if all := strings.Join(out.Notes, " "); !strings.Contains(all, "it hung up") || !strings.Contains(all, "acknowledged") || out.Lanes[0].Goodput != 5 {
		t.Errorf("%q, %v", all, out.Lanes[0].Goodput)
	}
}
