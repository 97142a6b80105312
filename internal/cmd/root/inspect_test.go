package root

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

func TestInspectThisHost(t *testing.T) {
	doc := document(t, run(t, "", "inspect", "--json"))
	wantKeys(t, "document", doc, "host findings")
	host := doc["host"].(map[string]any)
	if host["name"] != console.ThisHost() || len(host["links"].([]any)) == 0 {
		t.Errorf("host %v with links %v", host["name"], host["links"])
	}
	if _, ok := doc["findings"].([]any); !ok {
		t.Errorf("findings are %v, want a list", doc["findings"])
	}
	o := run(t, "", "inspect", "local:")
	if o.status != console.ExitDone || !strings.HasPrefix(o.stdout, console.ThisHost()+": ") || !strings.Contains(o.stdout, "LINK") {
		t.Errorf("exit %d:\n%s", o.status, o.stdout)
	}
}

func TestInspectRefuses(t *testing.T) {
	for _, c := range []struct {
		args       []string
		status     int
		line, hint string
	}{
		{[]string{"inspect", "alpha"}, console.ExitUsage, "host alpha: a bare name may be a host, a network namespace or a file", "ssh://root@alpha"},
		{[]string{"inspect", "telnet:alpha"}, console.ExitUsage, "host telnet:alpha: unknown way to reach it", "ssh://user@host"},
		{[]string{"inspect", "netns:"}, console.ExitUsage, "host netns:: unknown way", "netns:NAME"},
		{[]string{"inspect", "local:x"}, console.ExitUsage, "host local:x: unknown way", "local:"},
		{[]string{"inspect", "ssh://"}, console.ExitUsage, "host ssh://: no host name in it", "ssh://user@host"},
		{[]string{"inspect", ""}, console.ExitUsage, "host: the name is empty", "local:"},
		{[]string{"inspect", "local:", "local:"}, console.ExitUsage, "host local: is named twice", ""},
		{[]string{"inspect", "netns:linerate-no-such"}, console.ExitUnreachable, "reach linerate-no-such: ", "ip netns list"},
	} {
		refused(t, "", c.status, c.line, c.hint, c.args...)
	}
}
