package observe

import (
	"maps"
	"slices"
)

// capturePatterns are the files that Captured reads and a capture keeps, as
// patterns of path.Match. Beside them a capture keeps ownerTraces as empty
// files.
var capturePatterns = []string{
	"etc/hostname",
	"proc/cpuinfo", "proc/interrupts", "proc/meminfo",
	"proc/net/bonding/*", "proc/net/dev", "proc/net/fib_trie", "proc/net/if_inet6", "proc/net/netstat", "proc/net/route",
	"proc/net/ipv6_route", "proc/net/snmp", "proc/net/softnet_stat", "proc/net/vlan/config",
	"proc/sys/kernel/arch", "proc/sys/kernel/hostname", "proc/sys/kernel/osrelease",
	"proc/sys/net/core/*", "proc/sys/net/ipv4/*", "proc/sys/net/ipv6/*",
	"proc/sys/net/mptcp/*", "proc/sys/net/netfilter/*", "proc/sys/kernel/numa_balancing", "proc/sys/vm/min_free_kbytes",
	"sys/class/dmi/id/bios_vendor", "sys/class/dmi/id/board_vendor", "sys/class/dmi/id/chassis_asset_tag", "sys/class/dmi/id/chassis_vendor",
	"sys/class/dmi/id/product_family", "sys/class/dmi/id/product_name", "sys/class/dmi/id/sys_vendor",
	"sys/class/net/*/address", "sys/class/net/*/carrier", "sys/class/net/*/device/numa_node", "sys/class/net/*/device/msi_irqs/*",
	"sys/class/net/*/device/uevent", "sys/class/net/*/duplex",
	"sys/class/net/*/flags", "sys/class/net/*/ifindex", "sys/class/net/*/mtu", "sys/class/net/*/operstate",
	"sys/class/net/*/queues/*/rps_cpus", "sys/class/net/*/queues/*/xps_cpus",
	"sys/class/net/*/speed", "sys/class/net/*/statistics/*", "sys/class/net/*/tun_flags", "sys/class/net/*/tx_queue_len",
	"sys/class/net/*/type", "sys/class/net/*/uevent",
	"sys/class/net/*/bonding/*", "sys/class/net/*/bonding_slave/*", "sys/class/net/*/bridge/*", "sys/class/net/*/brport/port_no",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "sys/devices/system/node/online",
}

// cardPatterns are the files of one PCI device ("%s") that a capture keeps:
// those of links, not of every disk.
var cardPatterns = []string{
	"sys/bus/pci/devices/%s/config", "sys/bus/pci/devices/%s/*_link_speed", "sys/bus/pci/devices/%s/*_link_width",
	"sys/bus/pci/devices/%s/msi_irqs/*", "sys/bus/pci/devices/%s/numa_node",
}

// irqPatterns are the files of one interrupt ("%d").
var irqPatterns = []string{"proc/irq/%d/effective_affinity_list", "proc/irq/%d/smp_affinity_list"}

// linkSysctlPatterns are the files of the tunables of each link that are read.
func linkSysctlPatterns() []string {
	var all []string
	for _, family := range slices.Sorted(maps.Keys(linkKeys)) {
		for _, name := range linkKeys[family] {
			all = append(all, "proc/sys/net/"+family+"/conf/*/"+name)
		}
	}
	return all
}
