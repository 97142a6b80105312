package render

// readers is the one table of formats that are read back.
func readers() []reader {
	return []reader{
		{FormatKeyfile, readKeyfiles},
		{FormatNetplan, readNetplan},
		{FormatNetworkd, readNetworkd},
		{FormatIfcfg, readIfcfg},
	}
}
