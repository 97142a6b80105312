package observe

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// dmi is the directory where sysfs shows what the firmware says. Serial
// numbers, which only root may read, are not looked at.
const dmi = "sys/class/dmi/id/"

// providers is the one table of who rents machines out and how the firmware
// tells: the text begins so. As cloud-init's ds-identify and the providers'
// documentation have them; Azure's tag tells it from other Hyper-V hosts.
var providers = [...]struct{ file, begins, provider string }{
	{"sys_vendor", "Amazon EC2", "aws"},
	{"board_vendor", "Amazon EC2", "aws"},
	{"bios_vendor", "Amazon EC2", "aws"},
	{"product_name", "Google Compute Engine", "gcp"},
	{"chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77", "azure"},
	{"chassis_asset_tag", "ibmcloud", "ibm-vpc"},
	{"chassis_vendor", "IBM:Cloud Compute Server", "ibm-vpc"},
	{"sys_vendor", "IBM:Cloud Compute Server", "ibm-vpc"},
	{"chassis_asset_tag", "OracleCloud.com", "oracle"},
	{"product_name", "Alibaba Cloud", "alibaba"},
	{"sys_vendor", "Alibaba Cloud", "alibaba"},
	{"sys_vendor", "Tencent Cloud", "tencent"},
	{"sys_vendor", "DigitalOcean", "digitalocean"},
	{"sys_vendor", "Hetzner", "hetzner"},
	{"sys_vendor", "Scaleway", "scaleway"},
	{"sys_vendor", "Vultr", "vultr"},
	{"sys_vendor", "UpCloud", "upcloud"},
	{"sys_vendor", "Akamai", "linode"},
	{"sys_vendor", "Linode", "linode"},
	{"product_name", "Exoscale", "exoscale"},
	{"sys_vendor", "OVH", "ovh"},
	{"board_vendor", "OVH", "ovh"},
	{"chassis_vendor", "OVH", "ovh"},
	{"product_name", "OpenStack", "openstack"},
}

// limited are the providers whose rules package cloud knows: for them alone an
// instance's network is limited in a way that can be computed.
var limited = []string{"aws", "gcp", "azure", "ibm-vpc"}

// readMachine is what the firmware says; nil where it says nothing. cloud is
// set where the machine is an instance of a provider in the list above.
func readMachine(tree fs.FS, cores int) (machine *netstate.Machine, cloud *netstate.Cloud) {
	r := reader{tree}
	seen := make(map[string]string) // each file once, however many rows ask for it
	said := func(file string) string {
		text, known := seen[file]
		if !known {
			text = r.text(dmi + file)
			seen[file] = text
		}
		return text
	}
	m := netstate.Machine{Vendor: said("sys_vendor"), Product: said("product_name"), Board: said("board_vendor")}
	for _, p := range providers {
		if strings.HasPrefix(said(p.file), p.begins) {
			m.Provider = p.provider
			break
		}
	}
	if m == (netstate.Machine{}) {
		return nil, nil
	}
	if !slices.Contains(limited, m.Provider) {
		return &m, nil
	}
	return &m, &netstate.Cloud{Provider: m.Provider, VCPUs: cores, Instance: instanceType(r, m)}
}

// instanceType is the type where the firmware has it: AWS says it as the
// product, IBM behind the vendor ("IBM:Cloud Compute Server 1.0:bx2-4x16").
func instanceType(r reader, m netstate.Machine) string {
	switch m.Provider {
	case "aws":
		// "HVM domU" and "Not Specified" are no types.
		if family, size, ok := strings.Cut(m.Product, "."); ok && family != "" && size != "" && !strings.Contains(m.Product, " ") {
			return m.Product
		}
	case "ibm-vpc":
		for _, file := range []string{"chassis_vendor", "sys_vendor", "product_family", "product_name"} {
			parts := strings.Split(r.text(dmi+file), ":")
			if last := parts[len(parts)-1]; len(parts) > 1 && strings.Contains(last, "-") && !strings.Contains(last, " ") {
				return last
			}
		}
	}
	return ""
}

// memory is MemTotal of /proc/meminfo; zero unknown.
func memory(text string) unit.Bytes {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "MemTotal:")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		if len(fields) != 2 || fields[1] != "kB" {
			return 0
		}
		n, err := strconv.ParseUint(fields[0], 10, 50)
		if err != nil {
			return 0
		}
		return unit.Bytes(n * 1024)
	}
	return 0
}

// governor is cpufreq's of the first core that has one.
func governor(tree fs.FS) string {
	return reader{tree}.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
}
