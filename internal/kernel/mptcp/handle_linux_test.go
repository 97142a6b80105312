package mptcp

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
)

// inNamespace runs fn with a handle on a thread of its own in an empty
// namespace.
func inNamespace(t *testing.T, fn func(h *Handle)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := sys.NewNetNS()
		if err != nil {
			done <- err
			return
		}
		h, err := Open()
		if err == nil {
			defer h.Close()
			fn(h)
		}
		done <- err
	}()
	switch err := <-done; {
	case errors.Is(err, ErrNoMPTCP):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

func TestKernelPathManager(t *testing.T) {
	inNamespace(t, func(h *Handle) {
		first, err := h.Read()
		if want := (netstate.MPTCP{Subflows: 2}); err != nil || !cmp.Equal(first, want) {
			t.Errorf("a new namespace has %+v, %v, want %+v", first, err, want)
		}
		if err := h.SetLimits(8, 3); err != nil {
			t.Error(err)
		}
		endpoints := []netstate.MPTCPEndpoint{
			{Addr: netip.MustParseAddr("10.9.0.11"), Flags: netstate.MPTCPSubflow | netstate.MPTCPBackup},
			{Addr: netip.MustParseAddr("fd00:9::11"), Flags: netstate.MPTCPSubflow | netstate.MPTCPFullmesh, Index: 1},
			{ID: 77, Addr: netip.MustParseAddr("10.9.0.13"), Flags: netstate.MPTCPSignal, Port: 5202},
		}
		for _, e := range endpoints {
			if err := h.Add(e); err != nil {
				t.Error(err)
			}
		}
		got, err := h.Read()
		want := netstate.MPTCP{Subflows: 8, AddAddrAccepted: 3, Endpoints: append([]netstate.MPTCPEndpoint(nil), endpoints...)}
		want.Endpoints[0].ID, want.Endpoints[1].ID = 1, 2 // the kernel's choice
		if diff := cmp.Diff(want, got, compareAddr); err != nil || diff != "" {
			t.Errorf("read back %v (-want +got):\n%s", err, diff)
		}
		sayTheSame(t)
		refusals(t, h, got)
		if err := h.Delete(got.Endpoints[0]); err != nil {
			t.Error(err)
		}
		if left, err := h.Read(); err != nil || len(left.Endpoints) != 2 {
			t.Errorf("after one deletion: %+v, %v", left, err)
		}
		for _, e := range got.Endpoints[1:] {
			if err := h.Delete(e); err != nil {
				t.Error(err)
			}
		}
		if left, err := h.Read(); err != nil || len(left.Endpoints) != 0 {
			t.Errorf("after every deletion: %+v, %v", left, err)
		}
	})
}

func refusals(t *testing.T, h *Handle, m netstate.MPTCP) {
	t.Helper()
	if err := h.Add(netstate.MPTCPEndpoint{Addr: m.Endpoints[0].Addr, Flags: netstate.MPTCPSubflow}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the same address again: %v, want fs.ErrExist", err)
	}
	if err := h.SetLimits(netstate.MPTCPMax+1, 0); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("limit above the maximum: %v", err)
	}
	if err := h.Add(netstate.MPTCPEndpoint{}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("no address: %v", err)
	}
	// That the kernel itself has the maximum that netstate says.
	if err := h.do(cmdSetLimits, attribute32(attrRcvAddAddrs, netstate.MPTCPMax+1), attribute32(attrSubflows, 2)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("the kernel took a limit of %d: %v", netstate.MPTCPMax+1, err)
	}
}

// sayTheSame compares the kernel's state with the words and numbers of
// ip-mptcp(8), where that is installed.
func sayTheSame(t *testing.T) {
	t.Helper()
	out, err := exec.Command("ip", "mptcp", "endpoint", "show").CombinedOutput()
	if err != nil {
		t.Logf("ip mptcp: not compared: %v", err)
		return
	}
	text := strings.Join(strings.Fields(string(out)), " ")
	for _, want := range []string{"10.9.0.11 id 1 subflow backup", "fd00:9::11 id 2 subflow fullmesh", "10.9.0.13 port 5202 id 77 signal"} {
		if !strings.Contains(text, want) {
			t.Errorf("ip mptcp says %q, without %q", text, want)
		}
	}
}
