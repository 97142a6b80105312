package overssh

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
)

// catalyst is a switch's command line behind sshd: it prints what a Catalyst does, with the
// counters that the kernel of the rack's switch has of the ports, and notes what was typed.
const catalyst = `#!/bin/sh
echo "$SSH_ORIGINAL_COMMAND" >>%[1]s
port() {
  in=/sys/class/net/$2/statistics
  echo "$1 is up, line protocol is up (connected)"
  echo "  Hardware is Gigabit Ethernet, address is 0200.0000.01ff (bia 0200.0000.01ff)"
  echo "  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,"
  echo "  Full-duplex, 1000Mb/s, media type is 10/100/1000BaseTX"
  echo "  Input queue: 0/75/0/0 (size/max/drops/flushes); Total output drops: $(cat $in/tx_dropped)"
  echo "     $(cat $in/rx_packets) packets input, $(cat $in/rx_bytes) bytes, 0 no buffer"
  echo "     $(cat $in/rx_errors) input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored"
  echo "     $(cat $in/tx_packets) packets output, $(cat $in/tx_bytes) bytes, 0 underruns"
  echo "     $(cat $in/tx_errors) output errors, 0 collisions, 0 interface resets"
}
heard() {
  echo "------------------------------------------------"
  printf 'Local Intf: %%s\nChassis id: %%s\nPort id: eth0\nPort Description: eth0\nSystem Name: %%s\n\n' "$1" "$2" "$3"
}
case $SSH_ORIGINAL_COMMAND in
"show version") echo "Cisco IOS Software [Amsterdam], Catalyst L3 Switch Software (CAT9K_IOSXE), Version 17.3.4" ;;
"show running-config") printf '!\nversion 17.3\nhostname leaf7\n!\nport-channel load-balance src-mac\n!\ninterface GigabitEthernet1/0/1\n switchport access vlan 10\n!\nend\n' ;;
"show interfaces") port GigabitEthernet1/0/1 port1; port GigabitEthernet1/0/2 port2 ;;
"show lldp neighbors detail") heard Gi1/0/1 0200.0000.0001 h1; heard Gi1/0/2 0200.0000.0002 h2 ;;
*) echo "%% Invalid input detected at '^' marker." ;;
esac
`

// TestSwitchShows: a switch that is reached by ssh alone says which ports lead to the hosts,
// and what these carried of a trial: as much as the hosts sent. Nothing but show commands is
// typed there, and a name that is a command is none.
func TestSwitchShows(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: hosts with an sshd each")
	}
	script := filepath.Join(t.TempDir(), "cli")
	floor.Must(t, os.WriteFile(script, fmt.Appendf(nil, catalyst, "/usr/local/bin/typed"), 0o755))
	r := newRack(t, 20_000_000, hosting{}, hosting{})
	floor.Must(t, r.fabric.Builder.Address("br0", netip.PrefixFrom(r.addr(253), 24)))
	floor.Must(t, r.fabric.Builder.Up("lo"))
	h := newHost(t, r.fabric, "leaf", r.addr(253), hosting{installed: script, force: "/usr/local/bin/linerate"})
	r.hosts = append(r.hosts, h)
	r.trust()
	floor.Must(t, os.WriteFile(r.config, fmt.Appendf([]byte(own(t, r.config)), "Host leaf\n  HostName %s\n", h.addr), 0o600))
	out := filepath.Join(r.path, "fabric.yaml")
	got := r.run("discover", r.reach(1, "root", ""), r.reach(2, "root", ""), "--switch", "ssh://root@leaf", "-o", out)
	text := own(t, out)
	f, err := fabric.Parse(out, []byte(text))
	floor.Must(t, err)
	for host, port := range map[string]string{"h1": "Gi1/0/1", "h2": "Gi1/0/2"} {
		if f.Topology == nil {
			t.Fatalf("no switches: %s\n%s", got.err, text)
		}
		if at, ok := f.Topology.Where(host, "eth0"); !ok || at != (topology.At{Switch: "leaf7", Port: port}) {
			t.Errorf("%s hangs on %v, want leaf7 %s:\n%s", host, at, port, text)
		}
	}
	kept := filepath.Join(r.path, "record.json")
	if got := r.run("measure", out, "--streams", "1", "--directions", "forward", "--duration", "8s", "--ping-count", "1", "--no-loaded-latency", "-o", kept); got.status != 0 {
		t.Fatalf("status %d: %s", got.status, got.err)
	}
	var rec record.Record
	floor.Must(t, json.Unmarshal([]byte(own(t, kept)), &rec))
	if len(rec.Trials) != 1 {
		t.Fatalf("%d trials", len(rec.Trials))
	}
	trial := rec.Trials[0]
	in, _ := trial.PortOf("leaf7", "Gi1/0/1")
	to, ok := trial.PortOf("leaf7", "Gi1/0/2")
	if !ok || to.TxBytes == nil || in.RxBytes == nil {
		t.Fatalf("no counts: %+v", trial.Switches)
	}
	t.Logf("goodput %v, the switch read %v in and %v out, over %.1f s", trial.Goodput, in.Rx, to.Tx, trial.Switches[0].Over)
	for _, seen := range []float64{float64(in.Rx), float64(to.Tx)} {
		if ratio := seen / float64(trial.Goodput); ratio < 0.9 || ratio > 1.25 {
			t.Errorf("the switch saw %.2f of the goodput", ratio)
		}
	}
	if trial.Switches[0].Source != topology.SSH {
		t.Errorf("source %q", trial.Switches[0].Source)
	}
	lines := strings.Split(strings.TrimSpace(own(t, filepath.Join(h.root, "usr/local/bin/typed"))), "\n")
	for _, line := range lines {
		if !strings.HasPrefix(line, "show ") {
			t.Errorf("typed %q", line)
		}
	}
	t.Logf("%d commands typed", len(lines))
	if got := r.run("discover", r.reach(1, "root", ""), "--switch", "ssh://leaf;reload"); got.status == 0 {
		t.Error("a name with a command in it is taken")
	}
}
