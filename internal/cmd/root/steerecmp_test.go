package root

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What Linux 6.18.44 answered for seed 12345 and two equal next hops.
func TestSteerShowECMP(t *testing.T) {
	args := []string{"steer", "show", "--ecmp", "1:1", "--ecmp-policy", "l4", "--seed", "12345", "--kernel", "6.18.44", "--byte-order", "little",
		"--src", "192.0.2.1", "--dst", "198.51.100.7", "--sport", "40000-40015", "--dport", "5201"}
	doc := document(t, run(t, "", append(args, "--json")...))
	wantKeys(t, "document", doc, "policy links flows per_link")
	if doc["policy"] != "ecmp l4" || doc["links"] != 2.0 {
		t.Errorf("policy %v over %v links", doc["policy"], doc["links"])
	}
	var got []any
	for _, f := range doc["flows"].([]any) {
		wantKeys(t, "flow", f, "proto src dst sport dport hash link known why")
		got = append(got, f.(map[string]any)["link"])
	}
	if diff := cmp.Diff([]any{0., 1., 0., 1., 1., 0., 1., 1., 0., 1., 0., 0., 0., 0., 1., 0.}, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if first := doc["flows"].([]any)[0].(map[string]any)["hash"]; first != float64(0x03005894) {
		t.Errorf("hash %v", first)
	}
	o := run(t, "", args...)
	if !strings.HasPrefix(o.stdout, "ecmp l4, seed 12345, over 2 next hops of weights 1:1") || !strings.Contains(o.stdout, "on each link: 0: 9, 1: 7") {
		t.Errorf("exit %d:\n%s%s", o.status, o.stdout, o.stderr)
	}
	fits(t, o.stdout)
}
