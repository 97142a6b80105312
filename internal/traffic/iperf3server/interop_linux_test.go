package iperf3server

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// program is one iperf3 that is here.
type program struct{ path, version string }

// minor is the version behind "3.".
func (p program) minor() int {
	_, after, _ := strings.Cut(p.version, ".")
	n, _ := strconv.Atoi(after)
	return n
}

// programs are the iperf3 that is installed and those that fetch-peers
// brought. Without any the test is skipped.
func programs(t *testing.T) []program {
	t.Helper()
	var paths []string
	if path, err := exec.LookPath("iperf3"); err == nil {
		paths = append(paths, path)
	}
	peers := os.Getenv("LINERATE_LAB_PEERS")
	if peers == "" {
		peers = "../../../.lab-peers"
	}
	more, _ := filepath.Glob(filepath.Join(peers, "*", "iperf3"))
	var found []program
	for _, path := range append(paths, more...) {
		out, err := exec.Command(path, "--version").Output()
		version, _, _ := strings.Cut(string(out), "\n")
		version, _, _ = strings.Cut(strings.TrimPrefix(version, "iperf "), " ")
		if err != nil || version == "" {
			t.Logf("%s does not run: %v", path, err)
			continue
		}
		if !slices.ContainsFunc(found, func(p program) bool { return p.version == version }) {
			found = append(found, program{path, version})
			t.Logf("iperf3 %s is %s", version, path)
		}
	}
	if len(found) == 0 {
		t.Skip("no iperf3 here: `make deps-peers` installs it")
	}
	return found
}

// said is what an iperf3 client prints with -J, as far as tests look.
type said struct {
	Error string `json:"error"`
	Start struct {
		Connected []struct {
			LocalHost string `json:"local_host"`
		} `json:"connected"`
		MSS int `json:"tcp_mss"`
	} `json:"start"`
	End struct {
		Sent         sum `json:"sum_sent"`
		Received     sum `json:"sum_received"`
		SentBack     sum `json:"sum_sent_bidir_reverse"`
		ReceivedBack sum `json:"sum_received_bidir_reverse"`
		Sum          sum `json:"sum"`
		CPU          struct {
			RemoteTotal float64 `json:"remote_total"`
		} `json:"cpu_utilization_percent"`
		SenderCongestion   string `json:"sender_tcp_congestion"`
		ReceiverCongestion string `json:"receiver_tcp_congestion"`
	} `json:"end"`
	ServerText string `json:"server_output_text"`
}

// back is what was received of the server's with --bidir. Before 3.10 the keys
// were those of the other direction, said twice.
func (s said) back() sum {
	for _, sum := range []sum{s.End.ReceivedBack, s.End.Received} {
		if sum.Bytes > 0 {
			return sum
		}
	}
	return s.End.Sum
}

type sum struct {
	Seconds     float64 `json:"seconds"`
	Bytes       int64   `json:"bytes"`
	BPS         float64 `json:"bits_per_second"`
	Retransmits *int    `json:"retransmits"`
	Jitter      float64 `json:"jitter_ms"`
	Lost        int     `json:"lost_packets"`
	Packets     int     `json:"packets"`
}

// iperf runs a client against the listener and returns what it printed.
func (p program) iperf(t *testing.T, r *running, args ...string) said {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	host := "127.0.0.1"
	if slices.Contains(args, "-6") {
		host = "::1"
	}
	out, err := exec.CommandContext(ctx, p.path, append([]string{"-c", host, "-p", fmt.Sprint(r.port), "-J"}, args...)...).Output()
	var got said
	if jerr := json.Unmarshal(out, &got); jerr != nil {
		t.Fatalf("iperf3 %s %q: %v, printed %q", p.version, args, err, out)
	}
	if err != nil && got.Error == "" {
		t.Fatalf("iperf3 %s %q: %v", p.version, args, err)
	}
	return got
}

// trial is an option of iperf3 and what must come of it. With a rate both
// ends must agree on it.
type trial struct {
	args  string
	brief bool // of every version in `make test`
	since int  // 3.since is the first version whose client ends it, with any server
	bps   float64
	check func(t *testing.T, got said, test Test)
}

func trials() []trial {
	near := func(t *testing.T, what string, got, want, within float64) {
		t.Helper()
		if math.Abs(got-want) > within*want {
			t.Errorf("%s is %g, want %g within %g", what, got, want, within)
		}
	}
	text := func(words ...string) func(*testing.T, said, Test) {
		return func(t *testing.T, got said, _ Test) {
			for _, w := range words {
				if !strings.Contains(got.ServerText, w) {
					t.Errorf("server's output lacks %q:\n%s", w, got.ServerText)
				}
			}
		}
	}
	// Newer clients get just as many bytes as they want; older ones count
	// parts of blocks as blocks, and are sent to until they say that it is enough.
	enough := func(t *testing.T, got said, test Test, want float64) {
		t.Helper()
		if !strings.HasPrefix(test.Program, "3.12") {
			near(t, "bytes sent", float64(test.Sent), want, 0.01)
		} else if got.End.Received.Bytes == 0 || int64(test.Sent) < got.End.Received.Bytes {
			t.Errorf("%d bytes sent, %+v received", test.Sent, got.End.Received)
		}
	}
	return []trial{
		{args: "-t 1 -b 20M", brief: true, bps: 20e6},
		{args: "-t 1 -b 5M -P 4", bps: 20e6},
		{args: "-t 1 -b 20M -R", brief: true, bps: 20e6},
		{args: "-t 1 -b 5M -P 4 -R", bps: 20e6},
		{args: "-t 1 -b 20M --bidir", brief: true, bps: 20e6, check: func(t *testing.T, got said, test Test) {
			near(t, "rate back", got.back().BPS, 20e6, 0.5)
			if test.Direction != Both || int64(test.Sent) < got.back().Bytes {
				t.Errorf("%s, %d bytes sent, client received %d", test.Direction, test.Sent, got.back().Bytes)
			}
		}},
		{args: "-t 1 -b 5M --bidir -P 3", bps: 15e6, check: func(t *testing.T, got said, test Test) {
			near(t, "rate back", got.back().BPS, 15e6, 0.5)
		}},
		{args: "-t 1 -Z", check: func(t *testing.T, got said, test Test) {
			near(t, "bytes", float64(test.Received), float64(got.End.Sent.Bytes), 0.05)
		}},
		{args: "-t 1 -Z -R", brief: true, check: func(t *testing.T, got said, test Test) {
			if got.End.Received.Bytes < 1<<20 || got.End.Sent.Retransmits == nil {
				t.Errorf("received %+v, sent %+v", got.End.Received, got.End.Sent)
			}
		}},
		{args: "-n 30M", brief: true, check: func(t *testing.T, got said, test Test) {
			if int64(test.Received) < 30<<20 || int64(test.Received) != got.End.Received.Bytes || int64(test.Received) != got.End.Sent.Bytes {
				t.Errorf("listener has %d bytes, client says %d of %d", test.Received, got.End.Received.Bytes, got.End.Sent.Bytes)
			}
		}},
		{args: "-n 30M -R", since: 10, check: func(t *testing.T, got said, test Test) { enough(t, got, test, 30<<20) }},
		{args: "-k 300", check: func(t *testing.T, got said, test Test) { near(t, "bytes", float64(test.Received), 300*128<<10, 0.05) }},
		{args: "-k 300 -R -P 2", since: 10, check: func(t *testing.T, got said, test Test) { enough(t, got, test, 300*128<<10) }},
		{args: "-t 1 -b 20M -w 256K", bps: 20e6},
		{args: "-t 1 -b 20M -M 1000", bps: 20e6, check: func(t *testing.T, got said, test Test) {
			if got.Start.MSS > 1000 {
				t.Errorf("MSS %d", got.Start.MSS)
			}
		}},
		{args: "-t 1 -b 20M -N -R", bps: 20e6},
		{args: "-t 1 -b 20M -l 4000", bps: 20e6},
		{args: "-t 1 -b 20M -l 4000 -R", bps: 20e6},
		{args: "-t 1 -b 20M/5 -R", bps: 20e6},
		{args: "-t 1 -O 1 -b 20M", brief: true, bps: 20e6, check: func(t *testing.T, got said, test Test) {
			near(t, "window", test.Window.Seconds(), 1, 0.3)
			near(t, "server's time", got.End.Received.Seconds, 1, 0.3)
		}},
		{args: "-t 1 -O 1 -b 20M -R", bps: 20e6},
		{args: "-t 1 -b 20M -C reno", bps: 20e6, check: func(t *testing.T, got said, test Test) {
			if test.Congestion != "reno" || got.End.ReceiverCongestion != "reno" {
				t.Errorf("congestion control %q, client says %q", test.Congestion, got.End.ReceiverCongestion)
			}
		}},
		{args: "-t 1 -b 20M -R -C reno", bps: 20e6, check: func(t *testing.T, got said, test Test) {
			if got.End.SenderCongestion != "reno" {
				t.Errorf("client says the sender used %q", got.End.SenderCongestion)
			}
		}},
		{args: "-t 2 -b 20M --get-server-output", brief: true, bps: 20e6, check: text("Accepted connection from 127.0.0.1", " 0.00-1.0", "-2.0", "receiver")},
		{args: "-t 1 -b 20M -R -P 2 --get-server-output", bps: 40e6, check: text("Retr  Cwnd", "[SUM]", "sender")},
		{args: "-t 1 -b 20M -u --get-server-output", bps: 20e6, check: text("Jitter", "0/", "receiver")},
		{args: "-t 1 -b 20M --bidir -O 1 --get-server-output", bps: 20e6, check: text("[RX-S]", "[TX-S]", "(omitted)")},
		{args: "-t 1 -b 20M -4", bps: 20e6},
		{args: "-t 1 -b 20M -6", bps: 20e6},
		{args: "-t 1 -b 20M -S 0x10", bps: 20e6},
		{args: "-t 1 -b 20M --fq-rate 100M -R", bps: 20e6},
		{args: "-u -t 1 -b 20M", brief: true, bps: 20e6, check: func(t *testing.T, got said, test Test) {
			if test.Datagrams == 0 || int(test.Lost) != got.End.Sum.Lost || test.Jitter <= 0 {
				t.Errorf("%d of %d lost, jitter %s; client says %+v", test.Lost, test.Datagrams, test.Jitter, got.End.Sum)
			}
		}},
		{args: "-u -t 1 -b 20M -R", brief: true, bps: 20e6},
		{args: "-u -t 1 -b 5M --bidir", brief: true, bps: 5e6, check: func(t *testing.T, got said, test Test) { near(t, "rate back", got.back().BPS, 5e6, 0.5) }},
		{args: "-u -t 1 -b 5M -P 4 -l 1400", bps: 20e6},
		{args: "-u -t 1 -b 5M -P 4 -l 1400 -R", bps: 20e6},
		{args: "-u -t 1 -b 5M --udp-counters-64bit", bps: 5e6},
		{args: "-u -t 1 -b 5M --udp-counters-64bit -R", bps: 5e6},
		{args: "-u -n 2M -b 50M", check: func(t *testing.T, got said, test Test) {
			if test.Received < 2<<20 { // newer clients look once a second whether it is enough
				t.Errorf("%d bytes came, client says %+v", test.Received, got.End.Sum)
			}
		}},
		{args: "-u -k 100 -b 50M -R", since: 10},
		{args: "-u -t 1 -O 1 -b 5M", brief: true, bps: 5e6},
		{args: "-u -t 1 -b 5M -6", bps: 5e6},
		{args: "-u -t 1 -b 5M -w 400K", bps: 5e6},
	}
}

// check runs one trial with a title of its own.
func (tr trial) run(t *testing.T, p program, r *running) {
	title := p.version + " " + tr.args
	got := p.iperf(t, r, append(strings.Fields(tr.args), "-T", title)...)
	if got.Error != "" {
		t.Fatalf("iperf3: %s", got.Error)
	}
	test := r.done(t, title)
	if test.Err != nil || !strings.HasPrefix(p.version, test.Program) {
		t.Errorf("test of %q ended with %v", test.Program, test.Err)
	}
	mine, theirs := test.ReceivedRate(), got.End.Received.BPS
	if test.Direction == Reverse {
		mine = test.SentRate()
	}
	if test.UDP && theirs == 0 {
		theirs = got.End.Sum.BPS // before 3.18 with one direction
	}
	// What one end sent the other has received, but for what is under way when
	// the test ends; the client prints both counts.
	if sent, received := float64(got.End.Sent.Bytes), float64(got.End.Received.Bytes); !test.UDP && test.Window > time.Second/2 && math.Abs(sent-received) > 0.1*sent+4<<20 {
		t.Errorf("%.0f bytes sent, %.0f received", sent, received)
	}
	switch {
	case test.UDP && math.Abs(float64(mine)-theirs) > 0.35*theirs:
		t.Errorf("rate %v here, %.4g there", mine, theirs)
	case test.UDP, test.Direction == Both:
	case test.Direction == Forward && int64(test.Received) != got.End.Received.Bytes,
		// What is told the owner is what was acknowledged, the client what was sent.
		test.Direction == Reverse && (int64(test.Sent) > got.End.Sent.Bytes+1 || float64(got.End.Sent.Bytes)-float64(test.Sent) > 0.1*float64(got.End.Sent.Bytes)+4<<20):
		t.Errorf("received %d and sent %d here, client was told %+v and %+v", test.Received, test.Sent, got.End.Received, got.End.Sent)
	}
	// A busy machine makes a client slower than it means to be, not faster;
	// and its first block goes at once.
	if tr.bps > 0 && (theirs > 1.15*tr.bps || theirs < 0.5*tr.bps) {
		t.Errorf("rate %.4g, want %.4g", theirs, tr.bps)
	}
	if got.End.CPU.RemoteTotal < 0 || got.End.CPU.RemoteTotal > 200 {
		t.Errorf("processor use %g %%", got.End.CPU.RemoteTotal)
	}
	if tr.check != nil {
		tr.check(t, got, test)
	}
}

// TestIperf3 runs every option with the iperf3 that is installed, and the
// brief ones with others that are here; with PROVE_RUNS all with all.
func TestIperf3(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	found := programs(t)
	r := serve(t, Config{})
	all := os.Getenv("PROVE_RUNS") != ""
	gate := make(chan struct{}, 12) // clients at a time
	var mu sync.Mutex
	passed := map[string]int{}
	var working sync.WaitGroup
	for i, p := range found {
		for _, tr := range trials() {
			if i > 0 && !tr.brief && !all || p.minor() < tr.since {
				continue
			}
			gate <- struct{}{}
			// Not t.Parallel: that is as many as processors, and these wait.
			working.Go(func() {
				defer func() { <-gate }()
				if t.Run(p.version+" "+tr.args, func(t *testing.T) { tr.run(t, p, r) }) {
					mu.Lock()
					defer mu.Unlock()
					passed[p.version]++
				}
			})
		}
	}
	working.Wait()
	for version, n := range passed {
		t.Logf("compared: iperf3 %s, %d option sets, as both ends counted", version, n)
	}
}

// TestManyIperf3 has 32 clients at once, TCP and UDP mixed, all of one address.
func TestManyIperf3(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	found := programs(t)
	r := serve(t, Config{})
	const clients = 32
	kinds := []string{"-b 2M", "-b 2M -R", "-b 2M --bidir", "-u -b 2M -l 1400 -P 2", "-u -b 2M -l 1400 -R", "-u -b 2M -l 1400 --bidir"}
	var working sync.WaitGroup
	overlap := make([]Test, clients)
	for i := range clients {
		working.Go(func() {
			p := found[i%len(found)]
			title := fmt.Sprintf("client %d", i)
			args := append(strings.Fields(kinds[i%len(kinds)]), "-t", "2", "-T", title)
			got := p.iperf(t, r, args...)
			if got.Error != "" {
				t.Errorf("iperf3 %s %q: %s", p.version, args, got.Error)
				return
			}
			test := r.done(t, title)
			overlap[i] = test
			if test.Err != nil {
				t.Errorf("%q ended with %v", args, test.Err)
			}
			want := 2e6 * float64(test.Streams)
			rate := float64(test.ReceivedRate())
			if test.Direction == Reverse {
				rate = float64(test.SentRate())
			}
			if rate < 0.3*want || rate > 1.5*want {
				t.Errorf("%q: %.4g bit/s, want %.4g", args, rate, want)
			}
			if test.UDP && test.Lost > test.Datagrams/20 {
				t.Errorf("%q: %d of %d lost: streams mixed up?", args, test.Lost, test.Datagrams)
			}
		})
	}
	working.Wait()
	last, first := time.Time{}, time.Now()
	for _, test := range overlap {
		if test.Started.After(last) {
			last = test.Started
		}
		if end := test.Started.Add(test.Window); end.Before(first) {
			first = end
		}
	}
	if !last.Before(first) {
		t.Logf("the last client began %s after the first ended", last.Sub(first))
	}
	t.Logf("%d clients at once, the last began %s before the first ended", clients, first.Sub(last).Round(time.Millisecond))
}
