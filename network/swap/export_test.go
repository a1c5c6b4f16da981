package swap

import (
	"context"

	"productform/num"
)

// Reachable returns all orders of the jobs of a closed queue that its start can reach, for tests.
func Reachable(ctx context.Context, m *Model) (orders [][]int, err error) {
	list, _, err := m.reach(ctx, Settings{MaxBytes: num.DefaultMaxBytes})
	for _, order := range list {
		orders = append(orders, classes(order))
	}
	return orders, err
}
