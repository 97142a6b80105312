package steer

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/steer"
)

// shows runs `steer show` with these words.
func shows(t *testing.T, stdin string, json bool, args ...string) (stdout string, err error) {
	t.Helper()
	var out, complaints bytes.Buffer
	con := &console.Console{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &complaints, JSON: json}
	c := newShow(con)
	c.SetArgs(args)
	c.SetOut(&complaints)
	c.SetErr(&complaints)
	err = c.ExecuteContext(context.Background())
	return out.String(), err
}

// What --ask prints, with the switch's answers below, --switch-answer reads.
func TestAskingASwitch(t *testing.T) {
	got, err := shows(t, "", false, "--ask", "nxos", "--channel", "Po10", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--sport", "40000-40001")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != 2 {
		t.Fatalf("%q", got)
	}
	text := "n9k# " + lines[0] + "\nOutgoing port id: Ethernet1/2\nn9k# " + lines[1] + "\nOutgoing port id: Ethernet1/1\n"
	if got, err = shows(t, text, true, "--switch-answer", "-"); err != nil {
		t.Fatal(err)
	}
	var shown steer.Shown
	if err := json.Unmarshal([]byte(got), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.Links != 2 || len(shown.Flows) != 2 || shown.Flows[0].Sport != 40000 || shown.Names[*shown.Flows[0].Link] != "Ethernet1/2" || shown.Names[*shown.Flows[1].Link] != "Ethernet1/1" || !shown.Flows[0].Known {
		t.Errorf("%s", got)
	}
	for _, c := range []struct {
		stdin, says string
		args        []string
	}{
		{"", "says the member", []string{"--ask", "aoscx", "--src", "10.0.0.1", "--dst", "10.0.0.2"}},
		{"", "unknown: look it up", []string{"--ask", "nxos", "--src", "fd00::1", "--dst", "fd00::2", "--sport", "1"}},
		{"hello\n", "no answer of a switch", []string{"--switch-answer", "-"}},
		{"", "exclude each other", []string{"--switch-answer", "-", "--ask", "ios"}},
		{"", "goes with --ask", []string{"--channel", "Po1", "--src", "10.0.0.1", "--dst", "10.0.0.2"}},
	} {
		if _, err := shows(t, c.stdin, false, c.args...); err == nil || console.Status(err) != console.ExitUsage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.args, err, c.says)
		}
	}
}

// Switches whose makers published what they compute.
func TestComputedSwitches(t *testing.T) {
	for _, c := range []struct {
		says string
		args []string
	}{
		{"on each link: 0: 1, 1: 1", []string{"--system", "catalyst", "--policy", "src-dst-ip", "--links", "2", "--src", "192.0.2.10,192.0.2.11", "--dst", "192.0.2.20"}},
		{"prints it as Load", []string{"--system", "catalyst", "--policy", "src-dst-ip", "--links", "3", "--src", "192.0.2.10,192.0.2.11", "--dst", "192.0.2.20"}},
		{"on each link: 0: 2, 1: 2", []string{"--system", "rtag7", "--policy", "xor16 seed 20260", "--links", "2", "--src", "192.0.2.10", "--dst", "192.0.2.20", "--sport", "40000-40003"}},
	} {
		if got, err := shows(t, "", false, c.args...); err != nil || !strings.Contains(strings.Join(strings.Fields(got), " "), c.says) {
			t.Errorf("%v: %v, want %q in\n%s", c.args, err, c.says, got)
		}
	}
	if _, err := shows(t, "", false, "--system", "catalyst", "--policy", "src-port", "--links", "2", "--src", "192.0.2.10", "--dst", "192.0.2.20"); err == nil || console.Status(err) != console.ExitUsage {
		t.Errorf("a method with ports: %v", err)
	}
}
