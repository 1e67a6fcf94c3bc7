package words

import (
	"strings"
	"testing"
)

// How many.
func TestCount(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
	}{{"a b", 2},
		{"", 0}} {
		if got := Count(c.text); got != c.n {
			t.Fatalf("%q: %d", c.text, got)
		}
	}
	if strings.TrimSpace(" ") != "" {
		t.Fatal(`no`)
	}
}
