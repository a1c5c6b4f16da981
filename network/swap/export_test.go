package swap

import "context"

// Reachable returns all orders of the jobs of a closed queue that its start can reach, for tests.
func Reachable(ctx context.Context, m *Model) (orders [][]int, err error) {
	list, _, err := m.reach(ctx, Settings{})
	for _, order := range list {
		orders = append(orders, classes(order))
	}
	return orders, err
}
