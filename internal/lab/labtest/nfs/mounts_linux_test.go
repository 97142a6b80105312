package nfs

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// The lab: two hosts with a bond of two links each, cable to cable.
const (
	linkRate = 100 * unit.Mbps
	burst    = 256 * unit.KiB
	perMount = 32 << 20 // bytes that each mount's copy writes
)

var (
	subnet = netip.MustParsePrefix("10.77.0.0/24")
	client = netip.MustParseAddr("10.77.0.1")
	server = netip.MustParseAddr("10.77.0.2")
	ports  = []string{"p0", "p1"}
)

// TestMountsUseBothLinks mounts by the very commands that steer prints, to the
// addresses that it chose: with max_connect, and with NFS 4.0, each link
// carries half of what is copied; NFS 4.2 without it has one connection, and
// the rate of one link.
func TestMountsUseBothLinks(t *testing.T) {
	loadModules(t, "nfsd", "nfsv4")
	near, far := newPair(t)
	picked := chooseAddresses(t, near, far)
	for _, a := range picked.AddFar {
		floor.Must(t, far.Builder.Address("bond0", netip.PrefixFrom(a, subnet.Bits())))
	}
	serve(t, far, subnet.String(), 2)
	one := copyOver(t, near, picked, snippet.NFS42, func(line string) string {
		return strings.Replace(line, ",max_connect=2", "", 1)
	})
	if one.connections != 1 {
		t.Errorf("NFS 4.2 without max_connect: %d connections, want 1", one.connections)
	}
	if one.rate > 1.1*linkRate {
		t.Errorf("NFS 4.2 without max_connect: %v over one link of %v", one.rate, linkRate)
	}
	for _, version := range []snippet.NFSVersion{snippet.NFS42, snippet.NFS40} {
		two := copyOver(t, near, picked, version, func(line string) string { return line })
		if two.connections != 2 {
			t.Errorf("NFS %s: %d connections, want 2", version, two.connections)
		}
		for i, share := range two.shares {
			if share < 0.45 || share > 0.55 {
				t.Errorf("NFS %s: link %d carries %.3f of the bytes, want 0.45 to 0.55", version, i, share)
			}
		}
		if two.rate < 1.8*one.rate {
			t.Errorf("NFS %s: %v over two links, %v over one", version, two.rate, one.rate)
		}
	}
}

func newPair(t *testing.T) (near, far floor.Space) {
	t.Helper()
	near, far = floor.NewSpace(t, "nfs-near"), floor.NewSpace(t, "nfs-far")
	for _, p := range ports {
		floor.Must(t, near.Builder.Veth(p, far.Builder, p))
	}
	policy := netstate.Layer23
	for _, host := range []struct {
		floor.Space
		addr netip.Addr
	}{{near, client}, {far, server}} {
		floor.Must(t, host.Builder.Up("lo"))
		floor.Must(t, host.Builder.Bond("bond0", rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &policy, Miimon: 100 * time.Millisecond}, ports))
		floor.Must(t, host.Builder.Address("bond0", netip.PrefixFrom(host.addr, subnet.Bits())))
		for _, p := range ports {
			floor.Must(t, host.Builder.Shape(p, linkRate, burst, 50*time.Millisecond))
		}
	}
	return near, far
}

// hostOf reads a host once both links of its bond are in use.
func hostOf(t *testing.T, s floor.Space) netstate.Host {
	t.Helper()
	var h netstate.Host
	floor.Must(t, s.NS.Do(func() error {
		handle, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer handle.Close()
		for range 300 {
			if h.Links, err = handle.Links(); err != nil {
				return err
			}
			if len(h.UsablePorts("bond0")) == len(ports) {
				break
			}
			floor.Pause()
		}
		release, err := os.ReadFile("/proc/sys/kernel/osrelease")
		h.Kernel = netstate.Kernel{OS: "linux", Release: strings.TrimSpace(string(release))}
		return err
	}))
	return h
}

func chooseAddresses(t *testing.T, near, far floor.Space) steer.Addresses {
	t.Helper()
	nearHost, farHost := hostOf(t, near), hostOf(t, far)
	sends, err := steer.BundleOf(nearHost, "bond0")
	floor.Must(t, err)
	answers, err := steer.BundleOf(farHost, "bond0")
	floor.Must(t, err)
	nearBond, _ := nearHost.Link("bond0")
	farBond, _ := farHost.Link("bond0")
	picked, err := steer.PickAddresses(steer.AddressRequest{
		Near: sends, Back: answers, Subnet: subnet, Src: client, Dst: server, Lanes: 2,
		Frame: flow.Frame{Tuple: flow.Tuple{Dport: 2049}, SrcMAC: nearBond.MAC, DstMAC: farBond.MAC},
	})
	floor.Must(t, err)
	if !picked.Even {
		t.Fatalf("addresses %v are not even: %s", picked.Lanes, picked.Why)
	}
	t.Logf("lanes %v", picked.Lanes)
	return picked
}

// copied is how one copy over all mounts went.
type copied struct {
	connections int
	shares      []float64
	rate        unit.BitRate
}

// copyOver mounts as steer prints it, edited, writes a file on each mount at
// the same time, and unmounts.
func copyOver(t *testing.T, near floor.Space, picked steer.Addresses, version snippet.NFSVersion, edit func(string) string) copied {
	t.Helper()
	m := snippet.NFSMounts{Export: "/", Point: t.TempDir(), Version: version}
	for _, l := range picked.Lanes {
		m.Servers = append(m.Servers, l.Dst)
	}
	for _, line := range m.Commands() {
		command(t, near, "sh", "-c", edit(line))
	}
	defer func() {
		for _, one := range m.Mounts() {
			command(t, near, "umount", one.Dir)
		}
	}()
	for _, one := range m.Mounts() { // the server's grace period is not to be timed
		floor.Must(t, os.WriteFile(filepath.Join(one.Dir, "first"), nil, 0o600))
	}
	out := copied{connections: connections(t, near, m.Servers)}
	before, start := counters(t, near), time.Now()
	done := make(chan error)
	for _, one := range m.Mounts() {
		go func() { done <- writeFile(filepath.Join(one.Dir, "data")) }()
	}
	for range m.Mounts() {
		floor.Must(t, <-done)
	}
	took := time.Since(start)
	sum := uint64(0)
	after := counters(t, near)
	for i := range after {
		after[i] -= before[i]
		sum += after[i]
	}
	for _, n := range after {
		out.shares = append(out.shares, float64(n)/float64(sum))
	}
	out.rate = unit.BitRate(float64(len(m.Servers)) * perMount * 8 / took.Seconds())
	t.Logf("NFS %s: %s: %d connections, links carry %.3f, %v in %.2f s", version, edit(m.Commands()[1]), out.connections, out.shares, out.rate, took.Seconds())
	return out
}

// writeFile writes and waits until the server has it.
func writeFile(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 1<<20)
	for range perMount / len(block) {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	return f.Sync()
}

func counters(t *testing.T, s floor.Space) []uint64 {
	t.Helper()
	var out []uint64
	floor.Must(t, s.NS.Do(func() error {
		handle, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer handle.Close()
		all, err := handle.Counters(ports)
		for _, c := range all {
			out = append(out, c.Counters.TxBytes)
		}
		return err
	}))
	return out
}

// connections counts the established connections to the servers, as steer
// addresses --check does, by sock_diag.
func connections(t *testing.T, s floor.Space, servers []netip.Addr) int {
	t.Helper()
	words := make([]string, len(servers))
	for i, a := range servers {
		words[i] = a.String()
	}
	var stdout, stderr bytes.Buffer
	app := &console.Console{Version: "test", Stdout: &stdout, Stderr: &stderr, Getenv: os.Getenv}
	if status := root.Run(app, []string{"steer", "addresses", "--check", strings.Join(words, ","), "--host", "netns:" + s.NS.Name, "--json"}); status != 0 {
		t.Fatalf("steer addresses --check: exit status %d: %s", status, &stderr)
	}
	var doc struct {
		Servers []struct {
			Dst   netip.Addr `json:"dst"`
			Count int        `json:"connections_count"`
		} `json:"servers"`
	}
	floor.Must(t, json.Unmarshal(stdout.Bytes(), &doc))
	if len(doc.Servers) != len(servers) {
		t.Fatalf("asked for %d servers, told of %d", len(servers), len(doc.Servers))
	}
	n := 0
	for _, one := range doc.Servers {
		n += one.Count
	}
	return n
}
