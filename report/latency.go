package report

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// latencyHeads name what latencyRow gives.
func latencyHeads() []string {
	return []string{"from", "to", "while", "min", "avg", "p50", "p99", "max", "mdev", "loss", "probes", "path MTU"}
}

// latencyRow is one series' cells; text escapes the names.
func latencyRow(l record.Latency, text func(string) string) []string {
	lost, sent, most := share(l.LossRatio), unknown, mtu(l.PathMTU)
	if l.Sent > 0 {
		sent = unit.Counted(l.Sent, "probe")
	} else if !positive(l.AvgMS) {
		lost = unknown
	}
	if l.Load != nil && l.PathMTU == 0 {
		most = "" // the idle series has it
	}
	return []string{text(l.From), text(l.To), text(whileWords(l)), milliseconds(l.MinMS), milliseconds(l.AvgMS), milliseconds(l.P50MS), milliseconds(l.P99MS),
		milliseconds(l.MaxMS), milliseconds(l.MdevMS), lost, sent, most}
}

// whileWords say what ran meanwhile, and how it was measured where that is not
// ICMP: "idle", "forward, 4 streams, tcp".
func whileWords(l record.Latency) string {
	words := "idle"
	if l.Load != nil {
		words = string(l.Load.Direction) + ", " + unit.Counted(l.Load.Streams, "stream")
	}
	if l.Protocol != "" && l.Protocol != "icmp" {
		words += ", " + l.Protocol
	}
	return words
}

// latencyNotes are what is odd about the series, what holds for many said once.
func latencyNotes(all []record.Latency) []string {
	var out []string
	few := false
	for _, l := range all {
		for _, n := range l.Notes {
			if strings.HasPrefix(n, "p99 of ") {
				few = true
				continue
			}
			out = append(out, fmt.Sprintf("%s, %s: %s", fromTo(l.From, l.To, 51), whileWords(l), n))
		}
	}
	if few {
		out = append(out, "p99 is the maximum where fewer than 100 samples came")
	}
	return out
}

// textLatency is the round trips of every pair, idle and under load side by
// side. A run of phases is about something else.
func textLatency(r record.Record, width int) []string {
	if len(r.Latency) == 0 || phased(r) {
		return nil
	}
	rows := [][]string{{"round trip, ms", "", "min", "avg", "p50", "p99", "max", "mdev", "lost"}}
	var pairs [][2]string
	of := map[[2]string][]record.Latency{}
	for _, l := range r.Latency {
		p := [2]string{l.From, l.To}
		if of[p] == nil {
			pairs = append(pairs, p)
		}
		of[p] = append(of[p], l)
	}
	for _, p := range pairs {
		name := fromTo(p[0], p[1], 23)
		for _, l := range of[p] {
			load := "idle"
			if l.Load != nil {
				load = fmt.Sprintf("%s %d", l.Load.Direction, l.Load.Streams)
			}
			if l.Protocol != "" && l.Protocol != "icmp" {
				load += " " + l.Protocol
			}
			rows = append(rows, []string{name, printable(load), short(l.MinMS), short(l.AvgMS), short(l.P50MS), short(l.P99MS), short(l.MaxMS), short(l.MdevMS), share(l.LossRatio)})
			name = ""
		}
	}
	out := append([]string{""}, columns(rows, width)...)
	for _, n := range latencyNotes(r.Latency) {
		out = append(out, wrap("  ", "    ", n, width)...)
	}
	return out
}

// short is a number of milliseconds in four characters or so; "-" unknown.
func short(ms float64) string {
	switch {
	case !positive(ms):
		return "-"
	case ms < 0.1:
		return fmt.Sprintf("%.3f", ms)
	case ms < 10:
		return fmt.Sprintf("%.2f", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}

// textOutages says what streams felt when links failed or returned.
func textOutages(r record.Record, width int) []string {
	var out []string
	for _, t := range r.Trials {
		for _, o := range t.Outages {
			if out == nil {
				out = []string{"", "links that failed or returned"}
			}
			out = append(out, wrap("  ", "    ", outageWords(t, o), width)...)
		}
	}
	return out
}

// worstOutage is the failure of a link that streams felt longest, of those that
// the run asked for or that cost something. ok is false where none did.
func worstOutage(r record.Record) (t record.Trial, worst record.Outage, ok bool) {
	for _, trial := range r.Trials {
		for _, o := range trial.Outages {
			told := o.Asked || (o.LongestStall() > 2*o.Resolution || o.Recovered < 0 || o.Recovered > 2*o.Resolution) && (cause(&trial) == record.Unknown || cause(&trial) == record.LACPDown)
			if o.Event == "down" && told && (!ok || o.Recovered < 0 || worst.Recovered >= 0 && o.LongestStall() > worst.LongestStall()) {
				t, worst, ok = trial, o, true
			}
		}
	}
	return t, worst, ok
}

// outageHeadline is what a link's failure cost, in one sentence.
func outageHeadline(t record.Trial, o record.Outage) string {
	felt := "no stream stood still"
	if s := o.LongestStall(); s > o.Resolution {
		felt = "streams stood still for " + seconds(s)
	}
	back := "the rest was not back at 90 % of what the links left allow"
	switch {
	case o.Recovered == 0:
		back = "the sum stayed at 90 % of what the links left allow"
	case o.Recovered > 0:
		back = "after " + seconds(o.Recovered) + " the sum was back at 90 % of what the links left allow"
	}
	return fmt.Sprintf("%s went down (%s, %s): %s, and %s.", hostLink(o.Host, o.Link, 41), fromTo(t.From, t.To, 51), unit.Counted(t.Streams, "stream"), felt, back)
}

// outageWords are an outage in one sentence.
func outageWords(t record.Trial, o record.Outage) string {
	event := "went down"
	if o.Event == "up" {
		event = "came back"
	}
	var still []string
	for i, s := range o.Stalled {
		if positive(s) && s > o.Resolution {
			still = append(still, fmt.Sprintf("lane %d for %s", i+1, seconds(s)))
		}
	}
	felt := "no stream stood still"
	if len(still) > 0 {
		felt = "stood still: " + strings.Join(still, ", ")
	}
	if o.Resolution > 0 {
		felt += fmt.Sprintf(" (to %s)", seconds(o.Resolution))
	}
	back := "the sum was not back at 90 % of what the links allow"
	switch {
	case o.Recovered == 0:
		back = "the sum was at 90 % of what the links allow at once"
	case o.Recovered > 0:
		back = "the sum was back at 90 % of what the links allow after " + seconds(o.Recovered)
	}
	words := fmt.Sprintf("%s %s (%s, %s): %s; %s", hostLink(o.Host, o.Link, 41), event, t.Direction, unit.Counted(t.Streams, "stream"), felt, back)
	if o.Retransmits > 0 {
		words += "; " + unit.Counted(o.Retransmits, "segment") + " sent again"
	}
	if len(o.Moved) > 0 {
		words += "; " + unit.Counted(len(o.Moved), "lane") + " moved to another link"
	}
	return words
}

// textEnded says why a run ended before all was measured.
func textEnded(r record.Record, width int) []string {
	if r.Ended == "" {
		return nil
	}
	return append([]string{""}, wrap("ended early: ", "  ", r.Ended, width)...)
}

func markdownOutages(b *strings.Builder, r record.Record) {
	head := "\n## Links that failed or returned\n\n"
	for _, t := range r.Trials {
		for _, o := range t.Outages {
			fmt.Fprintf(b, "%s- %s\n", head, mark(outageWords(t, o)))
			head = ""
		}
	}
	if r.Ended != "" {
		fmt.Fprintf(b, "\nEnded early: %s\n", mark(r.Ended))
	}
}
