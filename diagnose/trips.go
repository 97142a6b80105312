package diagnose

// unlikeTrips is how much longer than the shortest the streams' own ways are in
// the mean, in milliseconds. A stream that only began when a queue stood has no
// short round trip either, but shares the long one of the others: its way counts
// as longer by no more than its mean is.
func (w waits) unlikeTrips() float64 {
	shortest, quickest, all := 0.0, 0.0, 0.0
	for _, l := range w.lanes {
		least, mean := sound(l.TCP.MinRTTMS), sound(l.TCP.MeanRTTMS)
		if least == 0 || mean == 0 {
			return 0
		}
		if shortest == 0 || least < shortest {
			shortest = least
		}
		if quickest == 0 || mean < quickest {
			quickest = mean
		}
		all += float64(max(l.Goodput, 1))
	}
	longer := 0.0
	for _, l := range w.lanes {
		own := max(min(l.TCP.MinRTTMS-shortest, l.TCP.MeanRTTMS-quickest), 0)
		longer += own * float64(max(l.Goodput, 1)) / all
	}
	return sound(longer)
}
