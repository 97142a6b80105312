package paths

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// refusedMTU: a link that takes no larger MTU, as its system says.
func refusedMTU(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, name := range append(h.Subjects("link"), "") {
			x, ok := h.Get(strings.TrimSpace("link "+name), "mtu_refused")
			if !ok || piece.Float(x.Text) > 0 && piece.Float(x.Text) <= 1500 {
				continue
			}
			link := name
			if link == "" {
				link = "a link"
			}
			v.Add(record.MTU, 0.62, h, fmt.Sprintf("%s of %s", link, scene.NameOf(h)),
				fmt.Sprintf("%s refuses the larger MTU: it stays at the old one, whatever the bond, bridge or VLAN above shows, and large frames do not leave or arrive there. Its driver in this kernel (or the virtual function, the bridge or the USB chip) knows no larger one, or a program holds it.", link),
				"See the largest it takes (`ip -d link show LINK`: maxmtu) and set that, or 1500, on everything of the way; another driver or kernel may take more. A guest's card and a VLAN cannot have more than the link below, which comes first.",
				scene.Saw("MTU asked of "+link, x.Text+", refused", x.Source)).Ask = frameAsks
			return
		}
	}
}
