package agentapi

import "testing"

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		has, needs Role
		want       bool
	}{
		{RoleWatch, RoleWatch, true}, {RoleWatch, RoleMeasure, false}, {RoleWatch, RoleChange, false}, {RoleMeasure, RoleWatch, true}, {RoleMeasure, RoleChange, false},
		{RoleChange, RoleMeasure, true}, {RoleChange, RoleChange, true}, {RoleAgent, RoleWatch, false}, {"", RoleWatch, false}, {RoleChange, "", false}, {RoleChange, RoleAgent, false}, {"root", RoleWatch, false},
	} {
		if got := c.has.Includes(c.needs); got != c.want {
			t.Errorf("%s includes %s: %v", c.has, c.needs, got)
		}
	}
}
