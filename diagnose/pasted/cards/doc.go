// Package cards has the rules about network cards of pasted questions: their PCIe slots
// and bridges, what drivers and the kernel write of them, what a card carries in all,
// and RDMA over them.
package cards
