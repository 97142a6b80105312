package resultfile

import (
	"testing"
	"time"
)

// TestClientWithoutIntervals: such a client prints one row, at no time that
// means anything, and its length counts all the same.
func TestClientWithoutIntervals(t *testing.T) {
	streams, err := ParseIPerf2([]byte("19700101000000.000,10.77.0.1,43805,10.77.0.2,5001,1,0.0-9.1,265814076,233683583\n"))
	if err != nil || len(streams) != 1 {
		t.Fatalf("%d streams, %v", len(streams), err)
	}
	if got := streams[0].Total; got.Length != 9100*time.Millisecond || got.Bytes != 265814076 || !got.From.IsZero() {
		t.Errorf("total %+v", got)
	}
}

// TestRowWithoutTime: a row that is printed without its time has that which the
// stream's others give it.
func TestRowWithoutTime(t *testing.T) {
	streams, err := ParseIPerf2([]byte(`20261123075349.190,10.77.0.1,43805,10.77.0.2,5001,1,0.0-0.5,14756628,236106048
19700101000000.000,10.77.0.1,43805,10.77.0.2,5001,1,0.5-1.0,14701544,235224704
20261123075350.190,10.77.0.1,43805,10.77.0.2,5001,1,1.0-1.5,14695752,235132032
`))
	if err != nil || len(streams) != 1 || len(streams[0].Rows) != 3 {
		t.Fatalf("%+v, %v", streams, err)
	}
	rows := streams[0].Rows
	if got := rows[1].Until; !got.Equal(rows[0].Until.Add(500*time.Millisecond)) || !rows[1].From.Equal(rows[0].Until) {
		t.Errorf("the second row is from %v to %v", rows[1].From, got)
	}
}
