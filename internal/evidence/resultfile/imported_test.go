package resultfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

// summary is what the table below says of a file.
type summary struct {
	Tool, Protocol string
	Direction      flow.Direction
	Streams, Lanes int
	Mbps           float64 // rounded
	Window         float64 // rounded
	Series         int
}

func summaries(r record.Record) []summary {
	var out []summary
	for _, t := range r.Trials {
		out = append(out, summary{
			t.Tool, t.Protocol, t.Direction, t.Streams, len(t.Lanes),
			float64(int(float64(t.Goodput)/1e6 + 0.5)), float64(int(t.Window*10+0.5)) / 10, len(t.Series),
		})
	}
	return out
}

func read(t *testing.T, name string) record.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// The files were written by iperf 3.12 and iperf 2.1.8 on loopback, 200 and
// 100 Mb/s a stream, 20 and 10 Mb/s for UDP.
func TestRead(t *testing.T) {
	for name, want := range map[string]summary{
		"iperf3-forward.json":        {"iperf3", "tcp", flow.Forward, 1, 1, 200, 2, 2},
		"iperf3-parallel.json":       {"iperf3", "tcp", flow.Forward, 3, 3, 601, 2, 3},
		"iperf3-reverse.json":        {"iperf3", "tcp", flow.Reverse, 2, 2, 401, 2, 2},
		"iperf3-bidir.json":          {"iperf3", "tcp", flow.Both, 2, 4, 801, 2, 2},
		"iperf3-udp.json":            {"iperf3", "udp", flow.Forward, 2, 2, 40, 2, 2},
		"iperf3-udp-reverse.json":    {"iperf3", "udp", flow.Reverse, 1, 1, 20, 2, 2},
		"iperf3-udp-bidir.json":      {"iperf3", "udp", flow.Both, 1, 2, 40, 2, 2},
		"iperf3-server-output.json":  {"iperf3", "tcp", flow.Forward, 1, 1, 200, 2, 2},
		"iperf3-zerocopy.json":       {"iperf3", "tcp", flow.Forward, 1, 1, 200, 2, 2},
		"iperf3-interrupted.json":    {"iperf3", "tcp", flow.Forward, 1, 1, 200, 2.5, 3},
		"iperf3-ipv6.json":           {"iperf3", "tcp", flow.Forward, 2, 2, 401, 2, 2},
		"iperf3-server.json":         {"iperf3", "tcp", flow.Forward, 2, 2, 401, 2, 2},
		"iperf2-tcp-client.csv":      {"iperf2", "tcp", flow.Forward, 1, 1, 101, 2, 0},
		"iperf2-tcp-server.csv":      {"iperf2", "tcp", flow.Forward, 1, 1, 101, 2, 0},
		"iperf2-parallel-client.csv": {"iperf2", "tcp", flow.Forward, 3, 3, 302, 2, 4},
		"iperf2-parallel-server.csv": {"iperf2", "tcp", flow.Forward, 3, 3, 302, 2, 4},
		"iperf2-enhanced-client.csv": {"iperf2", "tcp", flow.Forward, 2, 2, 201, 2, 2},
		"iperf2-enhanced-server.csv": {"iperf2", "tcp", flow.Forward, 2, 2, 201, 2, 2},
		"iperf2-udp-client.csv":      {"iperf2", "udp", flow.Forward, 2, 2, 20, 2, 2},
		"iperf2-udp-server.csv":      {"iperf2", "udp", flow.Forward, 2, 2, 20, 2, 2},
		"iperf2-reverse-client.csv":  {"iperf2", "tcp", flow.Reverse, 1, 1, 101, 2, 2},
		"iperf2-reverse-server.csv":  {"iperf2", "tcp", flow.Reverse, 1, 1, 101, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, name)
			if diff := cmp.Diff([]summary{want}, summaries(r)); diff != "" {
				t.Error(diff)
			}
			for _, trial := range r.Trials {
				for _, n := range trial.Check() {
					t.Errorf("contradicts itself: %s", n)
				}
				for _, l := range trial.Lanes {
					if !l.Src.IsValid() || l.Sport == 0 || l.Dport == 0 {
						t.Errorf("lane without addresses or ports: %+v", l.Lane)
					}
				}
			}
		})
	}
}

func TestReadEvidence(t *testing.T) {
	r := read(t, "iperf3-parallel.json")
	trial := r.Trials[0]
	lane := trial.Lanes[0]
	if trial.WarmUp != 1 || lane.TCP.SndMSS != 32768 || lane.TCP.RTTMS <= 0 || lane.TCP.SndCwnd <= 0 || lane.Dport != 15201 {
		t.Errorf("warm-up %v, lane %+v", trial.WarmUp, lane)
	}
	if trial.Started.Year() != 2026 || len(trial.CPU) != 2 || trial.From != "host1" || r.Environment.Kernel == "" {
		t.Errorf("started %v, CPU %+v, from %s, kernel %q", trial.Started, trial.CPU, trial.From, r.Environment.Kernel)
	}
	if asked := read(t, "iperf3-zerocopy.json").Trials[0].Lanes[0]; asked.Asked == nil || asked.Asked.SndBuf != 256<<10 || asked.Granted.SndBuf < 2*256<<10 {
		t.Errorf("asked %+v, granted %+v", asked.Asked, asked.Granted)
	}
}

func TestReadFailure(t *testing.T) {
	r := read(t, "iperf3-refused.json")
	if len(r.Trials) != 0 || len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error, "refused") {
		t.Errorf("trials %d, failures %+v", len(r.Trials), r.Failures)
	}
}

func TestReadSeveral(t *testing.T) {
	r := read(t, "iperf3-server-many.json")
	if n := len(r.Trials) + len(r.Failures); n != 10 {
		t.Fatalf("%d tests, want 10", n)
	}
	if r.Trials[2].Direction != flow.Reverse || r.Trials[0].To != "host1" {
		t.Errorf("third trial %s, first to %s", r.Trials[2].Direction, r.Trials[0].To)
	}
}

func TestNotes(t *testing.T) {
	for name, want := range map[string]string{
		"iperf3-forward.json":        "the receiver's figure is used",
		"iperf3-interrupted.json":    "the receiver's figure is not in the file",
		"iperf2-tcp-server.csv":      "does not say which end wrote it",
		"iperf2-parallel-client.csv": "sum of the streams' own averages",
		"iperf2-noise.csv":           "lines of the file that are no rows, left out: 4",
	} {
		r := read(t, name)
		if all := strings.Join(r.Trials[0].Notes, "\n"); !strings.Contains(all, want) {
			t.Errorf("%s: no note %q in\n%s", name, want, all)
		}
	}
}

// A file that ends anywhere is read as far as it goes, or refused; what was
// counted never grows by it.
func TestReadCutOff(t *testing.T) {
	for _, name := range []string{"iperf3-parallel.json", "iperf2-parallel-server.csv"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		whole, read := 0, 0
		for n := len(text); n > 0; n -= 37 {
			r, err := Read(text[:n])
			if err != nil || len(r.Trials) == 0 {
				continue
			}
			read++
			if got := len(r.Trials[0].Lanes); got > 3 {
				t.Fatalf("%s cut at %d: %d lanes", name, n, got)
			}
			whole = max(whole, len(r.Trials))
		}
		if read < 10 || whole != 1 {
			t.Errorf("%s: %d of the pieces were read, %d trials", name, read, whole)
		}
	}
}

func TestReadStream(t *testing.T) {
	text := `{"event":"start","data":{"connected":[{"socket":5,"local_host":"10.0.0.1","local_port":40000,"remote_host":"10.0.0.2","remote_port":5201}],"version":"iperf 3.18","timestamp":{"timesecs":1700000000},"connecting_to":{"host":"10.0.0.2","port":5201},"test_start":{"protocol":"TCP","num_streams":1,"omit":0,"reverse":1}}}
{"event":"interval","data":{"streams":[{"socket":5,"start":0,"end":1,"seconds":1,"bytes":1000000,"bits_per_second":8000000,"omitted":false,"sender":false}],"sum":{"start":0,"end":1,"seconds":1,"bytes":1000000,"bits_per_second":8000000,"omitted":false,"sender":false}}}
{"event":"interval","data":{"streams":[{"socket":5,"start":1,"end":2,"seconds":1,"bytes":3000000,"bits_per_second":24000000,"omitted":false,"sender":false}],"sum":{"start":1,"end":2,"seconds":1,"bytes":3000000,"bits_per_second":24000000,"omitted":false,"sender":false}}}
`
	r, err := Read([]byte(text + `{"event":"interv`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]summary{{"iperf3", "tcp", flow.Reverse, 1, 1, 16, 2, 2}}, summaries(r)); diff != "" {
		t.Error(diff)
	}
	l := r.Trials[0].Lanes[0]
	if l.Src.String() != "10.0.0.2" || l.Sport != 5201 || l.Dport != 40000 {
		t.Errorf("a reverse lane is the server's: %+v", l)
	}
	r, err = Read([]byte(text + `{"event":"end","data":{"streams":[{"sender":{"socket":5,"seconds":2,"bytes":4100000,"sender":false},"receiver":{"socket":5,"seconds":2,"bytes":4000000,"sender":false}}]}}` + "\n" + text))
	if err != nil || len(r.Trials) != 2 || r.Trials[0].Goodput != 16e6 {
		t.Errorf("%v, %+v", err, summaries(r))
	}
}

// Rows as 2.2 writes them, with a header and a zone, and as 2.0's server does.
func TestReadOtherVersions(t *testing.T) {
	r, err := Read([]byte(`time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar
+0100:20250605191028.955,10.244.2.64,43380,10.96.223.154,5001,1,0.0,1.0,1000000,8000000,10,0,3,100,200,1500,10
+0100:20250605191029.955,10.244.2.64,43380,10.96.223.154,5001,1,1.0,2.0,3000000,24000000,10,0,0,100,200,1500,10
+0100:20250605191029.955,10.244.2.64,0,10.96.223.154,5001,-1,1.0,2.0,3000000,24000000,10,0,0,0,0,0,0
`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]summary{{"iperf2", "tcp", flow.Forward, 1, 1, 16, 2, 2}}, summaries(r)); diff != "" {
		t.Error(diff)
	}
	trial := r.Trials[0]
	if trial.Lanes[0].Retransmits != 3 || trial.Lanes[0].TCP.RTTMS != 1.5 || trial.Started.Format("15:04:05") != "18:10:27" || !strings.Contains(strings.Join(trial.Notes, " "), "the sender wrote it") {
		t.Errorf("%+v", trial)
	}
	r, err = Read([]byte(`20100101120010,10.0.0.2,5001,10.0.0.1,40000,4,0.0-10.0,12500000,10000000
20100101120011,10.0.0.2,5001,10.0.0.1,40001,5,0.0-10.0,12500000,10000000
`))
	if err != nil {
		t.Fatal(err)
	}
	trial = r.Trials[0]
	if trial.Direction != flow.Forward || trial.From != "10.0.0.1" || trial.Lanes[1].Sport != 40001 || trial.Goodput != 20e6 {
		t.Errorf("%+v", trial)
	}
	if all := strings.Join(trial.Notes, " "); !strings.Contains(all, "windows differ by 1.0 s") || strings.Contains(all, "which end") {
		t.Error(all)
	}
}

func TestDetectRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", "linerate: v1\n", `{"schema":"linerate.record/v1","intervals":[]}`, "a,b,c\n", "1,2,3,4,5,6,7,8,9\n"} {
		if f, ok := Detect([]byte(text)); ok {
			t.Errorf("%q is taken for %s", text, f)
		}
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/iperf*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Read(text)
		if err != nil {
			return
		}
		for _, trial := range r.Trials {
			if trial.Goodput <= 0 || trial.Goodput > 1e22 || trial.Window < 0 || trial.GoodputLow > trial.GoodputHigh {
				t.Errorf("impossible trial: %v over %v s", trial.Goodput, trial.Window)
			}
			if len(trial.Series) != len(trial.SeriesAt) {
				t.Errorf("%d rates at %d times", len(trial.Series), len(trial.SeriesAt))
			}
		}
	})
}
