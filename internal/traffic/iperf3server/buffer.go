package iperf3server

// bufferLength is how much one call takes in for a stream that so many others
// flow beside. Few large calls cost the processor least; with very many streams
// memory counts more. All together: 128 of 256 KiB and 1,920 of 64 KiB at most,
// which is 152 MiB.
func bufferLength(others int) int {
	if others < 128 {
		return 256 << 10
	}
	return 64 << 10
}
