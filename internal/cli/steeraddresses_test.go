package cli

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

func TestSteerAddressesJSON(t *testing.T) {
	doc := document(t, run(t, "", "steer", "addresses", "--policy", "layer2+3", "--links", "2", "--kernel", "6.1", "--byte-order", "little",
		"--src", "192.168.10.1", "--dst", "192.168.10.2", "--subnet", "192.168.10.0/24", "--dev", "bond1",
		"--smac", "02:00:00:00:01:11", "--dmac", "02:00:00:00:02:22", "--back-policy", "layer2+3", "--back-links", "2", "--nfs", "/srv", "--json"))
	wantKeys(t, "document", doc, "lanes addresses per_link back_per_link add_near add_far even commands")
	// .2 takes link 0 by the vectors of the facts; the XOR of one bit more the other.
	want := []any{
		map[string]any{"src": "192.168.10.1", "dst": "192.168.10.2", "link": 0.0, "group": 0.0, "back_link": 0.0},
		map[string]any{"src": "192.168.10.1", "dst": "192.168.10.3", "link": 1.0, "group": 1.0, "back_link": 1.0},
	}
	if diff := cmp.Diff(want, doc["lanes"]); diff != "" {
		t.Errorf("lanes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"192.168.10.3"}, doc["add_far"]); diff != "" {
		t.Errorf("add_far (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{1.0, 1.0}, doc["per_link"]); diff != "" {
		t.Errorf("per_link (-want +got):\n%s", diff)
	}
	commands := doc["commands"].(map[string]any)
	wantKeys(t, "commands", commands, "far server client")
	wantKeys(t, "commands.far", commands["far"].(map[string]any), "probe ip netplan")
	wantKeys(t, "commands.client", commands["client"].(map[string]any), "mount fstab check")
	if diff := cmp.Diff([]any{"ip addr add 192.168.10.3/24 dev bond1"}, commands["far"].(map[string]any)["ip"]); diff != "" {
		t.Errorf("ip (-want +got):\n%s", diff)
	}
}

// TestSteerAddressesFits: what is printed for people, but for commands and
// files, keeps to 80 columns.
func TestSteerAddressesFits(t *testing.T) {
	for _, args := range [][]string{
		{"--policy", "layer2+3", "--links", "4", "--kernel", "6.1", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--format", "all"},
		{"--system", "freebsd", "--policy", "l2,l3", "--links", "4", "--src", "10.0.0.1", "--side", "both", "--back-system", "aix", "--back-links", "2"},
		{"--system", "aix", "--links", "3", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--back-policy", "layer2+3", "--back-links", "3", "--far-policy", "layer2", "--far-links", "2"},
	} {
		o := run(t, "", append([]string{"steer", "addresses", "--subnet", "10.0.0.0/24"}, args...)...)
		if o.status != 0 {
			t.Errorf("%v: status %d: %s", args, o.status, o.stderr)
		}
		command := false
		for line := range strings.Lines(o.stdout) {
			command = strings.HasPrefix(line, "# ") || command && line != "\n"
			if len(line) > 81 && (!command || strings.HasPrefix(line, "# ")) {
				t.Errorf("%v: %d columns: %s", args, len(line)-1, line)
			}
		}
	}
}

func TestCountConnections(t *testing.T) {
	tuple := func(src, dst string, dport uint16) flow.Tuple {
		return flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst), Sport: 700, Dport: dport}
	}
	sockets := []agentapi.Socket{
		{Tuple: tuple("10.0.0.1", "10.0.0.2", 2049), State: "established"},
		{Tuple: tuple("::ffff:10.0.0.1", "::ffff:10.0.0.2", 2049), State: "established"},
		{Tuple: tuple("10.0.0.1", "10.0.0.2", 2049), State: "time-wait"},
		{Tuple: tuple("10.0.0.1", "10.0.0.2", 22), State: "established"},
		{Tuple: tuple("10.0.0.1", "10.0.0.9", 2049), State: "established"},
	}
	doc := countConnections(sockets, 2049, []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")})
	if doc.Servers[0].Connections != 2 || doc.Servers[1].Connections != 0 || len(doc.Servers[0].Sources) != 2 {
		t.Errorf("counted %+v", doc)
	}
}

// TestAddressesFromHost: the host's own subnet, MAC address and VLAN count,
// and its addresses are not chosen again.
func TestAddressesFromHost(t *testing.T) {
	host := netstate.Host{Links: []netstate.Link{
		{Name: "bond0", Bond: &netstate.Bond{}, MAC: flow.MAC{2, 0, 0, 0, 0, 1}},
		{Name: "lan", VLAN: &netstate.VLAN{ID: 7, Parent: "bond0"}, MAC: flow.MAC{2, 0, 0, 0, 0, 1}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.0.5/20"), netip.MustParsePrefix("10.1.0.6/20")}},
	}}
	req := steer.AddressRequest{Src: netip.MustParseAddr("10.1.0.5")}
	fromHost(&host, req.Src, &req.Avoid, &req.Subnet, &req.Frame)
	if req.Subnet.String() != "10.1.0.0/20" || req.Frame.VLAN != 7 || req.Frame.SrcMAC != host.Links[0].MAC || len(req.Avoid) != 2 {
		t.Errorf("request %+v", req)
	}
	var l lineFlags
	near, far := l.devices(req, &host)
	if (near != device{"lan", snippet.KindVLAN}) || far.name != noDevice {
		t.Errorf("devices %+v, %+v", near, far)
	}
}
