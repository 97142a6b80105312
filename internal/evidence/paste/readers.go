package paste

// readers are all there are, those with the surest marks first.
var readers = []reader{
	procBond,
	iperf3Text,
	iperf2Text,
	iperfJSON,
	loadTools,
	rdmaTests,
	copyRates,
	sockets,
	kernelCounters,
	queues,
	sysctls,
	storagePaths,
	mounts,
	mptcp,
	interrupts,
	pciCards,
	reach,
	netDev,
	nodeMetrics,
	cpuLoad,
	linkRates,
	kernelLog,
	hostID,
	ipLink,
}
