package nfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// TestNconnectFillsTheWindow mounts by the commands that steer pick prints for
// NFS: the connections take exactly the ports of the window, and the links of
// a bond by layer3+4 carry equal parts.
func TestNconnectFillsTheWindow(t *testing.T) {
	loadModules(t, "nfsd", "nfsv4")
	near, far := newPair(t)
	for _, s := range []floor.Space{near, far} {
		floor.Must(t, s.NS.DoWithSysfs(func() error {
			return os.WriteFile("/sys/class/net/bond0/bonding/xmit_hash_policy", []byte("layer3+4"), 0o644)
		}))
	}
	serve(t, far, subnet.String(), 1)
	bond, err := steer.BundleOf(hostOf(t, near), "bond0")
	floor.Must(t, err)
	if bond.Policy != netstate.Layer34 {
		t.Fatalf("the bond goes by %s", bond.Policy)
	}
	t.Cleanup(func() { command(t, near, "sysctl", "-w", "sunrpc.min_resvport=665", "sunrpc.max_resvport=1023") })
	for _, connections := range []int{2, 4} {
		picked, how, err := snippet.For(snippet.NFS, steer.PickRequest{Near: bond, Lanes: []flow.Lane{{Src: client, Dst: server}}, Streams: connections})
		floor.Must(t, err)
		if !picked.Even || !how.Exact {
			t.Fatalf("%d connections: %v, %s", connections, picked.PerLink, picked.Why)
		}
		nconnect(t, near, picked, how)
	}
}

func nconnect(t *testing.T, near floor.Space, picked steer.Picked, how snippet.Snippet) {
	t.Helper()
	dir := t.TempDir()
	for _, line := range how.Sender {
		if line == "modprobe sunrpc" { // loaded already, by file
			continue
		}
		command(t, near, "sh", "-c", strings.NewReplacer("/EXPORT", "/", "/MOUNTPOINT", dir).Replace(line))
	}
	defer command(t, near, "umount", dir)
	before := counters(t, near)
	floor.Must(t, writeFile(filepath.Join(dir, "lane0", "data")))
	after := counters(t, near)
	var got, want []uint16
	floor.Must(t, near.NS.Do(func() error {
		sockets, err := sockdiag.Sockets(sockdiag.Query{Proto: flow.TCP, Dport: 2049})
		for _, s := range sockets {
			if s.State == sockdiag.Established {
				got = append(got, s.Sport)
			}
		}
		return err
	}))
	for _, s := range picked.Streams {
		want = append(want, s.Sport)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("connected from ports %v, want %v", got, want)
	}
	share := float64(after[0]-before[0]) / float64(after[0]-before[0]+after[1]-before[1])
	t.Logf("%s: ports %v, links carry %.3f", how.Sender[len(how.Sender)-1], got, []float64{share, 1 - share})
	if share < 0.45 || share > 0.55 {
		t.Errorf("%d connections: the first link carries %.3f of the bytes, want 0.45 to 0.55", len(want), share)
	}
}
