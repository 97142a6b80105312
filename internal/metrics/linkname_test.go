package metrics

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agent/nats/natsagent"
)

// A link's name may hold bytes that are no UTF-8: the agent goes on, and tells of
// the others too.
func TestLinkNameOfAnyBytes(t *testing.T) {
	h := bonded()
	h.Links[2].Name, h.Links[3].Name = "b\xffnd", "\xfe\x1b"
	h.Links[2].Bond.Ports[0] = h.Links[3].Name
	said := scrape(t, "", Agent(AgentConfig{Host: "db1", Counts: func() natsagent.Counts { return natsagent.Counts{} }, Observe: observing(h)}))
	for _, want := range []string{`linerate_bond_ports{bond="b\\xffnd"} 3`, `linerate_link_up{kind="device",link="\\xfe\\x1b"} 1`, `link="eth2"`} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is not told:\n%s", want, said)
		}
	}
}
