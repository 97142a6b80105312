package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestSizesElsewhere: a smaller MTU that helped, in other languages and by two rates.
func TestSizesElsewhere(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"Russian", "Загрузка через туннель очень медленная уже второй день.\nПоменял MTU с 1420 на 1280 и всё заработало быстро.\n", record.MTU, 0.7, 0.8, "Smaller packets help", ""},
		{"Russian, in vain", "Загрузка через туннель очень медленная уже второй день.\nПоменял MTU с 1420 на 1280, но это не помогло совсем.\n", record.Unknown, 0, 0, "", "Smaller packets help"},
		{"German", "Downloads durch den Tunnel sind leider sehr langsam.\nMit der MTU auf 1380 gesetzt läuft es jetzt schnell.\n", record.MTU, 0.7, 0.8, "Smaller packets help", ""},
		{"German, in vain", "Downloads durch den Tunnel sind leider sehr langsam.\nMit der MTU auf 1380 gesetzt läuft es trotzdem nicht schneller.\n", record.Unknown, 0, 0, "", "Smaller packets help"},
		{"French", "Les copies par le VPN sont très lentes depuis hier.\nAprès avoir réduit le MTU à 1380, le débit est rapide et tout fonctionne.\n", record.MTU, 0.7, 0.8, "Smaller packets help", ""},
		{"Spanish", "Las copias por la VPN van muy lentas desde ayer.\nBajé el MTU a 1380 en los dos lados y ahora funciona bien.\n", record.MTU, 0.7, 0.8, "Smaller packets help", ""},
		{"Chinese", "隧道里的速度很慢，不知道为什么。\n把 MTU 改成 1300 以后速度恢复正常。\n", record.MTU, 0.7, 0.8, "Smaller packets help", ""},
		{"Japanese", "VPN 経由の転送がとても遅いです。\nMTU を 1300 に下げたら改善しました。\n", record.MTU, 0.7, 0.8, "Smaller packets help", ""},
		{"two rates in a line", "Our tunnel is slow. With mtu 1420 we get 4 Mbps and with 1300 it is 61 Mbps.\n", record.MTU, 0.7, 0.8, "Smaller packets help", ""},
		{"two rates in a list", "Our tunnel is slow, by its size:\n- MTU 1420 gets us 4 Mbps of 200\n- MTU 1300 gets us 61 Mbps of 200\n", record.MTU, 0.7, 0.8, "Smaller packets help", ""},
		{"rates that are alike", "Our tunnel is slow. With mtu 1420 we get 58 Mbps and with 1300 it is 61 Mbps.\n", record.Unknown, 0, 0, "", "Smaller packets help"},
		{"two directions", "Our tunnel is slow. With mtu 1420 we get 4 Mbps up and 61 Mbps down, with 1300 it is 5 Mbps up and 60 Mbps down.\n", record.Unknown, 0, 0, "", "Smaller packets help"},
		{"no longer slow", "Downloads in the container are slow.\nAfter disabling RSC on every adapter we no longer see slow downloads.\n", record.CardSlot, 0.6, 0.7, "Leave that one offload off", ""},
		{"losses in Chinese", "跨境中转很慢，只有 300kbps。\n实测丢包率 3.2%，minRTT ~180ms，晚高峰更差。\n", record.Congestion, 0.5, 0.6, "by few losses", ""},
		{"no losses in Chinese", "跨境中转很慢，只有 300kbps。\n实测丢包率 0%，minRTT ~180ms，晚高峰也一样。\n", record.Unknown, 0, 0, "", "by few losses"},
	})
}

// TestLimitsTold: limits that somebody set, and programs that keep few requests under way.
func TestLimitsTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a policer", "Ingress policing of 20 Mbps is set at our port, and TCP stays far below.\nUDP gets very close to 20 Mbps there.\n", record.Shaper, 0.5, 0.6, "by a policer", ""},
		{"a policer with slow UDP", "Ingress policing of 20 Mbps is set at our port, and TCP stays far below.\nUDP gets 3 Mbps there, so why?\n", record.Unknown, 0, 0, "", "by a policer"},
		{"a set limit", "We add a bandwidth limit with flowadm on the zone's link, maxbw=40M.\nThe copies run far below the configured value.\n", record.Shaper, 0.5, 0.6, "somebody set a limit", ""},
		{"a limit that is kept", "We add a bandwidth limit with flowadm on the zone's link, maxbw=40M.\nThe copies run at the configured value, which is slow.\n", record.Unknown, 0, 0, "", "somebody set a limit"},
		{"packets a second", "Our NAT instance is slow at noon.\nIt hits the instance's PPS limit and drops packets then.\n", record.Shaper, 0.5, 0.6, "packets a second", ""},
		{"fixed requests", "SFTP downloads are very slow over high roundtrip latency.\nThe library has a hard-coded maxUnconfirmedReads of 16.\n", record.Application, 0.5, 0.6, "number of requests under way", ""},
		{"fixed requests nearby", "SFTP downloads are very slow in our office.\nThe library has a hard-coded maxUnconfirmedReads of 16.\n", record.Unknown, 0, 0, "", "number of requests under way"},
		{"a gateway of one's own", "Our Site-to-Site VPN between two UserGate boxes is slow.\niperf3 with 4 streams shows 85 Mbps there.\n", record.Unknown, 0, 0, "", "provider's gateway"},
		{"a provider's", "Our AWS Site-to-Site VPN into the VPC is slow.\niperf3 with 4 streams shows 85 Mbps there.\n", record.Shaper, 0.4, 0.5, "provider's gateway", ""},
	})
}

// TestOfOthers: rates and speeds that are not what they look like at first.
func TestOfOthers(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"striped and full", "All servers have two gigabit ports in a bond with mode balance-rr.\niperf3 between them gets 1.97 Gbit/s.\nCopies to the cluster run at 28 MB/s only.\n", record.Application, 0.4, 0.5, "gets 224 Mbit/s", "out of order"},
		{"striped and slow", "All servers have two gigabit ports in a bond with mode balance-rr.\niperf3 between them gets 1.1 Gbit/s only.\n", record.Reordering, 0.4, 0.5, "out of order", ""},
		{"a supposed link", "Bursts get lost with this default. For example, if the link from A is 1 Gbps and the link to B is 100 Mbps, TCP can't grow.\n", record.Unknown, 0, 0, "", "came up at 100"},
		{"a line, no connection", "The speed test gets 210 Mbps only with a 1g internet connection, why?\nLatency: 14.2 ms to the next server\n", record.Unknown, 0, 0, "", "in each round trip"},
		{"one connection", "A single connection gets 21 Mbps only with a 1g internet line, why?\nLatency: 140 ms to the other server\n", record.ReceiveWindow, 0.4, 0.6, "in each round trip", ""},
		{"a result below its command", "The copies by rsync are slow.\n# Testing the network throughput alone\niperf -c nas\n# Shows 936 Mbit/s here\nrsync to the NAS runs at 24 MB/s only.\n", record.Application, 0.4, 0.56, "gets 192 Mbit/s", ""},
		{"a cable that was changed", "Backups by rsync ran at 30 MB/s only.\nThere was a problem in the cable, they changed it and the speed came back to 100 MB/s.\n", record.Congestion, 0.55, 0.65, "the old one damaged frames", ""},
	})
}

// TestCountedAgain: what other systems' netstat counts, and the queue of a shaper.
func TestCountedAgain(t *testing.T) {
	bsd := func(again string) string {
		return "Uploads from this Mac are very slow and fail in the end.\n$ netstat -s\ntcp:\n\t341222 packets sent\n\t\t201144 data packets (264411023 bytes)\n\t\t" + again + " data packets (9010117 bytes) retransmitted\n\t\t83134 ack-only packets (2 delayed)\n"
	}
	windows := func(again string) string {
		return "Uploads from this PC are very slow.\nC:\\> netstat -s -p tcp\n\nTCP Statistics for IPv4\n\n  Active Opens                        = 40112\n  Segments Received                   = 8123411\n  Segments Sent                       = 4123411\n  Segments Retransmitted              = " + again + "\n"
	}
	shaped := func(drops string) string {
		return "SW7#show policy-map interface\n TenGigabitEthernet1/1/3\n\n  Service-policy output: WAN\n\n    Class-map: class-default (match-any)\n      0 packets\n      Match: any\n      Queueing\n\n      (total drops) " + drops + "\n      (bytes output) 914982020\n      shape (average) cir 200000000, bc 800000, be 800000\n      target shape rate 200000000\n"
	}
	judgeHardware(t, []hardwareCase{
		{"macOS", bsd("51220"), record.Congestion, 0.58, 0.66, "sent again", ""},
		{"macOS, hardly any", bsd("1020"), record.Unknown, 0, 0, "", "of its segments again"},
		{"Windows", windows("211020"), record.Congestion, 0.45, 0.55, "of its segments again", ""},
		{"Windows, hardly any", windows("8020"), record.Unknown, 0, 0, "", "of its segments again"},
		{"Solaris", "Copies from this zone are slow.\n$ netstat -s -P tcp\n\ttcpOutDataSegs      =7112341\ttcpOutDataBytes     =911234123\n\ttcpRetransSegs      =911234\ttcpRetransBytes     =12341234\n", record.Congestion, 0.58, 0.66, "of its segments again", ""},
		{"a shaper that drops", shaped("4411895"), record.Shaper, 0.55, 0.65, "shapes", ""},
		{"a shaper that does not", shaped("0"), record.Unknown, 0, 0, "", "shapes"},
	})
}
