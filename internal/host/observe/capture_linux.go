package observe

import "strings"

// /proc/net is the process's first thread's namespace; a capture wants the
// calling thread's.
const (
	processNet = "proc/net/"
	threadNet  = "proc/thread-self/net/"
)

func ownNet(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, processNet); ok {
		return threadNet + rest
	}
	return pattern
}

func theirNet(name string) string {
	if rest, ok := strings.CutPrefix(name, threadNet); ok {
		return processNet + rest
	}
	return name
}
