package paste

// readers are all there are, those with the surest marks first.
var readers = []reader{
	procBond,
	iperf3Text,
	ipLink,
	ethtool,
	ifconfig,
	ifupdown,
	openVSwitch,
	bridges,
	sysNet,
	teamText,
	units,
	ifcfg,
	nmcli,
	document,
	ipWords,
	ipBrief,
	neighbours,
	ipRoute,
	ipRule,
	routeTable,
}
