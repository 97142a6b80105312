package report

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// portHeads name what portRows gives.
func portHeads() []string {
	return []string{"switch", "port", "to", "channel", "out", "in", "share of the channel out", "dropped", "damaged"}
}

// SwitchPorts are what switches counted, whole frames, a row for each port below one of
// heads; what was not read is unknown.
func SwitchPorts(uses []record.SwitchUse) [][]string {
	return append([][]string{portHeads()}, portRows(record.Trial{Switches: uses})...)
}

// portRows are what the switches counted over a trial, whole frames, a port each; what
// was not read is unknown.
func portRows(t record.Trial) [][]string {
	var rows [][]string
	for _, s := range t.Switches {
		sent := map[string]float64{}
		for _, p := range s.Ports {
			if p.TxBytes != nil {
				sent[p.Channel] += float64(*p.TxBytes)
			}
		}
		for _, p := range s.Ports {
			out, in, part := unknown, unknown, ""
			if p.TxBytes != nil {
				out = counted(p.Tx)
			}
			if p.RxBytes != nil {
				in = counted(p.Rx)
			}
			if all := sent[p.Channel]; p.Channel != "" && p.TxBytes != nil && all > 0 {
				part = share(float64(*p.TxBytes) / all)
			}
			to := strings.TrimSpace(p.Host + " " + p.Link)
			if p.Switch != "" {
				to = strings.TrimSpace(p.Switch + " " + p.PeerPort)
			}
			rows = append(rows, []string{orUnknown(s.Switch), orUnknown(p.Port), orUnknown(to), p.Channel, out, in, part, frames(p.TxDrops, p.RxDrops), frames(p.TxErrors, p.RxErrors)})
		}
	}
	return rows
}

// frames is a count of both ways; unknown where it was not read.
func frames(out, in *uint64) string {
	if out == nil || in == nil {
		return unknown
	}
	return fmt.Sprintf("%d out, %s in", *out, unit.Counted(*in, "frame"))
}

// markdownPorts writes what the switches counted in the leading trials.
func markdownPorts(b *strings.Builder, all []series) {
	for _, s := range all {
		for _, c := range s.places() {
			rows := portRows(*c.last())
			if len(rows) == 0 {
				continue
			}
			fmt.Fprintf(b, "\n## What switches counted, %s, %s, %s\n\n", mark(s.way(c.direction)), c.direction, c.counted())
			for _, row := range rows {
				for i := range row {
					row[i] = mark(row[i])
				}
			}
			tableTo(b, "llll", append([][]string{portHeads()}, rows...)...)
		}
	}
}
