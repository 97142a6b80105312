package tui

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/unit"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// views are moments of runs, as they are drawn in testdata.
func views() map[string]View {
	history := []unit.BitRate{10e6, 120e6, 400e6, 477e6, 476e6, 478e6, 480e6}
	one := View{
		Done: 4, Total: 24, What: "alpha to beta forward, 4 streams", Stage: "measuring", Elapsed: 6 * time.Second, Left: "2 min",
		Rate: 478e6, Ceiling: 993e6, History: history, RTT: 9980 * time.Microsecond, Found: "single-link: all 4 streams leave alpha by eth0",
		Hosts: []Host{
			{Name: "alpha", Rows: []Row{{Name: "eth0", Rate: 478e6, Ceiling: 497e6, Streams: []int{1, 2, 3, 4}}, {Name: "eth1", Ceiling: 497e6}}},
			{Name: "beta", Rows: []Row{{Name: "eth0", Way: In, Ceiling: 497e6}, {Name: "eth1", Way: In, Rate: 478e6, Ceiling: 497e6}}},
		},
	}
	many := one
	many.Hosts = nil
	for _, name := range []string{"storage-frontend-01", "storage-backend-17"} {
		h := Host{Name: name}
		for i := range 16 {
			r := Row{Name: "enp129s0f" + string(rune('a'+i)), Rate: unit.BitRate(i) * 1e9, Ceiling: 10e9, Streams: []int{2*i + 1, 2*i + 2}}
			if name == "storage-backend-17" {
				r.Way = In
			}
			h.Rows = append(h.Rows, r)
		}
		many.Hosts = append(many.Hosts, h)
	}
	return map[string]View{
		"one": one, "many": many,
		"begins":  {What: "alpha to beta both, 1 stream", Stage: "connecting"},
		"unknown": {What: "a to b forward, 2 streams", Stage: "warming up", Elapsed: time.Second, Rate: 3e6, History: []unit.BitRate{1e6, 3e6}, Hosts: []Host{{Name: "a", Rows: []Row{{Name: "tun0", Rate: 3e6, Streams: []int{1, 2}}}}}},
		"pairs": {
			Done: 12, Total: 112, What: "4 pairs at once, forward, 2 streams", Stage: "measuring", Elapsed: 3 * time.Second, Left: "4 min", Rate: 36e9, Ceiling: 39.6e9,
			Hosts: []Host{{Rows: []Row{
				{Name: "h1 to h2", Rate: 9.8e9, Ceiling: 9.9e9}, {Name: "h3 to h4", Rate: 9.9e9, Ceiling: 9.9e9},
				{Name: "h5 to h6", Rate: 6.4e9, Ceiling: 9.9e9}, {Name: "h7 to h8", Rate: 9.9e9, Ceiling: 9.9e9},
			}}},
		},
	}
}

// TestGolden: the screens of testdata, which were looked at.
func TestGolden(t *testing.T) {
	sizes := []struct {
		name          string
		width, height int
	}{{"80x24", 80, 24}, {"200x60", 200, 60}, {"40x10", 40, 10}}
	for name, v := range views() {
		var b strings.Builder
		for _, size := range sizes {
			b.WriteString("== " + size.name + "\n" + strings.Join(Lines(v, size.width, size.height, Plain), "\n") + "\n")
		}
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil || string(want) != b.String() {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}

// TestFits: whatever runs and however small the window, no line is wider than
// it and no more lines come than fit; colour adds nothing that takes room.
func TestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Custom(func(t *rapid.T) unit.BitRate { return unit.BitRate(rapid.Float64Range(-1e12, 1e14).Draw(t, "rate")) })
		row := rapid.Custom(func(t *rapid.T) Row {
			return Row{
				Name: rapid.String().Draw(t, "name"), Way: rapid.SampledFrom([]Way{Out, In, Both}).Draw(t, "way"), Rate: rate.Draw(t, "rate"), Ceiling: rate.Draw(t, "ceiling"),
				Streams: rapid.SliceOf(rapid.IntRange(0, 300)).Draw(t, "streams"),
			}
		})
		host := rapid.Custom(func(t *rapid.T) Host {
			return Host{Name: rapid.String().Draw(t, "host"), Rows: rapid.SliceOfN(row, 0, 20).Draw(t, "rows")}
		})
		v := View{
			Done: rapid.IntRange(0, 1000).Draw(t, "done"), Total: rapid.IntRange(0, 1000).Draw(t, "total"), What: rapid.String().Draw(t, "what"), Stage: "measuring",
			Elapsed: time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "elapsed")), Left: rapid.SampledFrom([]string{"", "3 min", "10 h 20 min"}).Draw(t, "left"),
			Rate: rate.Draw(t, "sum"), Ceiling: rate.Draw(t, "limit"), History: rapid.SliceOf(rate).Draw(t, "history"), Found: rapid.String().Draw(t, "found"),
			RTT: time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "rtt")), Hosts: rapid.SliceOfN(host, 0, 5).Draw(t, "hosts"),
		}
		width, height := rapid.IntRange(0, 300).Draw(t, "width"), rapid.IntRange(0, 100).Draw(t, "height")
		plain, painted := Lines(v, width, height, Plain), Lines(v, width, height, Colour)
		if len(plain) > max(height-spare, leastHeight) {
			t.Errorf("%d lines in %d", len(plain), height)
		}
		for i, line := range plain {
			if columns(line) > max(width, leastWidth) {
				t.Errorf("%d columns in %d: %q", columns(line), width, line)
			}
			if strings.ContainsAny(line, "\x1b\n\r\t") {
				t.Errorf("a terminal obeys %q", line)
			}
			if got := unpainted(painted[i]); got != line {
				t.Errorf("painted %q, plain %q", got, line)
			}
		}
	})
}

func unpainted(line string) string {
	for {
		before, rest, found := strings.Cut(line, "\x1b[")
		if !found {
			return line
		}
		_, after, _ := strings.Cut(rest, "m")
		line = before + after
	}
}
