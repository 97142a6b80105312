package root

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// joined are two hosts in namespaces, joined by cables of these names, with
// addresses 10.6.N.1 and 10.6.N.2 on the Nth; commands run on each, "@" its own
// number and "%" the other's.
func joined(t *testing.T, cables []string, commands ...string) [2]string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	var spaces [2]string
	for i := range spaces {
		spaces[i] = fmt.Sprintf("linerate-joined-%d", i+1)
		_ = netns.Delete(spaces[i]) // of a test that was killed
		if _, err := netns.Create(spaces[i]); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = netns.Delete(spaces[i]) })
		run("ip", "-n", spaces[i], "link", "set", "lo", "up")
	}
	for n, cable := range cables {
		run("ip", "-n", spaces[0], "link", "add", cable, "type", "veth", "peer", "name", cable, "netns", spaces[1])
		for i, space := range spaces {
			run("ip", "-n", space, "addr", "add", fmt.Sprintf("10.6.%d.%d/24", n+1, i+1), "dev", cable)
			run("ip", "-n", space, "link", "set", cable, "up")
		}
	}
	for _, command := range commands {
		for i, space := range spaces {
			text := strings.NewReplacer("@", fmt.Sprint(i+1), "%", fmt.Sprint(2-i)).Replace(command)
			run(append([]string{"ip", "netns", "exec", space}, strings.Fields(text)...)...)
		}
	}
	return spaces
}

// TestKernelA5SeparateInterfacesHashNothing: three NICs in three subnets have
// nothing that hashes: each address is one link, and nobody gets a letter.
func TestKernelA5SeparateInterfacesHashNothing(t *testing.T) {
	spaces := joined(t, []string{"ens1", "ens2", "mgmt0"}, "ip route add default via 10.6.3.% dev mgmt0")
	o := run(t, "", "steer", "probe", "netns:"+spaces[0], "netns:"+spaces[1])
	if o.status != console.ExitDone {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	for _, want := range []string{"separate interfaces, nothing hashes", "10.6.1.1", "10.6.2.1", "ens1 > ens1", "ens2 > ens2"} {
		if !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), want) {
			t.Errorf("it does not say %q:\n%s", want, o.stdout)
		}
	}
	for _, refused := range []string{"people who run the switch", "seems to hash", "mgmt0"} {
		if strings.Contains(o.stdout, refused) {
			t.Errorf("it says %q:\n%s", refused, o.stdout)
		}
	}
	if !strings.Contains(strings.Join(strings.Fields(o.stderr), " "), "mgmt0 is left out: the default route leaves by it") {
		t.Errorf("it does not say what is left out:\n%s", o.stderr)
	}
	doc := document(t, run(t, "", "steer", "probe", "netns:"+spaces[0], "netns:"+spaces[1], "--json"))
	if doc["letter"] != "" || doc["separate"] != true || doc["even"] != true {
		t.Errorf("letter %q, separate %v, %v probes, even %v", doc["letter"], doc["separate"], doc["probes_count"], doc["even"])
	}
}

// TestKernelA1ProbeGoesByTheLinksToLo: flows between addresses of lo are looked
// at on the links that lead there.
func TestKernelA1ProbeGoesByTheLinksToLo(t *testing.T) {
	spaces := joined(t, []string{"ens1", "ens2"}, "sysctl -qw net.ipv4.fib_multipath_hash_policy=1", "ip addr flush dev ens1", "ip addr flush dev ens2", "ip addr add 10.9.0.@/32 dev lo",
		"ip route add 10.9.0.%/32 nexthop dev ens1 nexthop dev ens2")
	doc := document(t, run(t, "", "steer", "probe", "netns:"+spaces[0], "netns:"+spaces[1], "--json"))
	sides, _ := doc["sides"].([]any)
	if len(sides) != 4 {
		t.Fatalf("%d sides: %v", len(sides), doc)
	}
	for _, s := range sides {
		if links := fmt.Sprint(s.(map[string]any)["links"]); links != "[ens1 ens2]" {
			t.Errorf("%v: links %s", s.(map[string]any)["side"], links)
		}
	}
	if streams, _ := doc["streams"].([]any); len(streams) == 0 || doc["letter"] != "" {
		t.Errorf("no set, or a letter about a bond that is not there: %v", doc)
	}
	if text := fmt.Sprint(doc); strings.Contains(text, "65536") {
		t.Errorf("lo's MTU: %s", text)
	}
}

// TestKernelA1CommandsOverLo: discover names the address of lo, and predict and
// measure of the hosts go by the links that lead there.
func TestKernelA1CommandsOverLo(t *testing.T) {
	spaces := joined(t, []string{"ens1", "ens2"}, "sysctl -qw net.ipv4.fib_multipath_hash_policy=1", "ip addr flush dev ens1", "ip addr flush dev ens2", "ip addr add 10.9.0.@/32 dev lo",
		"ip route add 10.9.0.%/32 nexthop dev ens1 nexthop dev ens2")
	hosts := []string{"netns:" + spaces[0], "netns:" + spaces[1]}
	file := t.TempDir() + "/f.yaml"
	if o := run(t, "", append([]string{"discover", "-o", file}, hosts...)...); o.status != console.ExitDone {
		t.Fatalf("discover: exit %d: %s", o.status, o.stderr)
	}
	text := readText(t, file)
	if !strings.Contains(text, "lo:\n          addresses: [10.9.0.1/32]") || !strings.Contains(text, "rtt:") {
		t.Errorf("discovered:\n%s", text)
	}
	plan := run(t, "", "plan", file, "--exact")
	if plan.status != console.ExitDone || !strings.Contains(plan.stdout+plan.stderr, "nothing to change") {
		t.Errorf("plan: exit %d:\n%s%s", plan.status, plan.stdout, plan.stderr)
	}
	doc := document(t, run(t, "", append([]string{"measure", "--json", "--streams", "2", "--directions", "forward", "--duration", "300ms"}, hosts...)...))
	if failures, _ := doc["failures"].([]any); len(failures) > 0 {
		t.Errorf("failed: %v", failures)
	}
	trial := doc["trials"].([]any)[0].(map[string]any)
	for _, l := range trial["links"].([]any) {
		if name := l.(map[string]any)["link"]; name != "ens1" && name != "ens2" {
			t.Errorf("counted %v", name)
		}
	}
}
