package report

import (
	"slices"
	"strings"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// hostFindingView is one thing about a host's state that costs or risks throughput,
// whatever was measured; hosts of which the same is said share it.
type hostFindingView struct {
	Severity, Hosts, What, Remedy string
	Label                         string // tells its evidence apart from the page's others
	Evidence                      []record.Evidence
	Info                          bool
}

// hostFindings judges the hosts as the record leaves them, worst first.
func hostFindings(hosts []netstate.Host) []hostFindingView {
	type same struct{ kind, what, remedy string }
	said, names := map[same]int{}, [][]string{}
	var found []diagnosehost.Finding
	for _, h := range hosts {
		for _, f := range diagnosehost.Judge(h) {
			k := same{f.Kind, f.What, f.Remedy}
			i, ok := said[k]
			if !ok {
				i = len(found)
				said[k], found, names = i, append(found, f), append(names, nil)
			}
			if name := orUnknown(h.Name); !slices.Contains(names[i], name) {
				names[i] = append(names[i], name)
			}
		}
	}
	var out []hostFindingView
	for _, severity := range diagnosehost.Severities() {
		for i, f := range found {
			if f.Severity == severity {
				out = append(out, hostFindingView{string(severity), strings.Join(names[i], ", "), f.What, f.Remedy, f.Kind + " of " + strings.Join(names[i], ", "), wholeEvidence(f.Evidence), severity == diagnosehost.Info})
			}
		}
	}
	return out
}
