package predict

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// tuned is a host of a kernel with some sysctls: key, value, key, value.
func tuned(release string, sysctls ...string) netstate.Host {
	h := netstate.Host{Kernel: netstate.Kernel{OS: "linux", Release: release}, Sysctls: map[string]netstate.Sysctl{}}
	for i := 0; i+1 < len(sysctls); i += 2 {
		h.Sysctls[sysctls[i]] = netstate.Sysctl{Value: sysctls[i+1]}
	}
	return h
}

func TestWindow(t *testing.T) {
	const rmem, rmax, scale = "net.ipv4.tcp_rmem", "net.core.rmem_max", "net.ipv4.tcp_adv_win_scale"
	for _, c := range []struct {
		name  string
		host  netstate.Host
		asked unit.Bytes
		want  unit.Bytes
		why   string
	}{
		{"5.15 read", tuned("5.15", rmem, "4096 131072 6291456"), 0, 3 * unit.MiB, "tcp_rmem allows 6 MiB"},
		{"release unknown", tuned("", rmem, "4096 131072 6291456"), 0, 3 * unit.MiB, "half"},
		{"6.1 default", tuned("6.1.0-32-amd64"), 0, 3 * unit.MiB, "default"},
		{"6.15 default", tuned("6.15"), 0, 3 * unit.MiB, "from 6.6"},
		{"6.16 default", tuned("6.16"), 0, 16 * unit.MiB, "default"},
		{"6.6 starts low", tuned("6.6"), 0, 3 * unit.MiB, "quarter"},
		{"nothing known", tuned(""), 0, 0, "unknown"},
		{"another system", netstate.Host{Kernel: netstate.Kernel{OS: "aix", Release: "7.3"}}, 0, 0, "aix"},
		{"adv_win_scale 2", tuned("5.4", rmem, "4096 131072 8388608", scale, "2"), 0, 6 * unit.MiB, "tcp_adv_win_scale 2"},
		{"adv_win_scale -2", tuned("5.4", rmem, "4096 131072 8388608", scale, "-2"), 0, 2 * unit.MiB, "tcp_adv_win_scale -2"},
		{"adv_win_scale ignored from 6.6", tuned("6.12", rmem, "4096 131072 8388608", scale, "-2"), 0, 4 * unit.MiB, "from 6.6"},
		{"asked and granted", tuned("5.15", rmax, "16777216"), 8 * unit.MiB, 8 * unit.MiB, "gets 8 MiB"},
		{"asked and clamped", tuned("5.15", rmax, "212992"), 8 * unit.MiB, 212992, "grants 208 KiB"},
		{"asked, maximum unread", tuned("5.15"), 8 * unit.MiB, 8 * unit.MiB, "unknown"},
		{"no window scaling", tuned("5.15", rmem, "4096 131072 6291456", "net.ipv4.tcp_window_scaling", "0"), 0, 65535, "window field"},
		{"garbled sysctl", tuned("5.15", rmem, "lots"), 0, 3 * unit.MiB, "default"},
	} {
		got, why := Window(c.host, c.asked)
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %v, %q; want %v with %q", c.name, got, why, c.want, c.why)
		}
	}
}

func TestSendWindow(t *testing.T) {
	share := func(b unit.Bytes) unit.Bytes { return unit.Bytes(sendShare * float64(b)) }
	for _, c := range []struct {
		name  string
		host  netstate.Host
		asked unit.Bytes
		want  unit.Bytes
	}{
		{"read", tuned("6.1", "net.ipv4.tcp_wmem", "4096 16384 1048576"), 0, share(unit.MiB)},
		{"default", tuned("6.18"), 0, share(4 * unit.MiB)},
		{"unknown", tuned(""), 0, 0},
		{"asked", tuned("6.1", "net.core.wmem_max", "212992"), 8 * unit.MiB, share(2 * 212992)},
	} {
		if got, why := SendWindow(c.host, c.asked); got != c.want {
			t.Errorf("%s: %v, %q; want %v", c.name, got, why, c.want)
		}
	}
}

// TestMeasuredWindows holds the model to what a 6.1 kernel did over netem at a
// pinged 9.14 ms: one stream against a small buffer at one end.
func TestMeasuredWindows(t *testing.T) {
	rtt := loadedRTT(9143*time.Microsecond, 0)
	for _, c := range []struct {
		window   unit.Bytes
		measured float64
	}{
		{window(tuned("6.1", "net.ipv4.tcp_rmem", "4096 131072 1048576")), 448e6},
		{window(tuned("6.1", "net.ipv4.tcp_rmem", "4096 131072 524288")), 226e6},
		{sendWindow(tuned("6.1", "net.ipv4.tcp_wmem", "4096 16384 524288")), 451e6},
		{sendWindow(tuned("6.1", "net.ipv4.tcp_wmem", "4096 16384 1048576")), 884e6},
		{sendWindow(tuned("6.1", "net.ipv4.tcp_wmem", "4096 16384 2097152")), 1740e6},
	} {
		if got := windowRate(c.window, rtt); !near(got, c.measured, 0.05) {
			t.Errorf("window %v: %v; measured %v", c.window, got, unit.BitRate(c.measured))
		}
	}
}

func window(h netstate.Host) unit.Bytes     { w, _ := Window(h, 0); return w }
func sendWindow(h netstate.Host) unit.Bytes { w, _ := SendWindow(h, 0); return w }
