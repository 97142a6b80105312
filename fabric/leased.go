package fabric

// leasedKeys are what a DHCP server or a router gave a device.
var leasedKeys = object[Device]{
	name: "leased_device", doc: "What a DHCP server or a router gave a device when the file was written.",
	keys: []key[Device]{
		{"addresses", "the addresses", addressList},
		{"routes", "the routes", list(routeKeys, func(d *Device) *[]Route { return &d.Routes })},
	},
}

// leased lays what others give over a declared host's state, as observing it
// would.
func (b stateBuilder) leased(d Device) {
	b.address(d)
	names := b.names[d.ID]
	if len(names) == 0 {
		return
	}
	if l, found := b.Link(names[0]); found {
		l.Leases = append(l.Leases, d.Addresses...)
		b.SetLink(l)
	}
	had := len(b.state.Routes)
	b.route(d)
	for i := had; i < len(b.state.Routes); i++ {
		b.state.Routes[i].Protocol = "dhcp"
	}
}
