package lldp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// TestKernelListen sends LLDP down one end of a cable, as a switch does, and
// hears it at the other.
func TestKernelListen(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its namespace
		done <- func() error {
			if err := sys.NewNetNS(); err != nil {
				return err
			}
			return listenTest(t)
		}()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func listenTest(t *testing.T) error {
	ports := make([]Port, 2)
	var far [2]int
	for i := range ports {
		name, peer := fmt.Sprintf("eth%d", i), fmt.Sprintf("swp%d", i)
		attrs := netlink.NewLinkAttrs()
		attrs.Name = name
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: peer}); err != nil {
			return err
		}
		for _, n := range []string{name, peer} {
			l, err := netlink.LinkByName(n)
			if err != nil {
				return err
			}
			if err := netlink.LinkSetUp(l); err != nil {
				return err
			}
			if n == name {
				ports[i] = Port{Name: n, Index: l.Attrs().Index}
			} else {
				far[i] = l.Attrs().Index
			}
		}
	}
	senders := [2]*sys.PacketSocket{}
	for i := range senders {
		s, err := sys.OpenPacketSocket(far[i], 0)
		if err != nil {
			return err
		}
		defer s.Close()
		senders[i] = s
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() { // a switch says it again and again
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				_ = senders[0].Send(with(tlv(tlvSystemName, []byte("leaf1")...), tlv(tlvEnd)), EtherType)
			}
		}
	}()
	began := time.Now()
	heard, err := Listen(t.Context(), ports, time.Second)
	if err != nil {
		return err
	}
	if len(heard) != 1 || heard[0].Link != "eth0" || heard[0].SystemName != "leaf1" {
		t.Errorf("heard %+v, want leaf1 on eth0 alone", heard)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("ended after %v although eth1 had heard nothing", took)
	}
	began = time.Now()
	heard, err = Listen(t.Context(), ports[:1], 20*time.Second)
	if err != nil || len(heard) != 1 || time.Since(began) > 10*time.Second {
		t.Errorf("heard %+v, %v after %v: want one at once", heard, err, time.Since(began))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if heard, err := Listen(ctx, ports[1:], time.Minute); !errors.Is(err, context.Canceled) || heard != nil {
		t.Errorf("interrupted: %+v, %v", heard, err)
	}
	return nil
}
