package field

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What the watched program listens on: no fault of the list uses it.
const livePort = 5310

// TestFieldLive: the same kinds while a program of somebody else sends, watched at the
// sender, where nothing of linerate's is sent. It is a part of a proof as TestField is.
func TestFieldLive(t *testing.T) {
	if os.Getenv("PROVE_RUN") == "" && os.Getenv("PROVE_KIND") == "" {
		floor.Turn(t, floor.Live)
	}
	over(t, tryLive)
}

// tryLive makes an instance, has iperf3 send over each pair of its addresses, and judges
// what is said of its connections.
func tryLive(t *testing.T, n int, seed uint64, k kind) (verdict string) {
	t.Helper()
	verdict = "broken"
	t.Run(fmt.Sprintf("%03d", n), func(t *testing.T) {
		s := made(t, seed, k)
		s.program(s.pairs())
		var f finding
		var said string
		for range 4 { // a program that has hardly begun moves nothing
			var wrong string
			var status int
			said, wrong, status = linerate("explain", "--live", "netns:"+s.spaces["a"].NS.Name, "--json", "--duration", window)
			if status != 0 {
				t.Logf("row: live: %s: status %d: %s", k.words(), status, wrong)
				return
			}
			if f = watched(t, k, said); f.Cause != "" {
				break
			}
		}
		verdict = judge(k, f, s.payload(), said)
		t.Logf("row: live: %s: %s; named %s %.0f%% %s; %.1f of %.1f Mbit/s, %v each, %v, %d streams", k.words(), words(k.truth), f.Cause, 100*f.Confidence, verdict, float64(f.Rate)/1e6, float64(s.payload())/1e6, s.rate, s.delay, s.flows)
		if verdict == "WRONG" || verdict == "unknown" || verdict == "broken" {
			t.Logf("said: %s", strings.TrimSpace(f.text()))
		}
		if dir := os.Getenv(envKept); dir != "" {
			s.must(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%03d.live", k.fileName(), n)), []byte(said), 0o644))
		}
	})
	return verdict
}

// pairs are the addresses that a measurement of the network is between; where none comes
// about, the first ones.
func (s *stand) pairs() (all [][2]netip.Addr) {
	s.t.Helper()
	rec := filepath.Join(s.t.TempDir(), "record.json")
	linerate(measuring(s.file(), rec, map[string]string{"--streams": "4", "--directions": "forward", "--duration": "1s"})...)
	var r record.Record
	if text, err := os.ReadFile(rec); err == nil {
		s.must(json.Unmarshal(text, &r))
	}
	for _, t := range r.Trials {
		for _, l := range t.Lanes {
			if pair := [2]netip.Addr{l.Src, l.Dst}; !slices.Contains(all, pair) {
				all = append(all, pair)
			}
		}
	}
	if len(all) == 0 {
		all = append(all, [2]netip.Addr{netip.MustParseAddr("10.9.0.1"), netip.MustParseAddr("10.9.0.2")})
	}
	return all
}

// program sends over each pair of addresses until the test ends, from ports in a row: those
// that the kernel gives to sockets with an address are all odd, and a hash may put all on
// one link.
func (s *stand) program(pairs [][2]netip.Addr) {
	s.t.Helper()
	each := max(1, s.flows/max(1, len(pairs)))
	for i, p := range pairs {
		s.do(fmt.Sprintf("b&: iperf3 -s -p %[1]d\nhere: sleep 0.3\na&: iperf3 -c %[2]v -B %[3]v --cport %[5]d -p %[1]d -P %[4]d -t 60\n", livePort+i, p[1], p[0], each, 41000+100*i))
	}
	time.Sleep(3 * time.Second)
}

// watched is what is said of most of the program's connections; where some of them are
// said to be limited by the fault, that.
func watched(t *testing.T, k kind, said string) finding {
	t.Helper()
	var doc struct {
		Flows []struct {
			Sends       bool         `json:"sends"`
			Rate        unit.BitRate `json:"rate_bps"`
			Connections []struct {
				Dport uint16 `json:"dport"`
			} `json:"connections"`
			Findings []finding `json:"findings"`
		} `json:"flows"`
	}
	floor.Must(t, json.Unmarshal([]byte(said), &doc))
	var best finding
	var sum unit.BitRate
	most := 0
	for _, f := range doc.Flows {
		if !f.Sends || len(f.Connections) == 0 || f.Connections[0].Dport < livePort || f.Connections[0].Dport > livePort+9 || len(f.Findings) == 0 {
			continue
		}
		sum += f.Rate
		n := len(f.Connections)
		if slices.Contains(k.truth, f.Findings[0].Cause) && f.Findings[0].Cause != record.LineRate {
			n += 1000
		}
		if n > most {
			most, best = n, f.Findings[0]
		}
	}
	best.Rate = sum
	return best
}
