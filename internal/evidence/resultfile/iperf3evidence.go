package resultfile

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// addMeans adds what the intervals say of a sender's TCP together. iperf3 reads
// TCP_INFO once an interval, so the means are of few samples.
func (d document) addMeans(tcp *record.TCP, socket, mss float64) {
	var rtt, cwnd float64
	n := 0
	for _, i := range d.Intervals {
		for _, row := range i.Streams {
			if row.Socket != socket || row.Omitted || !(row.RTT > 0) {
				continue
			}
			n++
			rtt += row.RTT
			cwnd += max(row.Cwnd, 0)
			tcp.HighestRTTMS = max(tcp.HighestRTTMS, milliseconds(row.RTT))
			tcp.Reordering = max(tcp.Reordering, int(min(max(row.Reorder, 0), 1e9)))
		}
	}
	if n == 0 {
		return
	}
	tcp.Samples, tcp.MeanRTTMS = n, milliseconds(rtt/float64(n))
	if mss > 0 {
		tcp.MeanCwnd = math.Round(min(cwnd/float64(n)/mss, 1e9)*1e3) / 1e3
	}
}

// milliseconds of microseconds; what cannot be a round trip is none.
func milliseconds(us float64) float64 {
	if !(us > 0) || us > 1e9 {
		return 0
	}
	return us / 1000
}

// rateLimit is what -b let the streams of each direction send in sum: iperf3
// counts it by stream. Zero is no limit.
func (d document) rateLimit() unit.BitRate {
	each := cmp.Or(d.Start.Test.Bitrate, d.Start.Bitrate)
	if !(each > 0) || each > 1e15 {
		return 0
	}
	return unit.BitRate(each) * unit.BitRate(max(d.streams(), 1))
}

// pacing is what --fq-rate bounds each sender's socket to; zero is none.
func (d document) pacing() unit.BitRate {
	if each := d.Start.Test.FQRate; each > 0 && each < 1e15 {
		return unit.BitRate(each)
	}
	return 0
}

// threaded is the first version of iperf3 in which each stream has a thread:
// before, one thread served all.
var threaded = [2]int{3, 16}

// busiestThread is the share of a core that the busiest thread took of a process
// that took so many cores; zero where the file cannot tell.
func (d document) busiestThread(cores float64) float64 {
	streams := len(d.Start.Connected)
	major, minor, ok := d.version()
	several := !ok || major > threaded[0] || major == threaded[0] && minor >= threaded[1]
	if several && streams != 1 {
		return 0
	}
	return min(cores, 1)
}

// version reads "iperf 3.12".
func (d document) version() (major, minor int, ok bool) {
	words := strings.Fields(d.Start.Version)
	if len(words) < 2 {
		return 0, 0, false
	}
	first, rest, _ := strings.Cut(words[1], ".")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		rest = rest[:end]
	}
	major, err := strconv.Atoi(first)
	minor, err2 := strconv.Atoi(rest)
	return major, minor, err == nil && err2 == nil
}
