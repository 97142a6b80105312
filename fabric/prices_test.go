package fabric

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/netstate"
)

func TestPrices(t *testing.T) {
	f := parse(t, "testdata/good/prices.yaml")
	two := 2
	if diff := cmp.Diff(&Prices{Currency: "USD", SwitchPort: 100, Cable: 10.5}, f.Prices); diff != "" {
		t.Errorf("prices (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]CardModel{
		{Name: "x540-t2", Price: 500, Ports: 2, Speed: 10e9, Slot: netstate.Card{Name: "x540-t2", Generation: 2, Lanes: 4, MaxPayload: 256}},
		{Name: "x710", Price: 350, Ports: 4, Speed: 10e9, Slot: netstate.Card{Name: "x710"}},
	}, f.Catalog); diff != "" {
		t.Errorf("catalog (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&two, f.Switches); diff != "" {
		t.Errorf("switches (-want +got):\n%s", diff)
	}
	h, err := f.State("a")
	if err != nil {
		t.Fatal(err)
	}
	want := []netstate.Card{{Name: "c0", Generation: 3, Lanes: 8, Price: 500, Keep: true}}
	if diff := cmp.Diff(want, h.Cards); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
	if declared, _ := f.Host("a"); declared.Hardware.FreeSlots != 2 {
		t.Errorf("%d free slots; want 2", declared.Hardware.FreeSlots)
	}
	if plain := parse(t, "testdata/good/contract.yaml"); plain.Prices != nil || plain.Catalog != nil || plain.Switches != nil {
		t.Errorf("prices that nobody wrote: %+v, %+v, %v", plain.Prices, plain.Catalog, plain.Switches)
	}
}
