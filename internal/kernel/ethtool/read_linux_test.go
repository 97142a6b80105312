package ethtool

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// TestKernelVeth makes a veth pair in a namespace of its own: its driver,
// features and made-up speed are the same on every kernel.
func TestKernelVeth(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := sys.NewNetNS(); err != nil {
			t.Error(err)
			return
		}
		attrs := netlink.NewLinkAttrs()
		attrs.Name = "lr0"
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "lr1"}); err != nil {
			t.Error(err)
			return
		}
		h, err := Open()
		if err != nil {
			t.Error(err)
			return
		}
		defer h.Close()
		info := h.Read("lr0", "veth")
		if info.Speed != 0 || info.Driver != "veth" || !info.Features["gso"] || !info.Features["tso"] {
			t.Errorf("veth: %+v", info)
		}
		if _, known := info.Features["lro"]; !known {
			t.Errorf("lro unknown: %+v", info.Features)
		}
		if d := info.Device; d.Channels == nil || d.Channels.RxMax < 1 || !slices.Contains(d.Fixed, "lro") || slices.Contains(d.Fixed, "tso") || d.FastestOwn != 0 {
			t.Errorf("veth's device: %+v, channels %+v", d, d.Channels)
		}
		if c, err := h.Channels("lr0"); err != nil || c == nil || *c != *info.Device.Channels {
			t.Errorf("channels %+v, %v", c, err)
		}
		if _, err := h.Rings("absent0"); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENODEV) {
			t.Errorf("rings of an absent link: %v", err)
		}
		if _, err := h.Pause("lr0"); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("pause of a veth: %v", err)
		}
		if len(info.Unknown) == 0 {
			t.Error("no reason for the unknown speed")
		}
		// Taken for a device, the driver's constant would be believed.
		if info := h.Read("lr0", ""); info.Speed == 0 {
			t.Errorf("ETHTOOL_GSET reads no speed of a veth: %+v", info)
		}
		if info := h.Read("absent0", ""); len(info.Unknown) < 3 || info.Driver != "" {
			t.Errorf("absent link: %+v", info)
		}
	}()
	<-done
}
