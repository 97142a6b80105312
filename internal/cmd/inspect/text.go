package inspect

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
)

// printInspected writes what a person looks at, in 80 columns; all adds
// everything else that was read.
func printInspected(con *console.Console, doc inspected, all bool) error {
	h := doc.Host
	fmt.Fprint(con.Stdout, console.Wrapped("", heading(h), con.Width()))
	printMachine(con, h)
	if len(h.Owners) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("managed by ", strings.Join(h.Owners, ", "), con.Width()))
	}
	shown, left := h, ""
	if !all {
		shown.Links, left = worthShowing(h)
	}
	if err := printLinks(con, shown); err != nil {
		return fmt.Errorf("print links: %w", err)
	}
	if left != "" {
		fmt.Fprint(con.Stdout, console.Wrapped("", left, con.Width()))
	}
	printDevices(con, shown, all)
	for _, l := range h.Links {
		if l.Bond != nil {
			printBond(con, h, l, all)
		}
	}
	printBridges(con, h, all)
	printCards(con, h)
	printRouting(con, h, all)
	printShapers(con, h)
	printQdiscs(con, shown)
	printSysctls(con, h, all)
	for i, m := range h.Missing {
		if i == 0 {
			fmt.Fprintln(con.Stdout)
		}
		fmt.Fprint(con.Stdout, console.Wrapped("not read: ", m, con.Width()))
	}
	printHostFindings(con, doc)
	if doc.Calibration != nil {
		printCalibration(con, h.Name, *doc.Calibration)
	}
	return nil
}

func heading(h netstate.Host) string {
	parts := []string{strings.TrimSpace(h.Kernel.OS + " " + h.Kernel.Release + " " + h.Kernel.Arch)}
	if h.CPU.Cores > 0 {
		cores := fmt.Sprintf("%d cores", h.CPU.Cores)
		if h.CPU.Cores == 1 {
			cores = "1 core"
		}
		if h.CPU.Model != "" {
			cores += " (" + h.CPU.Model + ")"
		}
		parts = append(parts, cores)
	}
	return h.Name + ": " + strings.Join(parts, ", ")
}

func printLinks(con *console.Console, h netstate.Host) error {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "LINK\tKIND\tSTATE\tSPEED\tMTU\tMASTER\tADDRESSES")
	for _, l := range h.Links {
		first, others := "-", []string(nil)
		for i, p := range l.Addresses {
			if i == 0 {
				first = p.String()
			} else {
				others = append(others, p.String())
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Name, kindText(l), stateText(l), speedText(l), console.OrNone(l.MTU != 0, strconv.Itoa(l.MTU)), console.OrNone(l.Master != "", l.Master), first)
		for _, other := range others {
			fmt.Fprintf(w, "\t\t\t\t\t\t%s\n", other)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(con.Stdout)
	for line := range strings.Lines(table.String()) {
		fmt.Fprint(con.Stdout, narrowed(line, con.Width()))
	}
	return nil
}

// narrowed puts the last column of a line that is too long, a long IPv6
// address as a rule, on a line of its own, at the right.
func narrowed(line string, width int) string {
	line = strings.TrimRight(line, "\n")
	at := strings.LastIndex(line, " ")
	if len([]rune(line)) <= width || at < 0 {
		return line + "\n"
	}
	last := fmt.Sprintf("%*s\n", width, line[at+1:])
	if rest := strings.TrimRight(line[:at], " "); rest != "" {
		return rest + "\n" + last
	}
	return last
}

func kindText(l netstate.Link) string {
	switch {
	case l.VLAN != nil:
		return fmt.Sprintf("vlan %d on %s", l.VLAN.ID, l.VLAN.Parent)
	case l.Kind == "":
		return console.OrNone(l.Driver != "", l.Driver)
	}
	return l.Kind
}

func stateText(l netstate.Link) string {
	switch {
	case l.StateUnread:
		return "-"
	case !l.Up:
		return "down"
	case !l.Carrier:
		return "no carrier"
	}
	return "up"
}

func speedText(l netstate.Link) string {
	if l.Speed == 0 {
		return "-"
	}
	return l.Speed.String()
}

func printBond(con *console.Console, h netstate.Host, l netstate.Link, all bool) {
	b := l.Bond
	parts := []string{b.Mode.String(), b.HashPolicy.String()}
	if b.Mode == netstate.ModeUnread {
		parts[0] = "mode not read"
	}
	if b.HashPolicy == netstate.PolicyUnread {
		parts[1] = "transmit hash policy not read"
	}
	option := func(name, value string) {
		if b.Unread(name) {
			value = "not read"
		}
		parts = append(parts, name+" "+value)
	}
	if b.Mode == netstate.LACP {
		parts = append(parts, "LACP rate "+b.LACPRate.String())
		option("min_links", strconv.Itoa(b.MinLinks))
	}
	option("miimon", milliseconds(b.Miimon))
	fmt.Fprintln(con.Stdout)
	fmt.Fprint(con.Stdout, console.Wrapped("bond "+l.Name+": ", strings.Join(parts, ", "), con.Width()))
	if b.AD != nil {
		partner := b.AD.PartnerMAC.String()
		if b.AD.PartnerMAC.IsZero() {
			partner = "none"
		}
		fmt.Fprintf(con.Stdout, "  active aggregator %d: %d ports, partner %s\n", b.AD.ID, b.AD.Ports, partner)
	}
	for i, name := range b.Ports {
		p, _ := h.Link(name)
		fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("  %d %s: ", i, name), portText(*b, p, all), con.Width()))
	}
	if all {
		printOptions(con, b.Options)
	}
}

func milliseconds(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// portText is what the bond thinks of a port.
func portText(b netstate.Bond, p netstate.Link, all bool) string {
	if p.Port == nil {
		return "unknown"
	}
	var parts []string
	if !p.StateUnread {
		parts = append(parts, stateText(p))
	}
	if p.Up && p.Carrier && !p.Port.MIIUp {
		parts = append(parts, "the bond believes it is down")
	}
	switch {
	case b.AD != nil && p.Port.AggregatorID == b.AD.ID:
		parts = append(parts, "in the active aggregator")
	case b.AD != nil && p.Port.AggregatorID != 0:
		parts = append(parts, fmt.Sprintf("in aggregator %d, not the active one", p.Port.AggregatorID))
	case !p.Port.Active:
		parts = append(parts, "backup")
	}
	if p.Port.FailureCount > 0 {
		parts = append(parts, fmt.Sprintf("failed %d times", p.Port.FailureCount))
	}
	if b.Mode == netstate.LACP {
		parts = append(parts, partnerText(b, *p.Port, all)...)
	}
	if len(parts) == 0 {
		return "unknown"
	}
	return strings.Join(parts, ", ")
}

// printShapers prints what limits, delays or loses on purpose.
func printShapers(con *console.Console, h netstate.Host) {
	for _, l := range h.Links {
		for _, q := range l.Qdiscs {
			var parts []string
			if q.Rate > 0 {
				parts = append(parts, q.Rate.String())
			}
			if q.FlowRate > 0 {
				parts = append(parts, q.FlowRate.String()+" a flow")
			}
			if q.Burst > 0 {
				parts = append(parts, "burst "+q.Burst.String())
			}
			if q.Delay > 0 {
				parts = append(parts, fmt.Sprintf("delay %v", q.Delay))
			}
			if q.Loss > 0 {
				parts = append(parts, fmt.Sprintf("loss %.3g %%", 100*q.Loss))
			}
			if len(parts) > 0 {
				fmt.Fprintf(con.Stdout, "shaper on %s: %s %s\n", l.Name, q.Kind, strings.Join(parts, ", "))
			}
		}
	}
}

func printHostFindings(con *console.Console, doc inspected) {
	fmt.Fprintln(con.Stdout)
	if len(doc.Findings) == 0 {
		fmt.Fprintln(con.Stdout, "nothing found wrong")
	}
	for _, f := range doc.Findings {
		fmt.Fprint(con.Stdout, console.Wrapped(string(f.Severity)+": ", f.What, con.Width()))
		for _, e := range f.Evidence {
			fmt.Fprint(con.Stdout, console.Wrapped("    - ", fmt.Sprintf("%s: %s (%s)", e.What, e.Value, e.Source), con.Width()))
		}
		fmt.Fprint(con.Stdout, console.Wrapped("  To do: ", f.Remedy, con.Width()))
	}
}
