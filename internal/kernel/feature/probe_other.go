//go:build !linux

package feature

import "runtime"

func probe(names []Name) map[Name]Answer {
	answers := make(map[Name]Answer, len(names))
	for _, n := range names {
		answers[n] = Answer{State: No, Why: "a feature of Linux; this is " + runtime.GOOS}
	}
	return answers
}
