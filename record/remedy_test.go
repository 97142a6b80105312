package record

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/linerate/linerate/flow"
)

// TestRemedyText: what is printed is made of the steps, and every step is printed.
func TestRemedyText(t *testing.T) {
	for _, c := range []struct {
		remedy Remedy
		want   string
	}{
		{nil, ""},
		{ByHand("find where it drops"), "find where it drops"},
		{Do(Sysctl("b", "net.ipv4.tcp_rmem", "4096 131072 8388608")).Or(Option("--streams", "4")),
			"on b: `sysctl -w 'net.ipv4.tcp_rmem=4096 131072 8388608'` (until the next boot; to keep it, the same in /etc/sysctl.d/); or measure with `--streams 4`"},
		{Do(Run("a", "ip", "rule", "add", "from", "10.0.0.1", "table", "100"), Run("a", "ip", "rule", "add", "from", "10.0.0.2", "table", "101"), Run("b", "ip", "link", "set", "dev", "eth0", "up")),
			"on a: `ip rule add from 10.0.0.1 table 100`, `ip rule add from 10.0.0.2 table 101`; then on b: `ip link set dev eth0 up` (until the next boot; to keep it, the same in the network configuration)"},
		{Do(Option("--pacing", "")), "leave `--pacing` out"},
		{Do(Option("--streams", "2"), Option("--ports", "chosen")), "measure with `--streams 2 --ports chosen`"},
		{Do(Action{Host: "b", Switch: HashPorts}), "on the switch: let its hash toward b read addresses and ports (layer3+4)"},
		{Do(Action{Host: "b", Switch: HashPorts, Lines: []string{"port-channel load-balance src-dst-mixed-ip-port"}}), "on the switch: let its hash toward b read addresses and ports (layer3+4) (`port-channel load-balance src-dst-mixed-ip-port`)"},
		{Do(Action{Host: "b", Switch: OneChannel, Links: []string{"eth1", "eth2"}}), "on the switch: put the ports that lead to eth1, eth2 of b into the LACP channel of its others, with the same speed"},
		{Do(Run("a", "ip", "neigh", "flush", "to", "10.0.0.2")), "on a: `ip neigh flush to 10.0.0.2`"},
	} {
		if got := c.remedy.Text(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	for _, s := range []SwitchSetting{HashPorts, OneChannel} {
		if switchWords[s] == "" {
			t.Errorf("no words for %s", s)
		}
	}
}

// TestRemedyJSON: a program that reads a finding does what a person reads in it.
func TestRemedyJSON(t *testing.T) {
	f := Finding{Direction: flow.Forward, Cause: ReceiveWindow}
	var again Finding
	f.Do(Do(Sysctl("b", "net.ipv4.tcp_rmem", "1 2 3"), Option("--pacing", "")).Or(Ask("look")))
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(f.Ways, again.Ways) || again.Ways.Text() != again.Remedy {
		t.Errorf("%v: %s", err, text)
	}
	lines, options := Do(Sysctl("b", "k", "1"), Option("--streams", "2"), Option("--ports", "chosen")).Or(Ask("x")).Commands()
	if !slices.Equal(lines, []string{"sysctl -w k=1  # on b"}) || options != "--streams 2 --ports chosen" {
		t.Errorf("%q, %q", lines, options)
	}
}

// TestWaysJoined: two ends' steps are one way, each step once, and measured again last.
func TestWaysJoined(t *testing.T) {
	one := Way{Sysctl("a", "k", "1"), Option("--streams", "2")}
	if got := one.Joined(Way{Sysctl("a", "k", "1"), Sysctl("b", "k", "1"), Option("--streams", "2")}).Text(); got != "on a: `sysctl -w k=1`; then on b: `sysctl -w k=1`; then measure with `--streams 2` (until the next boot; to keep it, the same in /etc/sysctl.d/)" {
		t.Error(got)
	}
}
