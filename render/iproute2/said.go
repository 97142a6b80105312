package iproute2

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render/device"
)

// saidRoutes tells the ledger which of the file's routes and rules the steps
// make, and with which of their parts.
func (w *writer) saidRoutes() {
	for _, d := range device.All(w.in) {
		for i, r := range d.Routes {
			for _, s := range w.steps {
				if s.Kind != plan.Route || s.Route.Dst != r.To || device.Table(s.Route.Table) != device.Table(r.Table) || s.Route.Metric != r.Metric || len(s.Route.Hops) > 0 {
					continue
				}
				key := fmt.Sprintf("routes[%d]", i)
				w.ledger.Say(d.ID, key, key+".metric", key+".table", key+".from")
				text := " " + s.Command() + " "
				parts := map[string]bool{
					"on-link": s.Route.OnLink, "mtu": s.Route.MTU != 0, "type": s.Route.Type != "",
					"scope":             !s.Route.Gateway.IsValid() && r.Scope == "link" || strings.Contains(text, " scope "),
					"congestion-window": strings.Contains(text, " cwnd "), "advertised-mss": strings.Contains(text, " advmss "),
					"advertised-receive-window": strings.Contains(text, " initrwnd ") || strings.Contains(text, " window "),
				}
				for part, there := range parts {
					if there {
						w.ledger.Say(d.ID, key+"."+part)
					}
				}
			}
		}
		for i, r := range d.Rules {
			for _, s := range w.steps {
				if s.Kind != plan.Rule || s.Rule.From != r.From || s.Rule.To != r.To || device.Table(s.Rule.Table) != device.Table(r.Table) || r.Priority != 0 && s.Rule.Priority != r.Priority {
					continue
				}
				key := fmt.Sprintf("routing-policy[%d]", i)
				w.ledger.Say(d.ID, key, key+".priority")
				text := " " + s.Command() + " "
				if strings.Contains(text, " fwmark ") {
					w.ledger.Say(d.ID, key+".mark")
				}
				if strings.Contains(text, " tos ") || strings.Contains(text, " dsfield ") {
					w.ledger.Say(d.ID, key+".type-of-service")
				}
			}
		}
	}
}
