package root

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/cmd/console"
)

// asked are flags that describe a bond without looking at this host.
var asked = []string{"--policy", "layer3+4", "--links", "2", "--kernel", "6.1", "--byte-order", "little"}

func steerArgs(verb string, args ...string) []string {
	return append(append([]string{"steer", verb}, asked...), args...)
}

func TestSteerShowJSON(t *testing.T) {
	want := document(t, run(t, "", steerArgs("show", "--json", "--src", "192.168.10.1", "--dst", "192.168.10.2", "--sport", "40000,40002-40003", "--dport", "5201")...))
	wantKeys(t, "document", want, "policy links flows per_link")
	if want["policy"] != "layer3+4" || want["links"] != 2.0 {
		t.Errorf("policy %v over %v links", want["policy"], want["links"])
	}
	var got []string
	for _, f := range want["flows"].([]any) {
		wantKeys(t, "flow", f, "proto src dst sport dport hash link known")
		m := f.(map[string]any)
		got = append(got, fmt.Sprint(m["sport"], " ", m["hash"], " ", m["link"], " ", m["known"]))
	}
	// The kernel's own placement of these flows, as steer's tests hold it.
	if diff := cmp.Diff([]string{"40000 6.90160461e+08 1 true", "40002 6.90160204e+08 0 true", "40003 6.90160332e+08 0 true"}, got); diff != "" {
		t.Errorf("flows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{2.0, 1.0}, want["per_link"]); diff != "" {
		t.Errorf("per_link (-want +got):\n%s", diff)
	}
	csv := "src,dst,sport,dport\n192.168.10.1,192.168.10.2,40000,5201\n192.168.10.1,192.168.10.2,40002,5201\n192.168.10.1,192.168.10.2,40003,5201\n"
	for name, o := range map[string]outcome{
		"a file":         run(t, "", steerArgs("show", "--json", "--flows", file(t, "flows.csv", csv))...),
		"standard input": run(t, csv, steerArgs("show", "--json", "--flows", "-")...),
	} {
		if diff := cmp.Diff(want, document(t, o)); diff != "" {
			t.Errorf("flows of %s (-by flags +by file):\n%s", name, diff)
		}
	}
}

func TestSteerShowUnknown(t *testing.T) {
	args := []string{"steer", "show", "--policy", "layer2+3", "--links", "2", "--kernel", "6.1", "--src", "10.0.0.1", "--dst", "10.0.0.2"}
	f := document(t, run(t, "", append(args, "--json")...))["flows"].([]any)[0].(map[string]any)
	if f["known"] != false || f["link"] != nil || f["hash"] != nil {
		t.Errorf("without MAC addresses: %v, want unknown", f)
	}
	o := run(t, "", args...)
	if !strings.Contains(o.stdout, "unknown") || !strings.Contains(o.stdout, "note: layer2+3 hashes the MAC addresses") {
		t.Errorf("no reason in\n%s", o.stdout)
	}
	fits(t, o.stdout)
	known := document(t, run(t, "", append(args, "--json", "--smac", "02:00:00:00:01:11", "--dmac", "02:00:00:00:02:22")...))
	if f := known["flows"].([]any)[0].(map[string]any); f["known"] != true {
		t.Errorf("with MAC addresses: %v, want known", f)
	}
}

func TestSteerPick(t *testing.T) {
	doc := document(t, run(t, "", steerArgs("pick", "--json", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--streams", "4", "--sport", "50000-50100")...))
	wantKeys(t, "document", doc, "streams ports addresses per_link even")
	if doc["streams"] != 4.0 || len(doc["ports"].([]any)) != 4 || len(doc["addresses"].([]any)) != 4 {
		t.Errorf("document %v, want 4 streams", doc)
	}
	for _, p := range doc["ports"].([]any) {
		if p.(float64) < 50000 || p.(float64) > 50100 {
			t.Errorf("port %v is outside the range", p)
		}
	}
	wantKeys(t, "address", doc["addresses"].([]any)[0], "src dst")
	if diff := cmp.Diff([]any{2.0, 2.0}, doc["per_link"]); diff != "" {
		t.Errorf("per_link (-want +got):\n%s", diff)
	}
	// What pick promises, show must confirm.
	var ports []string
	for _, p := range doc["ports"].([]any) {
		ports = append(ports, fmt.Sprint(int(p.(float64))))
	}
	shown := document(t, run(t, "", steerArgs("show", "--json", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--sport", strings.Join(ports, ","))...))
	if diff := cmp.Diff(doc["per_link"], shown["per_link"]); diff != "" {
		t.Errorf("per_link (-picked +shown):\n%s", diff)
	}
	if o := run(t, "", steerArgs("pick", "--src", "10.0.0.1", "--dst", "10.0.0.2")...); !strings.HasPrefix(o.stdout, "2 streams") {
		t.Errorf("without --streams, want one a link:\n%s", o.stdout)
	}
}

func TestSteerPickLanesAndFarSide(t *testing.T) {
	bond := []string{"steer", "pick", "--json", "--policy", "layer2+3", "--links", "2", "--kernel", "6.1", "--streams", "2"}
	lanes := []string{"--lane", "10.0.0.1,10.0.0.2", "--lane", "10.0.0.3,10.0.0.2"}
	same := []string{"--src", "10.0.0.1,10.0.0.3", "--dst", "10.0.0.2"}
	a, b := document(t, run(t, "", append(bond, lanes...)...)), document(t, run(t, "", append(bond, same...)...))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("the same pairs (-by --lane +by --src and --dst):\n%s", diff)
	}
	first, second := a["addresses"].([]any)[0].(map[string]any)["src"], a["addresses"].([]any)[1].(map[string]any)["src"]
	if first == second {
		t.Errorf("layer2+3 goes by addresses, but both streams use %v", first)
	}
	o := run(t, "", steerArgs("pick", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--streams", "6", "--far-policy", "layer3+4", "--far-links", "3")...)
	if o.status != console.ExitDone || !strings.Contains(o.stdout, "on each far link: 0: 2, 1: 2, 2: 2") || !strings.Contains(o.stdout, "even: yes") {
		t.Errorf("exit %d:\n%s%s", o.status, o.stdout, o.stderr)
	}
	fits(t, o.stdout)
}

func TestSteerRefuses(t *testing.T) {
	addresses := []string{"--src", "10.0.0.1", "--dst", "10.0.0.2"}
	long := strings.TrimSuffix(strings.Repeat("0-65535,", 20), ",")
	for _, c := range []struct {
		stdin      string
		args       []string
		line, hint string
	}{
		{"", []string{"steer", "shwo"}, "unknown command shwo for linerate steer", "did you mean show?"},
		{"", []string{"steer", "show", "extra"}, "steer show: unexpected argument extra", "--help"},
		{"", []string{"steer", "show", "--policy", "l5", "--links", "2", "--src", "10.0.0.1"}, "--policy: unknown policy l5", "layer3+4"},
		{"", []string{"steer", "show", "--policy", "unknown-9", "--links", "2", "--src", "10.0.0.1"}, "--policy: unknown policy unknown-9", "layer3+4"},
		{"", []string{"steer", "show", "--links", "-1", "--src", "10.0.0.1"}, "--links: want 1 to", ""},
		{"", steerArgs("show"), "steer show: no flows named", "--src"},
		{"", steerArgs("show", addresses...), "steer show: no source port, and layer3+4 goes by it", "--sport"},
		{"", steerArgs("show", append(addresses, "--sport", "40015-40000")...), "--sport: parse ports 40015-40000: the range ends before it begins", "40000-40015"},
		{"", steerArgs("show", append(addresses, "--sport", "70000")...), "--sport: parse ports \"70000\": want a port", "40000-40015"},
		{"", steerArgs("show", append(addresses, "--sport", "40000-")...), "--sport: parse ports \"40000-\": want a port", "40000-40015"},
		{"", steerArgs("show", append(addresses, "--sport", long)...), "--sport: more than", ""},
		{"", steerArgs("show", "--src", "10.0.0.300"), "--src: 10.0.0.300 is no IPv4", ""},
		{"", steerArgs("show", "--src", "10.0.0.1,10.0.0.2,10.0.0.3", "--dst", "10.0.0.4,10.0.0.5", "--sport", "1"), "--src and --dst: 3 and 2 addresses cannot be paired", "as many"},
		{"", steerArgs("show", append(addresses, "--sport", "1", "--proto", "tpc")...), "--proto: parse protocol", ""},
		{"", steerArgs("show", append(addresses, "--sport", "1", "--smac", "02")...), "--smac: parse MAC", ""},
		{"", steerArgs("show", append(addresses, "--sport", "1", "--kernel", "new")...), "--kernel: want a release", ""},
		{"", steerArgs("show", append(addresses, "--sport", "1", "--byte-order", "middle")...), "--byte-order: want little or big", ""},
		{"", steerArgs("show", append(addresses, "--flows", "x.csv")...), "steer show: --flows and --src", "leave the file out"},
		{"", steerArgs("show", "--flows", "/nonexistent/flows.csv"), "read flows /nonexistent/flows.csv: no such file", ""},
		{"src,sprot\n", steerArgs("show", "--flows", "-"), "read flows standard input:1:5: unknown column \"sprot\": nearest is \"sport\"", ""},
		{"src,sport\n10.0.0.1,x\n", steerArgs("show", "--flows", "-"), "read flows standard input:2:10: sport: parse port", ""},
		{"", steerArgs("pick"), "steer pick: no addresses named", "--lane"},
		{"", steerArgs("pick", "--lane", "10.0.0.1"), "--lane: 10.0.0.1 is no pair", "--lane 10.0.0.1,10.0.0.2"},
		{"", steerArgs("pick", append(addresses, "--lane", "10.0.0.1,10.0.0.2")...), "steer pick: --lane and --src", ""},
		{"", steerArgs("pick", append(addresses, "--streams", "-1")...), "--streams: want 1 to", ""},
		{"", steerArgs("pick", append(addresses, "--streams", "9", "--sport", "1-4")...), "pick ports: 9 streams, ports 1 to 4: too few", "longer range"},
		{"", steerArgs("pick", append(addresses, "--sport", "1,x")...), "--sport: 1,x is no list of ports", "40000"},
		{"", steerArgs("pick", append(addresses, "--far-policy", "layer2")...), "--far-policy and --far-links go together", "both"},
		{"", []string{"steer", "show", "--host", "somewhere", "--sport", "1"}, "host somewhere: a bare name may be a host, a network namespace or a file", "ssh://root@somewhere"},
	} {
		refused(t, c.stdin, console.ExitUsage, c.line, c.hint, c.args...)
	}
}
