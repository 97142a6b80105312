package root

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
)

// learnedDocument is what the test reads of `steer probe --learn --json`.
type learnedDocument struct {
	Learned []flow.LearnedHash `json:"learned"`
	Refused []struct {
		To  string `json:"to"`
		Why string `json:"why"`
	} `json:"refused"`
	Probes int `json:"probes_count"`
	Survey *struct {
		Streams []any `json:"streams"`
	} `json:"survey"`
}

// TestKernelLearns: rules of the sending host that spread connections over two
// cables by an XOR of two bits of the source port are learned over real
// sockets, and kept; the kernel's own multipath hash, back, is refused.
func TestKernelLearns(t *testing.T) {
	spaces := joined(t, []string{"ens1", "ens2"}, "sysctl -qw net.ipv4.fib_multipath_hash_policy=1", "sysctl -qw net.ipv4.conf.all.rp_filter=0",
		"sysctl -qw net.ipv4.conf.ens1.rp_filter=0", "sysctl -qw net.ipv4.conf.ens2.rp_filter=0",
		"ip addr flush dev ens1", "ip addr flush dev ens2", "ip addr add 10.9.0.@/32 dev lo",
		"ip route add 10.9.0.%/32 nexthop dev ens1 nexthop dev ens2", "ip route add 10.9.0.%/32 dev ens1 table 101", "ip route add 10.9.0.%/32 dev ens2 table 102",
		"ip rule add ipproto tcp dport 5201 table 101", "ip rule add ipproto tcp dport 5201 sport 16384-49151 table 102")
	dir := t.TempDir()
	file, learned := filepath.Join(dir, "f.yaml"), filepath.Join(dir, "learned.yaml")
	text := fmt.Sprintf(`linerate: v1
hosts: # two
  a: {reach: "netns:%s", network: {version: 2, ethernets: {lo: {addresses: [10.9.0.1/32]}}}}
  b: {reach: "netns:%s", network: {version: 2, ethernets: {lo: {addresses: [10.9.0.2/32]}}}}
paths:
  - {between: [a, b], rtt: 1ms}
`, spaces[0], spaces[1])
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := run(t, "", "steer", "probe", "a", "b", "--fabric", file, "--learn", "-o", learned, "--json")
	if o.status != console.ExitDone {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	var d learnedDocument
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil {
		t.Fatal(err)
	}
	to := make(map[string]flow.LearnedHash)
	for _, l := range d.Learned {
		to[l.To+" "+l.Field] = l
	}
	for _, host := range []string{"a", "b"} {
		l := to[host+" "+flow.LearnedSport]
		if len(l.Masks) != 1 || l.Masks[0] != 0xc000 || l.Observed > 24 || l.Checked < 32 || l.Date == "" || l.Ports.String() != "5202-65535" {
			t.Errorf("to %s: %+v", host, l)
			continue
		}
		if link := l.Links[l.Number(40000)^l.Flows[0].Start]; link != "ens2" {
			t.Errorf("to %s: port 40000 arrives by %s, the rules say ens2", host, link)
		}
	}
	// Answers go by the kernel's multipath hash.
	if len(d.Refused) == 0 || !strings.Contains(d.Refused[0].Why, "another kind") || d.Survey == nil || len(d.Survey.Streams) == 0 {
		t.Errorf("refused %+v, survey %+v", d.Refused, d.Survey)
	}
	kept, err := os.ReadFile(learned)
	if err != nil || !strings.Contains(string(kept), "hosts: # two") || !strings.Contains(string(kept), "masks: [0xc000]") {
		t.Fatalf("%v\n%s", err, kept)
	}
	t.Logf("%d connections\n%s", d.Probes, kept)

	o = run(t, "", "steer", "show", "--learned", learned, "--src", "10.9.0.1", "--dst", "10.9.0.2", "--dport", "5201", "--sport", "16383-16384")
	if words := strings.Join(strings.Fields(o.stdout), " "); o.status != console.ExitDone || !strings.Contains(words, "16383 5201 - "+place(to["b sport"], 16383)) || !strings.Contains(words, "16384 5201 - "+place(to["b sport"], 16384)) {
		t.Errorf("exit %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	o = run(t, "", "steer", "pick", "--learned", learned, "--src", "10.9.0.1", "--dst", "10.9.0.2", "--policy", "layer3+4", "--links", "2", "--kernel", "6.1", "--streams", "4", "--sport", "49000-49300")
	if words := strings.Join(strings.Fields(o.stdout), " "); o.status != console.ExitDone || !strings.Contains(words, "even: yes") || !strings.Contains(words, "on each far link: 0 ens1: 2, 1 ens2: 2") && !strings.Contains(words, "on each far link: 0 ens2: 2, 1 ens1: 2") {
		t.Errorf("exit %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	// On another port: which share a link, and no names.
	o = run(t, "", "steer", "pick", "--learned", learned, "--src", "10.9.0.1", "--dst", "10.9.0.2", "--dport", "5301", "--policy", "layer3+4", "--links", "2", "--kernel", "6.1", "--streams", "4", "--sport", "49000-49300")
	if words := strings.Join(strings.Fields(o.stdout), " "); o.status != console.ExitDone || !strings.Contains(words, "even: yes") || !strings.Contains(words, "on each far link: 0: 2, 1: 2") || !strings.Contains(words, "which streams share a link is certain") {
		t.Errorf("exit %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	o = run(t, "", "steer", "pick", "--learned", learned, "--src", "10.9.0.1", "--dst", "10.9.0.2", "--dport", "5201,5301", "--policy", "layer3+4", "--links", "2", "--kernel", "6.1")
	if o.status != console.ExitUsage || !strings.Contains(o.stderr, "to port 5301: the switch's hash was learned for other addresses") {
		t.Errorf("exit %d: %s", o.status, o.stderr)
	}
	o = run(t, "", "steer", "pick", "--learned", learned, "--src", "10.9.0.1", "--dst", "10.9.0.3", "--policy", "layer3+4", "--links", "2", "--kernel", "6.1")
	if o.status != console.ExitUsage || !strings.Contains(o.stderr, "has no learned hash for 10.9.0.1 to 10.9.0.3") {
		t.Errorf("exit %d: %s", o.status, o.stderr)
	}
}

func place(l flow.LearnedHash, port uint16) string {
	at := l.Number(port) ^ l.Flows[0].Start
	return fmt.Sprintf("%d %s", at, l.Links[at])
}

// TestLearnFlags: what goes with --learn.
func TestLearnFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"a", "b", "-o", "x.yaml"}, "-o is for what --learn finds"},
		{[]string{"a", "b", "--learn", "-o", "x.yaml"}, "-o writes the file that --fabric names"},
	} {
		if o := run(t, "", append([]string{"steer", "probe"}, c.args...)...); o.status != console.ExitUsage || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, o.status, o.stderr)
		}
	}
}
