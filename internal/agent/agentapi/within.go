package agentapi

import (
	"cmp"
	"time"
)

// prompt is how long a host may take for a request that does not wait by nature.
const prompt = 3 * time.Minute

// Within is how long a host may take to answer a request: the wait that is asked for,
// and three minutes. This is the one list of requests that wait by nature.
func Within(request any) time.Duration {
	switch r := request.(type) {
	case PingRequest:
		return prompt + time.Duration(r.Count)*cmp.Or(r.Interval, time.Second) + r.Timeout
	case TrafficRequest:
		return prompt + r.Span
	case LLDPRequest:
		return prompt + r.Wait
	case CoreRateRequest:
		return prompt + r.Span()
	case CaptureRequest:
		return prompt + 7*time.Minute // megabytes, over a link that is slow
	case IPerf3OpenRequest:
		return prompt + r.BusyFor
	case SessionRequest:
		return prompt + r.Wait
	case ApplyRequest: // it may wait at its gate until its deadline
		return prompt + r.Pause + cmp.Or(r.Deadline, 2*time.Minute)
	case RollbackRequest:
		if r.Group != "" { // of many changes
			return prompt + 12*time.Minute
		}
	}
	return prompt
}
