package subflows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/kernel/mptcp"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/subflow"
)

// TestPrintedLinesMakeTheSubflows uses `linerate steer mptcp` as a person does:
// it reads the client, types the lines printed for both hosts, makes a
// connection, and takes all back.
func TestPrintedLinesMakeTheSubflows(t *testing.T) {
	const links = 2
	up(t, links)
	plan := planned(t, links)
	knowNextHop(t, plan)
	doc := steerMPTCP(t, plan, links)
	var lanes []string
	for i, f := range doc.Subflows {
		if f.Link == nil || *f.Link != plan.Flows[i].Link {
			t.Errorf("subflow %s: the program does not name link %d", f.Lane, plan.Flows[i].Link)
		}
		lanes = append(lanes, f.Lane.String())
	}
	var want []string
	for _, f := range plan.Flows {
		want = append(want, f.Lane.String())
	}
	if diff := cmp.Diff(want, lanes); diff != "" {
		t.Fatalf("subflows (-library +program):\n%s", diff)
	}
	hosts := map[string]string{"client": client, "server": server}
	before := map[string]netstate.MPTCP{}
	for side, host := range hosts {
		before[side] = pathManager(t, host)
		typed(t, host, doc.Commands[side].Set)
	}
	transfer(t, plan)
	for side, host := range hosts {
		typed(t, host, doc.Commands[side].Rollback)
		if diff := cmp.Diff(before[side], pathManager(t, host)); diff != "" {
			t.Errorf("%s, taken back (-before +after):\n%s", side, diff)
		}
	}
	for _, l := range observed(t, client).Links {
		if l.Name == "bond0" && len(l.Addresses) > 1 && l.Addresses[0].Addr().Is4() && l.Addresses[1].Addr().Is4() {
			t.Errorf("addresses left on the client: %v", l.Addresses)
		}
	}
}

// TestAnnouncedAddressesMakeTheSubflows: where only the destination decides
// (AIX's default, were it to speak MPTCP), the server announces aliases and the
// client opens its subflows to them from its own address.
func TestAnnouncedAddressesMakeTheSubflows(t *testing.T) {
	up(t, 2)
	plan, err := subflow.Plan(subflow.SubflowRequest{
		Near:   steer.EtherChannel{Mode: steer.ChannelStandard, Hash: steer.ChannelHashDefault, Adapters: []string{"ent0", "ent1", "ent2"}},
		Client: subnet.Addr().Next(), Server: subnet.Addr().Next().Next(), Subnet: subnet,
	})
	floor.Must(t, err)
	if len(plan.AddNear) > 0 || len(plan.AddFar) != 2 {
		t.Fatalf("%+v, want two aliases of the server", plan)
	}
	setUp(t, plan)
	transfer(t, plan)
}

// knowNextHop gives the client the neighbour that talking to the server would
// have made.
func knowNextHop(t *testing.T, plan subflow.Subflows) {
	t.Helper()
	b, err := rtnl.OpenBuilder(netns.Named(lab.Namespace(client)))
	floor.Must(t, err)
	defer b.Close()
	l, _ := observed(t, server).Link("bond0")
	floor.Must(t, b.Neighbor("bond0", plan.Flows[0].Dst, l.MAC[:]))
}

// steerMPTCP runs the program.
func steerMPTCP(t *testing.T, plan subflow.Subflows, links int) snippet.ShownSubflows {
	t.Helper()
	var stdout, stderr bytes.Buffer
	app := &console.Console{Version: "test", Stdout: &stdout, Stderr: &stderr, Getenv: os.Getenv}
	args := []string{"steer", "mptcp", "--host", "netns:" + lab.Namespace(client), "--json",
		"--src", plan.Flows[0].Src.String(), "--dst", plan.Flows[0].Dst.String(), "--far-dev", "bond0"}
	for _, side := range []string{"far", "back", "back-far"} {
		args = append(args, "--"+side+"-policy", netstate.Layer23.String(), "--"+side+"-links", fmt.Sprint(links))
	}
	if status := root.Run(app, args); status != 0 {
		t.Fatalf("%v: exit status %d: %s", args, status, stderr.String())
	}
	var doc snippet.ShownSubflows
	if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
		t.Fatalf("%v: %v in %s", args, err, stdout.String())
	}
	return doc
}

// typed runs lines in a host's namespace.
func typed(t *testing.T, host string, lines []string) {
	t.Helper()
	floor.Must(t, netns.Named(lab.Namespace(host)).Do(func() error {
		out, err := exec.Command("sh", "-e", "-c", strings.Join(lines, "\n")).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %v: %w: %s", host, lines, err, out)
		}
		return nil
	}))
}

func pathManager(t *testing.T, host string) (m netstate.MPTCP) {
	t.Helper()
	floor.Must(t, netns.Named(lab.Namespace(host)).Do(func() error {
		h, err := mptcp.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		m, err = h.Read()
		return err
	}))
	return m
}

// transfer sends some bytes over one MPTCP connection: every one arrives, over
// the subflows planned.
func transfer(t *testing.T, plan subflow.Subflows) {
	t.Helper()
	const limit = 1_000_003
	source, sink := end(t, client), end(t, server)
	defer source.Close()
	defer sink.Close()
	lane := plan.Flows[0].Lane
	at, err := sink.OpenSink(t.Context(), agentapi.SinkRequest{
		Session: "in", Bind: append([]netip.Addr{lane.Dst}, plan.AddFar...), Peers: []netip.Addr{lane.Src}, Streams: 1, MPTCP: true, Lifetime: time.Minute,
	})
	floor.Must(t, err)
	_, err = source.OpenSource(t.Context(), agentapi.SourceRequest{
		Session: "out", Streams: []agentapi.Stream{{Lane: lane, Dport: uint16(at.Port)}}, MPTCP: true, Lifetime: time.Minute,
	})
	floor.Must(t, err)
	_, err = source.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: limit})
	floor.Must(t, err)
	for range 500 {
		if s := sample(t, sink, "in"); s.Bytes[0] >= limit && s.TCP[0].MPTCP != nil && len(sample(t, source, "out").TCP[0].MPTCP.Subflows) == len(plan.Flows) {
			break
		}
		floor.Pause()
	}
	last := sample(t, sink, "in")
	if last.Bytes[0] != limit {
		t.Errorf("%d bytes arrived, sent were %d", last.Bytes[0], limit)
	}
	checkSubflows(t, plan, sample(t, source, "out").TCP[0].MPTCP.Subflows)
}
