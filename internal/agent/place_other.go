//go:build !linux

package agent

// place chooses nothing: there is no telling here where interrupts are served.
func (a *Agent) place([]string, int, []int) []int { return nil }
