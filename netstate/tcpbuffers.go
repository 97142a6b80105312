package netstate

// TCPBuffers are TCP's buffer limits as a kernel of the release sets them
// on a machine with memory to spare (tcp_init and tcp_sk_init, net/ipv4/tcp.c,
// net/ipv4/tcp_ipv4.c): the initial receive buffer since 4.20, the receive
// maximum since 6.16. Nil for an unknown release.
func (k Kernel) TCPBuffers() map[string]string {
	since, known := k.AtLeast(4, 20)
	if !known || k.OS != "linux" {
		return nil
	}
	initial, most := "87380", "6291456"
	if since {
		initial = "131072"
	}
	if wide, _ := k.AtLeast(6, 16); wide {
		most = "33554432"
	}
	return map[string]string{
		"net.ipv4.tcp_rmem": "4096 " + initial + " " + most,
		"net.ipv4.tcp_wmem": "4096 16384 4194304",
	}
}
