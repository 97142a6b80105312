package root

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/record"
)

// linkLocal is the link-local address of a link of the namespace, once it is
// known to be nobody else's.
func linkLocal(t *testing.T, space, link string) netip.Addr {
	t.Helper()
	for range 100 {
		out, err := exec.Command("ip", "-n", space, "-6", "-o", "addr", "show", "dev", link, "scope", "link", "-tentative").Output()
		if fields := strings.Fields(string(out)); err == nil && len(fields) > 3 {
			return netip.MustParsePrefix(fields[3]).Addr()
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s of %s has no link-local address", link, space)
	return netip.Addr{}
}

// TestLinkLocalTarget (code 4.3): a link-local target is measured over the link
// that its zone names, TCP and UDP, and the source is of that link too.
func TestLinkLocalTarget(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	_ = shapedPair(t)
	const near, far = "linerate-run-a", "linerate-run-b"
	a, err := rtnl.OpenBuilder(netns.Named(near))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := rtnl.OpenBuilder(netns.Named(far))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := a.Veth("eth1", b, "eth1"); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*rtnl.Builder{a, b} {
		if err := e.Up("eth1"); err != nil {
			t.Fatal(err)
		}
	}
	linkLocal(t, near, "eth1")
	at := linkLocal(t, far, "eth1")
	server := exec.Command("ip", "netns", "exec", far, "linerate", "listen", "--port", "5299")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	target := fmt.Sprintf("[%s%%eth1]:5299", at)
	for name, more := range map[string][]string{"tcp": {"--directions", "forward,reverse"}, "udp": {"--protocol", "udp", "--rate-limit", "50M", "--directions", "forward,reverse"}} {
		args := append([]string{"measure", "netns:" + near, target, "--json", "--streams", "2", "--duration", "300ms", "--ping-count", "2", "--no-loaded-latency"}, more...)
		p := start(t, args...)
		err := p.Wait()
		var rec record.Record
		if err := json.Unmarshal(p.out.Bytes(), &rec); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, p.errs.String())
		}
		if err != nil || len(rec.Trials) != 2 || len(rec.Failures) > 0 || len(rec.Latency) == 0 || rec.Latency[0].MinMS <= 0 {
			t.Errorf("%s: %v, %d trials, latency %+v, failures %+v\n%s", name, err, len(rec.Trials), rec.Latency, rec.Failures, p.errs.String())
		}
		for _, trial := range rec.Trials {
			for _, l := range trial.Links {
				if l.Host == near && l.Link != "eth1" {
					t.Errorf("%s %s went by %s", name, trial.Direction, l.Link)
				}
			}
		}
	}
	for arg, want := range map[string]string{
		strings.Replace(target, "eth1", "nope", 1): "no link here is called nope",
		at.String():          "not said on which link",
		at.String() + "%2":   "the zone is a number",
		"2001:db8::1%eth1":   "only a link-local address has a zone",
		"[2001:db8::1%e]:51": "only a link-local address has a zone",
	} {
		p := start(t, "measure", "netns:"+near, arg)
		if err := p.Wait(); err == nil || !strings.Contains(p.errs.String(), want) || !strings.Contains(p.errs.String(), "hint: ") {
			t.Errorf("%s: %v, %s; want %q and a hint", arg, err, p.errs.String(), want)
		}
	}
}
