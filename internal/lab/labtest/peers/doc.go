// Package peers measures together with other people's programs: iperf3 servers
// that linerate is a client of, iperf2 that it drives, over a bond of shaped
// links on a real kernel. The programs' versions are in the log.
package peers
