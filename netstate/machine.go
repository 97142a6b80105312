package netstate

// Machine is what the firmware says of the machine (SMBIOS, which sysfs shows
// in /sys/class/dmi/id). Empty fields were not said.
type Machine struct {
	Vendor  string `json:"vendor,omitempty"`  // "Dell Inc.", "Amazon EC2"
	Product string `json:"product,omitempty"` // "PowerEdge R750", "m5.large"
	Board   string `json:"board_vendor,omitempty"`
	// Provider is who rents the machine out, where the firmware tells ("aws",
	// "ovh", ...). Host.Cloud is set besides where it is an instance whose
	// network the provider limits by rules.
	Provider string `json:"provider,omitempty"`
}

// Bridge is a bridge's ports and its options, as the kernel names them in
// /sys/class/net/BRIDGE/bridge, unread but kept.
type Bridge struct {
	Ports   []string          `json:"ports"`
	Options map[string]string `json:"options,omitempty"`
}
