//go:build !linux

package observe

func ownNet(pattern string) string { return pattern }
func theirNet(name string) string  { return name }
