// Package disturbed tunes hosts on a machine whose cores are taken away, as a
// hypervisor that others share does it, and holds what is kept against what a
// quiet machine keeps. It needs root: the cores are taken by the real-time class.
package disturbed
