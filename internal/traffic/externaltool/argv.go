package externaltool

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Bounds on what may be asked for.
const (
	mostStreams = 1024
	mostLength  = 24 * time.Hour
)

// check refuses what makes no sense, or what could be more than a value on a
// command line.
func check(r agentapi.ToolRequest) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrRequest, fmt.Sprintf(format, args...))
	}
	switch {
	case r.Session == "":
		return refuse("no session")
	case r.Tool != agentapi.ToolIPerf2:
		return refuse("tool %q", r.Tool)
	case r.Role != agentapi.ToolServer && r.Role != agentapi.ToolClient:
		return refuse("role %q", r.Role)
	case !r.Own.IsValid():
		return refuse("no address of its own")
	case r.Role == agentapi.ToolServer && r.Port == 0:
		return refuse("no port to listen on")
	case r.Role == agentapi.ToolClient && (!r.Peer.IsValid() || r.Peer.Port() == 0 || r.Peer.Addr().Is4() != r.Own.Is4()):
		return refuse("peer %s from %s", r.Peer, r.Own)
	case r.Streams < 1 || r.Streams > mostStreams:
		return refuse("%d streams", r.Streams)
	case r.Role == agentapi.ToolClient && (r.Length < 100*time.Millisecond || r.Length > mostLength):
		return refuse("a length of %v", r.Length)
	case r.Lifetime <= 0 || r.Lifetime > mostLength+time.Hour:
		return refuse("a lifetime of %v", r.Lifetime)
	case r.Interval < 0 || r.Interval > time.Hour, r.Window < 0, r.Block < 0 || r.Block > 64<<20, r.MSS < 0 || r.MSS > 65535, r.Rate < 0:
		return refuse("interval %v, window %v, block %d, MSS %d, rate %v", r.Interval, r.Window, r.Block, r.MSS, r.Rate)
	case !word(r.Congestion):
		return refuse("congestion control %q", r.Congestion)
	}
	return nil
}

// word is a name of letters, digits, _ and -, or none.
func word(s string) bool {
	return len(s) < 16 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" && !strings.HasPrefix(s, "-")
}

// arguments are iperf's (iperf(1), version 2.0.8 and newer): -e for times finer
// than a second, -y C for rows.
func arguments(r agentapi.ToolRequest) []string {
	out := []string{"-e", "-y", "C"}
	add := func(words ...string) { out = append(out, words...) }
	if r.Role == agentapi.ToolServer {
		// Its lifetime ends it also where nobody is left to do so.
		add("-s", "-p", strconv.Itoa(int(r.Port)), "-B", plain(r.Own), "-t", tenths(r.Lifetime))
	} else {
		add("-c", plain(r.Peer.Addr()), "-p", strconv.Itoa(int(r.Peer.Port())), "-B", plain(r.Own), "-P", strconv.Itoa(r.Streams), "-t", tenths(r.Length))
	}
	if !r.Own.Is4() {
		add("-V")
	}
	if r.UDP {
		add("-u")
	}
	if r.Interval > 0 {
		add("-i", tenths(r.Interval))
	}
	if r.Window > 0 {
		add("-w", strconv.FormatInt(int64(r.Window), 10))
	}
	if r.Block > 0 {
		add("-l", strconv.Itoa(r.Block))
	}
	if r.MSS > 0 && !r.UDP {
		add("-M", strconv.Itoa(r.MSS))
	}
	if r.Role == agentapi.ToolServer {
		return out
	}
	if r.NoDelay && !r.UDP {
		add("-N")
	}
	if r.Congestion != "" && !r.UDP {
		add("-Z", r.Congestion)
	}
	if r.Rate > 0 {
		add("-b", strconv.FormatInt(int64(r.Rate), 10))
	}
	return out
}

func plain(a netip.Addr) string { return a.Unmap().String() }

// tenths is a time in seconds, at least a tenth: iperf takes zero for none.
func tenths(d time.Duration) string {
	return strconv.FormatFloat(max(d.Seconds(), 0.1), 'f', 1, 64)
}
