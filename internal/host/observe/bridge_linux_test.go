package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/kernel/feature"
)

// TestKernelBridge reads a bridge with a port by netlink and by sysfs: the
// options have the same names and values both ways.
func TestKernelBridge(t *testing.T) {
	inNewNamespace(t, true, func() error {
		port, err := vethPair("lr0", "lr1")
		if err != nil {
			return err
		}
		attrs := netlink.NewLinkAttrs()
		attrs.Name = "lrbr"
		bridge := &netlink.Bridge{LinkAttrs: attrs}
		if err := netlink.LinkAdd(bridge); errors.Is(err, syscall.EOPNOTSUPP) {
			t.Skip("this kernel has no bridges")
		} else if err != nil {
			return err
		}
		if err := netlink.LinkSetMaster(port, bridge); err != nil {
			return err
		}
		// The first needs CONFIG_BRIDGE_VLAN_FILTERING, which not all have.
		_ = os.WriteFile("/sys/class/net/lrbr/bridge/vlan_filtering", []byte("1"), 0)
		if err := os.WriteFile("/sys/class/net/lrbr/bridge/ageing_time", []byte("12300"), 0); err != nil {
			return err
		}
		live, err := Observe(context.Background(), Config{})
		if err != nil {
			return err
		}
		copied, err := Captured(thisNamespace{os.DirFS("/")})
		if err != nil {
			return err
		}
		l, _ := live.Link("lrbr")
		c, _ := copied.Link("lrbr")
		if l.Bridge == nil || c.Bridge == nil {
			return fmt.Errorf("bridge read as %+v, captured as %+v", l.Bridge, c.Bridge)
		}
		if !slices.Equal(l.Bridge.Ports, []string{"lr0"}) || l.Bridge.Options["ageing_time"] != "12300" || l.Bridge.Options["stp_state"] != "0" {
			t.Errorf("bridge: %+v", l.Bridge)
		}
		same := 0
		for name, value := range l.Bridge.Options {
			told, ok := c.Bridge.Options[name]
			if ok && told != value {
				t.Errorf("%s is %q, in sysfs %q", name, value, told)
			}
			if ok {
				same++
			}
		}
		// Filtering of VLANs and the like have files where they are built in.
		if same < 10 {
			t.Errorf("only %d of %d options are files of sysfs", same, len(l.Bridge.Options))
		}
		return nil
	})
}

// TestKernelPartner: who answers LACP on each port of a bond, and whether its
// churn machines are content, which only /proc says.
func TestKernelPartner(t *testing.T) {
	if err := feature.Need(feature.Bonding); err != nil {
		t.Skip(err)
	}
	inNewNamespace(t, true, func() error {
		if _, err := vethPair("lr0", "lr1"); err != nil {
			return err
		}
		if _, err := lacpBond("bond0", "lr0"); err != nil {
			return err
		}
		peer, err := lacpBond("bond1", "lr1")
		if err != nil {
			return err
		}
		return until(func() error {
			h, err := Observe(context.Background(), Config{})
			if err != nil {
				return err
			}
			l, _ := h.Link("lr0")
			bond, _ := h.Link("bond0")
			if l.Port == nil || bond.Bond == nil || bond.Bond.AD == nil {
				return fmt.Errorf("port %+v of %+v", l.Port, bond.Bond)
			}
			if got, want := l.Port.PartnerMAC.String(), peer.Attrs().HardwareAddr.String(); got != want || l.Port.PartnerKey == 0 || l.Port.ActorChurn == "" || l.Port.PartnerState&0x3c != 0x3c {
				return fmt.Errorf("partner %s, want %s: %s", got, want, cmp.Diff(nil, l.Port))
			}
			return nil
		})
	})
}

// until asks again until there is no error, for as long as LACP and its timers
// take to come to rest.
func until(ask func() error) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := ask()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}
