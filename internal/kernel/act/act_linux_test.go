package act

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/plan"
)

// inNewNamespace runs fn on a thread in a network namespace of its own; the
// thread ends with it.
func inNewNamespace(t *testing.T, fn func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked
		var err error
		defer func() { done <- err }()
		if err = syscall.Unshare(syscall.CLONE_NEWNET); err == nil {
			fn()
		}
	}()
	if err := <-done; err != nil {
		t.Fatalf("unshare: %v", err)
	}
}

func TestKernelLinkAndSysctl(t *testing.T) {
	inNewNamespace(t, func() {
		must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}))
		rmem, err := sysctl.Read("net.ipv4.tcp_rmem")
		must(t, err)
		p := plan.Plan{Steps: []plan.Step{
			{Kind: plan.LinkMTU, Link: "v0", Old: "1500", New: "9000"},
			{Kind: plan.LinkState, Link: "v0", Old: plan.Down, New: plan.Up},
			{Kind: plan.Address, Link: "v0", Address: netip.MustParsePrefix("10.77.0.1/32"), Old: plan.Absent, New: plan.Present},
			{Kind: plan.Address, Link: "v0", Address: netip.MustParsePrefix("10.78.0.1/24"), Old: plan.Absent, New: plan.Present},
			{Kind: plan.Sysctl, Key: "net.ipv4.tcp_rmem", Old: rmem["net.ipv4.tcp_rmem"].Value, New: "4096 65536 1048576"},
		}}
		carryOut(t, p)
		carryOut(t, p.Rollback())
	})
}

func TestKernelErrors(t *testing.T) {
	inNewNamespace(t, func() {
		must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}))
		for name, tt := range map[string]struct {
			step plan.Step
			want error
		}{
			"no link":        {plan.Step{Kind: plan.LinkMTU, Link: "nope", New: "9000"}, fs.ErrNotExist},
			"long name":      {plan.Step{Kind: plan.LinkMTU, Link: "a-name-longer-than-any", New: "9000"}, fs.ErrNotExist},
			"no sysctl":      {plan.Step{Kind: plan.Sysctl, Key: "net.ipv4.made_up", New: "1"}, fs.ErrNotExist},
			"global sysctl":  {plan.Step{Kind: plan.Sysctl, Key: "kernel.panic", New: "0"}, sysctl.ErrGlobal},
			"no bond":        {plan.Step{Kind: plan.BondOption, Link: "v0", Key: "miimon", New: "100"}, errors.ErrUnsupported},
			"unknown kind":   {plan.Step{Kind: "reboot", Link: "v0"}, errors.ErrUnsupported},
			"no address":     {plan.Step{Kind: plan.Address, Link: "v0", New: plan.Present}, fs.ErrInvalid},
			"no link for it": {plan.Step{Kind: plan.Address, Link: "nope", Address: netip.MustParsePrefix("10.77.0.1/32"), New: plan.Present}, fs.ErrNotExist},
			"not there":      {plan.Step{Kind: plan.Address, Link: "v0", Address: netip.MustParsePrefix("10.77.0.9/32"), New: plan.Absent}, syscall.EADDRNOTAVAIL},
			"no route":       {plan.Step{Kind: plan.Route, New: plan.Present}, fs.ErrInvalid},
			"mtu too large":  {plan.Step{Kind: plan.LinkMTU, Link: "v0", New: "70000"}, syscall.EINVAL},
			"mtu not number": {plan.Step{Kind: plan.LinkMTU, Link: "v0", New: "9k"}, nil},
		} {
			err := Kernel{}.Do(context.Background(), tt.step)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
		}
		stopped, cancel := context.WithCancel(context.Background())
		cancel()
		if err := (Kernel{}).Do(stopped, plan.Step{Kind: plan.LinkMTU, Link: "v0", New: "9000"}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

func FuzzParseLink(f *testing.F) {
	f.Add(make([]byte, 16))
	f.Add([]byte("0123456789abcdef\x08\x00\x03\x00eth0\xff\xff\x12\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseLink(b)
		if err == nil {
			_, _ = readBondOption(l, "mode")
		}
	})
}
