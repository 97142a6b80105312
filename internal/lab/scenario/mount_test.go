package scenario

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestConnections(t *testing.T) {
	one, two, three := netip.MustParseAddr("10.9.0.2"), netip.MustParseAddr("10.9.0.3"), netip.MustParseAddr("10.9.0.4")
	for _, c := range []struct {
		name   string
		mounts []Mount
		want   map[netip.Addr]int
	}{
		{"one", []Mount{{Server: one, Version: NFS42}}, map[netip.Addr]int{one: 1}},
		{"4.2 sees one server", []Mount{{Server: one, Version: NFS42}, {Server: two, Version: NFS42}}, map[netip.Addr]int{one: 1}},
		{"max_connect", []Mount{{one, NFS42, 0, 2}, {two, NFS42, 0, 2}, {three, NFS42, 0, 2}}, map[netip.Addr]int{one: 1, two: 1}},
		{"the first one's counts", []Mount{{one, NFS41, 0, 0}, {two, NFS41, 0, 2}}, map[netip.Addr]int{one: 1}},
		{"nconnect of the first", []Mount{{one, NFS42, 4, 0}, {one, NFS42, 8, 0}}, map[netip.Addr]int{one: 4}},
		{"4.0 has its own", []Mount{{Server: one, Version: NFS40}, {Server: two, Version: NFS40}}, map[netip.Addr]int{one: 1, two: 1}},
	} {
		if got := Connections(c.mounts); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMountOptions(t *testing.T) {
	m := Mount{netip.MustParseAddr("10.9.0.2"), NFS42, 4, 2}
	if got, want := m.Options(), "vers=4.2,proto=tcp,nconnect=4,max_connect=2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m = Mount{Server: netip.MustParseAddr("fd00::2"), Version: NFS40}
	if got, want := m.Options(), "vers=4.0,proto=tcp6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestMountsChecked: what a file leaves out is filled in, what it gets wrong is
// said.
func TestMountsChecked(t *testing.T) {
	step := func(m string) string { return two + "  {name: x, steps: [{name: s, measure: [{" + m + "}]}]}\n" }
	s := parse(t, step("tool: nfs, from: a, to: b, mounts: [{server: 10.9.0.2}]"))
	m := s.Steps[0].Measure[0]
	if m.Rows() != 1 || m.Size != usualSize || m.Mounts[0].Version != NFS42 || len(m.Streams) != 0 {
		t.Errorf("read %+v", m)
	}
	if needs := s.Needs(); !slices.Contains(needs, NFSServer) || !slices.Contains(needs, NFSClient) {
		t.Errorf("needs %v", needs)
	}
	for text, want := range map[string]string{
		"tool: nfs, from: a, to: b":                                                                  "nothing is mounted",
		"tool: nfs, from: a, to: b, mounts: [{server: 10.9.0.1}]":                                    "no address of b",
		"tool: nfs, from: a, to: b, mounts: [{server: b}]":                                           "unable to parse",
		"tool: nfs, from: a, to: b, mounts: [{server: 10.9.0.2, vers: \"3\"}]":                       "is not known",
		"tool: nfs, from: a, to: b, mounts: [{server: 10.9.0.2, nconnect: 17}]":                      "16",
		"tool: nfs, from: a, to: b, streams: 2, mounts: [{server: 10.9.0.2}]":                        "in place of streams",
		"tool: nfs, from: a, to: b, direction: both, mounts: [{server: 10.9.0.2}]":                   "writes to a server",
		"tool: nfs, from: a, to: b, ports: chosen, mounts: [{server: 10.9.0.2}, {server: 10.9.0.2}]": "one mount",
		"tool: iperf3, from: a, to: b, mounts: [{server: 10.9.0.2}]":                                 "of nfs",
	} {
		if _, err := Parse("x.yaml", []byte(step(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
