package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/switchstate"
)

// ios is a switch with a channel of two ports, whose second is not in it.
type ios struct {
	typed []string
	bytes uint64
}

func (s *ios) run(_ context.Context, c Command) (string, error) {
	s.typed = append(s.typed, c.String())
	switch c.String() {
	case "show version":
		return "Cisco IOS Software [Amsterdam], Catalyst L3 Switch Software, Version 17.3.4\r\n", nil
	case "show running-config":
		return "Current configuration : 900 bytes\n!\nversion 17.3\nhostname leaf7\n!\nport-channel load-balance src-mac\n!\ninterface Port-channel10\n switchport mode trunk\n!\ninterface GigabitEthernet1/0/1\n channel-group 10 mode active\n!\ninterface GigabitEthernet1/0/2\n channel-group 10 mode active\n!\nend\n", nil
	case "show etherchannel summary":
		return "Flags:  D - down        P - bundled in port-channel\n\nNumber of channel-groups in use: 1\nNumber of aggregators:           1\n\nGroup  Port-channel  Protocol    Ports\n------+-------------+-----------+-----------------------------------------------\n10     Po10(SU)        LACP      Gi1/0/1(P)    Gi1/0/2(s)\n", nil
	case "show interfaces":
		var b strings.Builder
		for port := 1; port <= 2; port++ {
			s.bytes += 1000
			fmt.Fprintf(&b, `GigabitEthernet1/0/%[1]d is up, line protocol is up (connected)
  Hardware is Gigabit Ethernet, address is 0200.0000.010%[1]d (bia 0200.0000.010%[1]d)
  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,
     reliability 255/255, txload 1/255, rxload 1/255
  Full-duplex, 1000Mb/s, media type is 10/100/1000BaseTX
  Input queue: 0/75/0/0 (size/max/drops/flushes); Total output drops: %[3]d
  5 minute input rate 0 bits/sec, 0 packets/sec
  5 minute output rate 0 bits/sec, 0 packets/sec
     100 packets input, %[2]d bytes, 0 no buffer
     Received 0 broadcasts (0 multicasts)
     0 runts, 0 giants, 0 throttles
     3 input errors, 2 CRC, 0 frame, 0 overrun, 0 ignored
     200 packets output, %[4]d bytes, 0 underruns
     0 output errors, 0 collisions, 1 interface resets
`, port, s.bytes, 7*port, 50_000_000_000+s.bytes)
		}
		return b.String(), nil
	case "show lldp neighbors detail":
		return "------------------------------------------------\nLocal Intf: Gi1/0/1\nChassis id: 0200.0000.0001\nPort id: 0200.0000.0002\nPort Description: eth0\nSystem Name: storage1\n\nTime remaining: 100 seconds\n\nTotal entries displayed: 1\n", nil
	}
	return "", errors.New("% Invalid input")
}

// TestClient: what a switch prints over ssh becomes the same as what SNMP tells.
func TestClient(t *testing.T) {
	s := &ios{}
	c, err := Dial(t.Context(), "", s.run)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Describe(t.Context())
	if err != nil || d.Name != "leaf7" || d.Vendor != "ios" || d.Hash.Words != "src-mac" || len(d.Channels) != 1 || d.Channels[0].Protocol != switchstate.LACP || len(d.Channels[0].Members) != 2 {
		t.Errorf("described as %+v, %v", d, err)
	}
	if len(d.Neighbors) != 1 || d.Neighbors[0].Link != "Gi1/0/1" || d.Neighbors[0].SystemName != "storage1" {
		t.Errorf("neighbours %+v", d.Neighbors)
	}
	missing, have, err := c.Find(t.Context(), []string{"GigabitEthernet1/0/1", "gi1/0/2", "Te1/0/2", "Gi1/0/20"})
	if err != nil || strings.Join(missing, " ") != "Te1/0/2 Gi1/0/20" || len(have) != 2 {
		t.Errorf("missing %v of %v, %v", missing, have, err)
	}
	before, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		attached bool
		drops    uint64
	}{"GigabitEthernet1/0/1": {true, 7}, "gi1/0/2": {false, 14}} {
		a, b := before.Ports[name], after.Ports[name]
		grown := b.Counters.Sub32(a.Counters, false)
		if !b.Bytes || !b.Drops || !b.Errors || grown.RxBytes != 2000 || grown.TxBytes != 2000 || b.Counters.TxDropped != want.drops || b.Counters.RxErrors != 3 || b.Attached == nil || *b.Attached != want.attached {
			t.Errorf("%s: %+v after %+v", name, b, a)
		}
	}
	for _, line := range s.typed {
		if !strings.HasPrefix(line, "show ") {
			t.Errorf("typed %q", line)
		}
	}
}

// TestCommands: nothing in the list changes a switch, or is more than one command.
func TestCommands(t *testing.T) {
	for _, s := range systems {
		for _, c := range append(s.told, s.count...) {
			line := strings.TrimSuffix(c.String(), " | display set")
			if !strings.HasPrefix(line, "show ") || strings.ContainsAny(line, ";|&$`\n<>'\"\\") {
				t.Errorf("%s: %q", s.name, c)
			}
		}
	}
}

// TestRefused: a switch that is not known, or prints nothing that is read, says so.
func TestRefused(t *testing.T) {
	says := func(text string) Run {
		return func(context.Context, Command) (string, error) { return text, nil }
	}
	if _, err := Dial(t.Context(), "", says("Linux 6.1")); !errors.Is(err, ErrSystem) {
		t.Error(err)
	}
	if _, err := Dial(t.Context(), "procurve", says("")); !errors.Is(err, ErrSystem) || !strings.Contains(err.Error(), "snmp") {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"Cisco IOS Software, Version 15.2": "ios", "Cisco Nexus Operating System (NX-OS) Software\nCisco IOS Software": "nxos", "Arista DCS-7050SX3": "eos",
		"Junos: 21.4R1": "junos", "ArubaOS-CX\n(c) Copyright": "aoscx", "SONiC Software Version: 202311": "sonic",
	} {
		c, err := Dial(t.Context(), "", says(text))
		if err != nil || c.system.name != want {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	c, _ := Dial(t.Context(), "eos", says("% Authorization denied for command"))
	if _, err := c.Read(t.Context()); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
	gone := errors.New("gone")
	c, _ = Dial(t.Context(), "eos", func(context.Context, Command) (string, error) { return "", gone })
	if _, err := c.Describe(t.Context()); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("switch#show interfaces\nGigabitEthernet1/0/1 is up\n")
	f.Fuzz(func(t *testing.T, text string) { _, _ = Parse(text) })
}
