package overssh

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// speak has the switch say who it is, on the ports of the first two hosts, until
// the test ends.
func (r *rack) speak(t *testing.T) {
	t.Helper()
	var ports [2]*sys.PacketSocket
	floor.Must(t, r.fabric.NS.Do(func() error {
		for i := range ports {
			port, err := net.InterfaceByName(fmt.Sprintf("port%d", i+1))
			if err != nil {
				return err
			}
			if ports[i], err = sys.OpenPacketSocket(port.Index, 0); err != nil {
				return err
			}
		}
		return nil
	}))
	stop, stopped := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		for {
			for i, port := range ports {
				frame := "\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x09\x01\x88\xcc" +
					"\x02\x07\x04\x02\x00\x00\x00\x09\x00" + fmt.Sprintf("\x04\x0a\x05Ethernet%d", i+1) + "\x06\x02\x00\x78\x0a\x05leaf1\x00\x00"
				_ = port.Send([]byte(frame), 0x88cc) // a port that is down says nothing
			}
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
}

// TestDiscover writes the rack's fabric, without the host that is not there,
// and with the way to become root.
func TestDiscover(t *testing.T) {
	r := newRack(t, 0, hosting{}, hosting{}, hosting{})
	r.speak(t)
	got := r.run("discover", "ssh://ann@h1", "ssh://ann@h2", "ssh://bob@h3", "--become", "sudo", "--lldp", "2s")
	if got.status != 1 || strings.Count(unwrapped(got.err), "h3 is left out: reach h3: cannot become root: sudo asks for a password") != 1 ||
		!strings.Contains(strings.Join(strings.Fields(got.err), " "), "hint: add a line to sudoers there (visudo): bob ALL=(root) NOPASSWD: ALL") {
		t.Errorf("status %d\n%s", got.status, got.err)
	}
	for _, want := range []string{"h1:\n    reach: ssh://ann@h1\n    become: sudo\n", "h2:\n", "rtt: ", "10.97.0.2/24", "# by LLDP: switch leaf1: h1 eth0 on port Ethernet1, h2 eth0 on port Ethernet2\n"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("it has no %q:\n%s", want, got.out)
		}
	}
	if strings.Contains(got.out, "bob") {
		t.Errorf("h3 is in it:\n%s", got.out)
	}
	r.clean()
}

// TestDiscoverByBus writes the same fabric of the same hosts over NATS as over ssh:
// addresses, round trips, and links that LLDP says meet on one switch.
func TestDiscoverByBus(t *testing.T) {
	r := newRack(t, 0, hosting{}, hosting{}, hosting{})
	r.speak(t)
	over := r.run("discover", "ssh://root@h1", "ssh://root@h2", "ssh://root@h3", "--lldp", "2s")
	bus := r.serve(t)
	defer r.clean()
	defer bus.agents(t)()
	got := bus.measure("discover", "nats:h1", "nats:h2", "nats:h9", "nats:h3", "--lldp", "2s")
	if over.status != 0 || got.status != 1 || strings.Count(unwrapped(got.err), "h9 is left out: reach h9: host is unreachable: no agent called h9 is on NATS") != 1 {
		t.Errorf("status %d over ssh, %d over NATS\n%s\n%s", over.status, got.status, over.err, got.err)
	}
	if !strings.Contains(got.out, "reach: nats:h2\n") || strings.Count(got.out, "rtt: ") != 3 || !strings.Contains(got.out, "# by LLDP: switch leaf1: h1 eth0 on port Ethernet1, h2 eth0 on port Ethernet2\n") {
		t.Errorf("over NATS:\n%s", got.out)
	}
	if diff := cmp.Diff(besidesWay(over.out), besidesWay(got.out)); diff != "" {
		t.Errorf("over ssh (-), over NATS (+)\n%s", diff)
	}
}

// besidesWay is a fabric without how its hosts are reached, and without what is
// measured anew each time.
func besidesWay(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = changing.ReplaceAllString(line, "rtt: ?")
		if !strings.Contains(line, "reach: ") {
			out = append(out, line)
		}
	}
	return out
}

var changing = regexp.MustCompile(`rtt: [^ ,}\n]+`)
