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
			got := described(Parse([]Text{{Name: "", Bytes: text}}))
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
				Parse([]Text{{Bytes: text[:cut]}}) // no panic wherever it is cut
				Parse([]Text{{Bytes: text[cut:]}})
			}
		})
	}
}

// described is a case as text, in an order of its own.
func described(c Case) string {
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

func describeLists(b *strings.Builder, h *Host) {
}

func describedRun(r Run) string {
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
