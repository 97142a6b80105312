package paste

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestOutputs reads the outputs of testdata/outputs, each of one kind and several
// eras, and compares all that was read, and what was not.
func TestOutputs(t *testing.T) {
	files, err := filepath.Glob("testdata/outputs/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no outputs: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := described(Parse([]piece.Text{{Name: "", Bytes: text}}))
			golden := strings.TrimSuffix(file, ".txt") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("read anew:\n%s\n%s has:\n%s", got, golden, want)
			}
			for cut := 1; cut < len(text); cut += 1 + len(text)/97 {
				Parse([]piece.Text{{Bytes: text[:cut]}}) // no panic wherever it is cut
				Parse([]piece.Text{{Bytes: text[cut:]}})
			}
		})
	}
}

// described is a case as text, in an order of its own.
func described(c piece.Case) string {
	var b strings.Builder
	for _, h := range c.Hosts {
		fmt.Fprintf(&b, "host %q\n", h.Name)
		for _, subject := range slices.Sorted(maps.Keys(h.Facts)) {
			for _, key := range slices.Sorted(maps.Keys(h.Facts[subject])) {
				for _, v := range h.Facts[subject][key] {
					fmt.Fprintf(&b, "  %s: %s = %s (%d)\n", subject, key, v.Text, v.From)
				}
			}
		}
		describeLists(&b, h)
	}
	for _, r := range c.Runs {
		fmt.Fprintf(&b, "%s\n", describedRun(r))
	}
	for _, r := range c.Read {
		fmt.Fprintf(&b, "read %s: %d-%d\n", r.Kind, r.From, r.To)
	}
	for _, n := range c.NotRead {
		fmt.Fprintf(&b, "not read: %d-%d %s\n", n.From, n.To, n.Why)
	}
	return b.String()
}

func describeLists(b *strings.Builder, h *piece.Host) {
	for _, x := range h.Sockets {
		fmt.Fprintf(b, "  socket %s %s - %s queued %d %d %s", x.State, x.Local, x.Remote, x.RecvQ, x.SendQ, x.Process)
		for _, key := range slices.Sorted(maps.Keys(x.Info)) {
			fmt.Fprintf(b, " %s=%s", key, x.Info[key])
		}
		fmt.Fprintf(b, " (%d-%d)\n", x.From, x.To)
	}
	for _, x := range h.Cores {
		fmt.Fprintf(b, "  core %s user %g system %g soft %g steal %g idle %g (%d)\n", x.ID, x.User, x.System, x.Soft, x.Steal, x.Idle, x.From)
	}
	for _, x := range h.Processes {
		fmt.Fprintf(b, "  process %s %g (%d)\n", x.Name, x.CPU, x.From)
	}
	for _, x := range h.Events {
		fmt.Fprintf(b, "  event %s link %q at %.6f: %s (%d)\n", x.Kind, x.Link, x.Seconds, x.Text, x.From)
	}
	for _, x := range h.Mounts {
		fmt.Fprintf(b, "  mount %s on %s %s ports %v", x.Device, x.Path, x.Kind, x.Ports)
		for _, key := range slices.Sorted(maps.Keys(x.Options)) {
			fmt.Fprintf(b, " %s=%s", key, x.Options[key])
		}
		fmt.Fprintf(b, " (%d)\n", x.From)
	}
	for _, x := range h.Paths {
		fmt.Fprintf(b, "  path %s %s local %q remote %q link %q state %q group %d policy %q (%d)\n", x.Kind, x.Device, x.Local, x.Remote, x.Link, x.State, x.Group, x.Policy, x.From)
	}
	for _, x := range h.Pings {
		fmt.Fprintf(b, "  ping %s size %d fragments %v %d of %d mtu %d too long %v %g/%g/%g (%d-%d)\n", x.Target, x.Size, !x.DontFragment, x.Received, x.Sent, x.MTU, x.TooLong, x.MinMS, x.AvgMS, x.MaxMS, x.From, x.To)
	}
	for _, x := range h.Traces {
		fmt.Fprintf(b, "  trace %s mtu %d %v (%d-%d)\n", x.Target, x.MTU, x.Hops, x.From, x.To)
	}
	for _, key := range slices.Sorted(maps.Keys(h.Counters)) {
		fmt.Fprintf(b, "  counter %s = %s (%d)\n", key, h.Counters[key].Text, h.Counters[key].From)
	}
}

func describedRun(r piece.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s lines %d-%d rate %s", strings.TrimSpace(r.Tool+" "+r.Version), r.From, r.To, r.Rate)
	put := func(name string, value any, say bool) {
		if say {
			fmt.Fprintf(&b, ", %s %v", name, value)
		}
	}
	put("client", r.Client, r.Client != "")
	put("server", r.Server, r.Server != "")
	put("server's", "text", r.ServerText)
	put("reverse", "", r.Reverse)
	put("both, back", r.Back, r.Both)
	put("udp", "", r.UDP)
	put("mptcp", "", r.MPTCP)
	put("parallel", r.Parallel, r.Parallel > 0)
	put("seconds", r.Seconds, r.Seconds > 0)
	put("series", r.Series, len(r.Series) > 0)
	put("stalled", r.Stalled, r.Stalled > 0)
	put("retransmits", r.Retransmits, r.Retransmits >= 0)
	put("lost", fmt.Sprintf("%d of %d", r.Lost, r.Datagrams), r.Datagrams > 0)
	put("jitter", r.JitterMS, r.JitterMS > 0)
	put("target", r.Target, r.Target > 0)
	put("window", int64(r.Window), r.Window > 0)
	put("clamped", int64(r.Clamped), r.Clamped > 0)
	put("mss", r.MSS, r.MSS > 0)
	put("congestion", r.Congestion, r.Congestion != "")
	put("cpu", fmt.Sprintf("%g %g", r.SenderCPU, r.ReceiverCPU), r.SenderCPU >= 0 || r.ReceiverCPU >= 0)
	put("detail", r.Detail, len(r.Detail) > 0)
	put("error", r.Error, r.Error != "")
	for _, st := range r.Streams {
		fmt.Fprintf(&b, "\n  stream")
		if st.Local.IsValid() {
			fmt.Fprintf(&b, " %s - %s", st.Local, st.Remote)
		}
		fmt.Fprintf(&b, " %s", st.Rate)
		put("retransmits", st.Retransmits, st.Retransmits >= 0)
		put("lost", fmt.Sprintf("%d of %d", st.Lost, st.Datagrams), st.Datagrams > 0)
		put("reverse", "", st.Reverse)
	}
	return b.String()
}
