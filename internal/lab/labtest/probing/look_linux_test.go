package probing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/host/calibrate"
	"github.com/linerate/linerate/internal/kernel/lldp"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/probe"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// TestCalibrates has a bond whose kernel could be of any era find out which.
func TestCalibrates(t *testing.T) {
	for policy, counts := range map[netstate.HashPolicy][]int{netstate.Layer2: {2}, netstate.Layer23: {2, 3, 4, 5}, netstate.Layer34: {3, 18}} {
		for _, links := range counts {
			t.Run(fmt.Sprintf("%s/%d links", policy, links), func(t *testing.T) {
				host := newBond(t, policy, links)
				reply, err := host.Observe(t.Context())
				floor.Must(t, err)
				bundle, err := steer.BundleOf(reply.Host, "bond0")
				floor.Must(t, err)
				truth := bundle.Era
				bundle.Era, bundle.Doubt = steer.EraSeparate, steer.Eras()[:steer.EraSeparate]
				placed, err := ask.Call(t.Context(), host, agentapi.Calibrate, agentapi.CalibrateRequest{Bond: "bond0"})
				floor.Must(t, err)
				if !slices.Equal(placed.Ports, bundle.Ports) {
					t.Fatalf("ports %v, want %v", placed.Ports, bundle.Ports)
				}
				eras := steer.Fit(bundle, calibrate.Sightings(placed))
				t.Logf("%s, %d links: %d frames fit %v", policy, links, len(placed.Frames), eras)
				if !slices.Contains(eras, truth) {
					t.Errorf("the true era, %v, was excluded: %v", truth, eras)
				}
				// What the era decides about these is told by so few frames.
				if policy == netstate.Layer23 && slices.Contains(eras, steer.EraShifted) {
					t.Errorf("%v is still in doubt", steer.EraShifted)
				}
				if policy == netstate.Layer23 && links == 3 && len(eras) != 1 {
					t.Errorf("three links tell all eras apart, and %v are left", eras)
				}
			})
		}
	}
}

// TestCalibrationRefuses what leaves nothing to find out, for its true reason.
func TestCalibrationRefuses(t *testing.T) {
	for policy, why := range map[netstate.HashPolicy]string{netstate.Encap34: "random number", netstate.VLANSrcMAC: "nothing to find out"} {
		t.Run(policy.String(), func(t *testing.T) {
			host := newBond(t, policy, 2)
			placed, err := ask.Call(t.Context(), host, agentapi.Calibrate, agentapi.CalibrateRequest{Bond: "bond0"})
			if err == nil || !strings.Contains(err.Error(), why) || len(placed.Frames) > 0 {
				t.Errorf("%v, %v; want no frames and %q", placed, err, why)
			}
		})
	}
}

// newBond is a host with a balance-xor bond in a namespace of its own.
func newBond(t *testing.T, policy netstate.HashPolicy, links int) *fleet.Host {
	t.Helper()
	near, far := floor.NewSpace(t, "calibrate-near"), floor.NewSpace(t, "calibrate-far")
	var ports []string
	for i := range links {
		port, end := fmt.Sprintf("p%d", i), fmt.Sprintf("q%d", i)
		floor.Must(t, near.Builder.Veth(port, far.Builder, end))
		floor.Must(t, far.Builder.Up(end))
		ports = append(ports, port)
	}
	floor.Must(t, near.Builder.Bond("bond0", rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &policy, Miimon: 100e6}, ports))
	h, err := fleet.Dial(t.Context(), "near", "netns:"+near.NS.Name, fleet.Config{Version: "test", Unguarded: true})
	floor.Must(t, err)
	t.Cleanup(func() { h.Close() })
	for range 200 {
		reply, err := h.Observe(t.Context())
		floor.Must(t, err)
		if len(reply.Host.UsablePorts("bond0")) == links {
			return h
		}
		floor.Pause()
	}
	t.Fatalf("the bond's %d links did not come up", links)
	return nil
}

// TestLooksAround is what else a probe looks at, on one network: neighbours,
// what calibration lets out, and the command as a user runs it.
func TestLooksAround(t *testing.T) {
	n := build(t, rand.New(rand.NewPCG(7, 7)), [2]int{2, 3})
	defer n.down(t)
	n.setSwitch(t, netstate.Layer34)
	t.Run("LLDP on a bond's port", n.hearsNeighbors)
	t.Run("calibration reaches nobody", n.calibratesQuietly)
	t.Run("one pair of addresses behind layer2+3", n.saysWhatIsMissing)
	t.Run("beside other traffic", n.besideTraffic)
	t.Run("command", n.runsCommand)
	t.Run("steer show --calibrate", n.showsCalibrated)
}

// besideTraffic: a thousand small packets a second on one link do not decide.
func (n network) besideTraffic(t *testing.T) {
	all, err := probe.Lanes(n.a, n.b, "")
	floor.Must(t, err)
	lane := all[0]
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := ask.Call(ctx, n.near, agentapi.Ping, agentapi.PingRequest{Src: lane.Src, Dst: lane.Dst, Count: 10_000, Interval: time.Millisecond, Timeout: time.Second})
		done <- err
	}()
	report := n.probe(t, 0, 5, nil)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the other traffic had ended by itself: %v", err)
	}
	t.Logf("beside a thousand echoes a second: even %v in %d probes (limit %d), %d repeats", report.Even, report.Found, report.Limit, report.Repeats)
	if !report.Even || report.Found > report.Limit {
		t.Errorf("%+v", report)
	}
	n.sendSet(t, report)
}

// hearsNeighbors: the switch speaks on one port, and is heard there alone.
func (n network) hearsNeighbors(t *testing.T) {
	var index int
	floor.Must(t, netns.Named(switchSpace).Do(func() error {
		h, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		links, err := h.Links()
		if l, ok := (netstate.Host{Links: links}).Link(nearHost + "1"); ok {
			index = l.Index
		}
		return err
	}))
	var socket *sys.PacketSocket
	floor.Must(t, netns.Named(switchSpace).Do(func() (err error) {
		socket, err = sys.OpenPacketSocket(index, 0)
		return err
	}))
	defer socket.Close()
	frame := []byte{1, 0x80, 0xc2, 0, 0, 0xe, 2, 0, 0, 0, 9, 1, 0x88, 0xcc, 2, 7, 4, 2, 0, 0, 0, 9, 0, 4, 4, 5, 's', 'w', '1', 6, 2, 0, 120, 0, 0}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				_ = socket.Send(frame, lldp.EtherType)
			}
		}
	}()
	reply, err := ask.Call(t.Context(), n.near, agentapi.LLDP, agentapi.LLDPRequest{Links: []string{"eth0", "eth1"}, Wait: time.Second})
	floor.Must(t, err)
	if len(reply.Neighbors) != 1 || reply.Neighbors[0].Link != "eth1" || reply.Neighbors[0].Port != "sw1" {
		t.Errorf("heard %+v, want sw1 on eth1 alone", reply.Neighbors)
	}
}

// calibratesQuietly: the switch drops the frames, for it has learned their
// destination behind the port they come from.
func (n network) calibratesQuietly(t *testing.T) {
	heard := func() (frames uint64) {
		reply, err := n.far.Observe(t.Context())
		floor.Must(t, err)
		l, _ := reply.Host.Link("bond0")
		return l.Counters.RxPackets
	}
	before := heard()
	reply, err := ask.Call(t.Context(), n.near, agentapi.Calibrate, agentapi.CalibrateRequest{Bond: "bond0"})
	floor.Must(t, err)
	if got := heard() - before; got > 8 { // LACP speaks meanwhile
		t.Errorf("the far host received %d frames while %d were sent to nobody", got, 2*len(reply.Frames))
	}
	bundle, err := steer.BundleOf(n.a, "bond0")
	floor.Must(t, err)
	if eras := steer.Fit(bundle, calibrate.Sightings(reply)); len(eras) == 0 {
		t.Errorf("no era fits %+v", reply.Frames)
	}
}

// saysWhatIsMissing: behind layer2+3 the ports of one pair of addresses all
// share a link, and the report says what would help.
func (n network) saysWhatIsMissing(t *testing.T) {
	n.setSwitch(t, netstate.Layer23)
	defer n.setSwitch(t, netstate.Layer34)
	report := n.probe(t, 1, 3, nil)
	if report.Even {
		t.Fatalf("even with one pair of addresses: %+v", report)
	}
	for _, side := range report.Sides {
		if even := side.Side.Out(); side.Even != even {
			t.Errorf("%s: even %v, want %v (%v)", side.Side, side.Even, even, side.PerLink)
		}
	}
	said := strings.Join(report.Reasons(), "\n")
	if !strings.Contains(said, "source ports do not seem to matter") || !strings.Contains(said, "linerate steer addresses") {
		t.Errorf("the reasons are\n%s", said)
	}
	if letter := report.Letter(); !strings.Contains(letter, "Hash: please let the switch hash IP addresses and TCP/UDP ports") {
		t.Errorf("the letter is\n%s", letter)
	}
	t.Logf("%d probes (limit %d): %s", report.Probes, report.Limit, said)
}

// runsCommand runs the program's own command line.
func (n network) runsCommand(t *testing.T) {
	for _, document := range []bool{false, true} {
		var out, errs bytes.Buffer
		app := console.System("test")
		app.Stdout, app.Stderr = &out, &errs
		args := []string{"steer", "probe", "netns:" + lab.Namespace(nearHost), "netns:" + lab.Namespace(farHost), "--lldp", "1s"}
		if document {
			args = append(args, "--json")
		}
		if status := root.Run(app, args); status != 0 {
			t.Fatalf("%v: status %d\n%s", args, status, errs.String())
		}
		if document {
			checkDocument(t, out.Bytes())
			continue
		}
		t.Logf("\n%s\n%s", errs.String(), out.String())
		for _, line := range strings.Split(out.String()+errs.String(), "\n") {
			if len([]rune(line)) > 80 {
				t.Errorf("longer than 80 columns: %s", line)
			}
		}
		if !strings.Contains(out.String(), "even: yes, on all sides") {
			t.Error("not even")
		}
	}
}

// showsCalibrated: `steer show --calibrate` on a host's own bond.
func (n network) showsCalibrated(t *testing.T) {
	var out, errs bytes.Buffer
	app := console.System("test")
	app.Stdout, app.Stderr = &out, &errs
	bond, _ := n.b.Link("bond0")
	args := []string{"steer", "show", "--host", "netns:" + lab.Namespace(farHost), "--src", bond.Addresses[0].Addr().String(), "--dst", "10.0.0.1", "--sport", "40000-40003", "--calibrate"}
	if status := root.Run(app, args); status != 0 || !strings.Contains(errs.String(), "note: calibrated: ") {
		t.Errorf("status %d\n%s%s", status, errs.String(), out.String())
	}
}

func checkDocument(t *testing.T, text []byte) {
	t.Helper()
	type stream struct {
		Sport uint16            `json:"sport"`
		Links map[string]string `json:"links"`
	}
	var plain struct {
		Even    bool
		Letter  string
		Streams []stream
		Ports   []uint16
	}
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	if !plain.Even || plain.Letter == "" || len(plain.Ports) != len(plain.Streams) || len(plain.Ports) == 0 || plain.Streams[0].Links["a_sends"] == "" {
		t.Errorf("document: %+v", plain)
	}
}
