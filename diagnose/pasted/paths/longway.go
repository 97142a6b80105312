package paths

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/saidtext"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// sshWindow is what OpenSSH lets be under way in a channel: 64 packets of 32 KiB
// (CHAN_SES_WINDOW_DEFAULT of its channels.h).
const sshWindow = 2 << 20

// Rates over a long way below which one asks for windows and losses at all.
const mostOverDistance = 2 * unit.Gbps

// toldWindow: a rate and a round trip that sentences alone tell: the window that they come
// to, or that each connection's limit over such a way is its window or a few losses.
func toldWindow(v *scene.View) {
	if !v.Complains() || len(v.Findings) > 0 || pathOf(v).used() && !v.Said("rate_one") || v.Said("gateway", "not_window", "window_helps_not", "radio_link") || len(v.Case.Runs) > 0 || !farAway(v) && !v.Said("trip_ms") {
		return
	}
	rate, h, at := saidRate(v, "rate_one", "copy_bps", "net_bps", "rate_most")
	if rate == 0 || rate > mostOverDistance || v.Said("speed_test") && !v.Said("rate_one", "copy_by") {
		return // a speed test has several connections, to a server nearby
	}
	if many, _, _ := saidRate(v, "rate_many"); many > 0 && float64(many) < saidtext.FewFlows*float64(rate) {
		return // several carry no more: the way is full, not each connection
	}
	_, trip, told := v.SaidBy("trip_ms")
	_, far, _ := v.SaidBy("far")
	_, by, _ := v.SaidBy("copy_by")
	evidence := []record.Evidence{scene.Saw("said", rate.String(), at)}
	ms := piece.Float(trip.Text)
	if !told || ms < 10 || ms > 1000 {
		if told || far.Text == "" {
			return
		}
		v.Add(record.ReceiveWindow, 0.42, h, "each connection over the distance", fmt.Sprintf("By what is said, one connection carries %v over a long way. ", rate)+overDistance, windowRemedy, append(evidence, scene.Saw("said", far.Text, far.Source))...).Ask = longAsks
		return
	}
	evidence = append(evidence, scene.Saw("said", trip.Text+" ms", trip.Source))
	flight := float64(rate) / 8 * ms / 1000
	usual := windows
	if scene.Contains(by.Text, "scp", "sftp", "rsync", "ssh") {
		usual = append(usual[:len(usual):len(usual)], window{sshWindow, "2 MiB, the window of ssh's own channel", record.ReceiveWindow})
	}
	for _, w := range usual {
		if flight < 0.75*w.bytes || flight > 1.1*w.bytes {
			continue
		}
		v.Add(w.cause, 0.56, h, "the window over "+trip.Text+" ms",
			fmt.Sprintf("By what is said, %v over %s ms is %v in flight: about %s. Without losses a connection is as fast as its window goes round, whatever the link is.", rate, trip.Text, unit.Bytes(flight), w.what), windowRemedy, evidence...).Ask = longAsks
		return
	}
	v.Add(record.ReceiveWindow, 0.44, h, "each connection over "+trip.Text+" ms",
		fmt.Sprintf("By what is said, one connection carries %v over %s ms, which is %v in flight. ", rate, trip.Text, unit.Bytes(flight))+overDistance, windowRemedy, evidence...).Ask = longAsks
}

// openVPNBuffer is what OpenVPN asked its sockets for before 2.4 (sndbuf and rcvbuf of its
// manual): once in each round trip where the tunnel goes by TCP.
const openVPNBuffer = 64 << 10

// tunnelWindow: OpenVPN over a long way, at about what its own socket buffers let be under
// way, whatever goes inside.
func tunnelWindow(v *scene.View) {
	p := pathOf(v)
	_, trip, told := v.SaidBy("trip_ms")
	ms := piece.Float(trip.Text)
	rate, h, at := saidRate(v, "net_least_bps", "copy_bps", "rate_least", "net_bps")
	if p.through > 0 && p.through < rate {
		rate = p.through
	}
	if flight := float64(rate) / 8 * ms / 1000; p.tunnel != "openvpn" || !v.Said("tunnel_by_tcp") || p.direct > 0 && p.direct < 2*rate || !told || ms < 10 || ms > 1000 || flight < 0.6*openVPNBuffer || flight > 1.4*openVPNBuffer || v.Said("not_window", "window_helps_not", "cpu_bound", "cpu_full", "line_up_bps", "line_down_bps", "lossy", "loss_percent") {
		return
	}
	v.Add(record.ReceiveWindow, 0.54, h, "the tunnel's own socket buffers",
		fmt.Sprintf("By what is said, OpenVPN carries %v over %s ms: about 64 KB in each round trip, which is what it asks its sockets for where nothing else is set. All connections inside share the tunnel's one.", rate, trip.Text),
		"`sndbuf 0` and `rcvbuf 0` at both ends (and `push` of both to the clients) leave the buffers to the kernel; UDP instead of TCP, or WireGuard.",
		scene.Saw("said", rate.String(), at), scene.Saw("said", trip.Text+" ms", trip.Source)).Ask = longAsks
}

// windowRound: a window that a sentence tells in bytes, and a rate that is just that window
// in each round trip.
func windowRound(v *scene.View) {
	h, window, ok := v.SaidBy("window_bytes")
	_, trip, told := v.SaidBy("trip_ms")
	bytes, ms := piece.Float(window.Text), piece.Float(trip.Text)
	if !ok || !told || bytes <= 0 || ms < 1 || ms > 1000 || v.HasFinding(record.ReceiveWindow) || v.HasFinding(record.SendBuffer) {
		return
	}
	for _, key := range []string{"rate_one", "copy_bps", "net_bps", "rate_most", "carried_bps"} {
		rate, _, at := saidRate(v, key)
		if flight := float64(rate) / 8 * ms / 1000; flight < 0.7*bytes || flight > 1.1*bytes {
			continue
		}
		v.Add(record.ReceiveWindow, 0.76, h, "the window over "+trip.Text+" ms",
			fmt.Sprintf("By what is said, the window is %v: once in each round trip of %s ms that is about the %v that are seen. A connection is no faster than its window goes round, whatever the link is.", unit.Bytes(bytes), trip.Text, rate), windowRemedy,
			scene.Saw("said", unit.Bytes(bytes).String()+" of window", window.Source), scene.Saw("said", trip.Text+" ms", trip.Source), scene.Saw("said", rate.String(), at)).Ask = longAsks
		return
	}
}

const (
	overDistance = "Over a distance a connection carries its window in each round trip: the receiver's or the sender's buffer, or a program's own. A few losses do the same: after each one CUBIC needs many round trips to grow again."
	windowRemedy = "Test with several connections (`iperf3 -P 8`): if they add up, the way has room. Raise the third values of tcp_rmem and tcp_wmem at both ends to twice the rate wanted times the round trip, with net.core.rmem_max and wmem_max; no window scaling off anywhere; ssh: several at once, rsync's daemon or HPN-SSH. If `ss -tin` shows retransmits, take BBR on the sender (`sysctl -w net.ipv4.tcp_congestion_control=bbr`)."
)

// Parts of what a line sends between which a rate from home is that line's.
const (
	leastOfUpload = 0.55
	mostOfUpload  = 1.05
)

// ownUpload: what stands at home is fetched from elsewhere at the rate that its line sends.
func ownUpload(v *scene.View) {
	up, h, at := saidRate(v, "line_up_bps")
	down, _, _ := saidRate(v, "line_down_bps")
	rate, _, from := saidRate(v, "rate_through", "copy_bps", "net_least_bps")
	if p := pathOf(v); p.through > 0 && p.through < rate {
		rate = p.through
	}
	if up == 0 || rate == 0 || v.Said("lines_differ") || !v.Said("at_home") || !v.Said("from_outside") || !scene.Close(rate, up, leastOfUpload, mostOfUpload) || v.HasFinding(record.LineRate) {
		return
	}
	v.Add(record.LineRate, 0.56, h, "what the line at home sends",
		fmt.Sprintf("By what is said, the line at home receives %v and sends %v, and whoever fetches from there gets what it sends: %v is that, less headers. The tunnel and its settings are not what limits it.", down, up, rate),
		"A line that sends more, or less to send (a lower bit rate of cameras and films, compression). With a tunnel for all traffic, let only home's addresses go through it (AllowedIPs, split tunnelling).",
		scene.Saw("said of the line", up.String()+" up", at), scene.Saw("said", rate.String(), from)).Ask = []scene.Missing{
		{Command: "iperf3 -c HOME, then with -R; a speed test at home", Host: "outside", Why: "each way: fetching from home should be what the line sends, sending home far more"}}
}

// windowsSlower: the same way and hardware, fast by Linux and slow by Windows.
func windowsSlower(v *scene.View) {
	slow, h, at := saidRate(v, "rate_windows")
	fast, _, from := saidRate(v, "rate_linux")
	if best := v.Best(); fast == 0 && len(v.Case.Runs) > 0 {
		fast, from = best, v.Case.Runs[0].Source
	}
	if slow == 0 || float64(slow) > saidtext.Gap*float64(fast) || len(v.Findings) > 0 || pathOf(v).used() || v.Said("window_helps_not", "not_window", "rate_guest", "guest_card") {
		return
	}
	sure := 0.44
	if farAway(v) || slices.ContainsFunc(v.Case.Hosts, func(h *piece.Host) bool {
		return slices.ContainsFunc(h.Pings, func(p piece.Ping) bool { return p.MinMS >= 3 })
	}) {
		sure = 0.56
	}
	v.Add(record.ReceiveWindow, sure, h, "the windows of the end with Windows",
		fmt.Sprintf("By what is said, Linux carries %v and Windows %v: the way and the hardware can do it. Windows' ends differ by their windows: programs that set a buffer of their own (iperf3 there is built with Cygwin, and ends at some 64 to 200 KB in flight), autotuning that is restricted, and a filter driver of a security suite.", fast, slow),
		"Test with `-w 4M` and `-P 8`, or ntttcp: if that is fast, it was the test. `netsh interface tcp show global` (autotuninglevel=normal), `Get-NetTCPSetting`; RSC and RSS on; the security suite's network filter off for a trial.",
		scene.Saw("said of Linux", fast.String(), from), scene.Saw("said of Windows", slow.String(), at)).Ask = []scene.Missing{
		{Command: "netsh interface tcp show global; Get-NetTCPSetting; Get-NetAdapterRss", Host: "the end with Windows", Why: "autotuning, the congestion provider, and whether several cores receive"},
		{Command: "iperf3 -c PEER -w 4M -P 8, then with -R; ping PEER", Host: "the end with Windows", Why: "whether a larger window and several flows carry more, and the round trip"}}
}
