package sweep

import (
	"context"
	"runtime"

	"productform/internal/input"
)

// MostParts is the maximum number of parts of [Part].
const MostParts = 1_000_000

// Part returns the tasks whose index is k modulo n: the k-th of n parts, counted from 0, 0 <= k < n
// <= [MostParts]. Every task is in exactly one part, whatever a folder contains. So n processes
// that share a folder, possibly on n machines, do the work of one. A part may be empty.
func Part[R any](tasks []Task[R], k, n int) ([]Task[R], error) {
	if n < 1 || n > MostParts {
		return nil, input.Errorf("n", n, "an integer in 1..%d", MostParts)
	}
	if k < 0 || k >= n {
		return nil, input.Errorf("k", k, "an integer in 0..%d", n-1)
	}
	var part []Task[R]
	for i := k; i < len(tasks); i += n {
		part = append(part, tasks[i])
	}
	return part, nil
}

// Missing returns the tasks, in their order, whose results are not in the folder: those that [Run]
// would run. It writes nothing, and a missing folder counts as empty. Tasks without a key are
// always missing. The errors are those of Run for bad tasks, and ctx.Err().
func Missing[R any](ctx context.Context, tasks []Task[R], folder string) ([]Task[R], error) {
	if err := check(tasks, Settings{}); err != nil {
		return nil, err
	}
	found := make([]bool, len(tasks))
	err := inOrder(ctx, len(tasks), runtime.GOMAXPROCS(0), func(_ context.Context, i int) error {
		var result R
		found[i] = tasks[i].reuse(folder, &result)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var missing []Task[R]
	for i, t := range tasks {
		if !found[i] {
			missing = append(missing, t)
		}
	}
	return missing, nil
}

// Body runs the task and returns its result as [Run] would write it, for a [Put] elsewhere. It
// keeps nothing.
func (t Task[R]) Body(ctx context.Context) ([]byte, error) {
	var result R
	return t.body(ctx, &result, true)
}

// Put stores a result that another process computed: body is what [Task.Body] returned there for
// the task with that key. The file is either written completely, exactly as Run would write it, or
// not at all. The folder is created if missing.
//
// The error names the key or the body if it does not have the form that Run[R] writes and trusts.
// It is also an error if the folder has a different result for the key, since a task has one
// result: if two computers differ, one of them is wrong or rounds differently.
func Put[R any](folder, key string, body []byte) error {
	if !isHex(key, keyDigits) {
		return input.Errorf("key", key, "%d lower-case hex digits", keyDigits)
	}
	if _, err := decode[R](body); err != nil {
		return input.Errorf("body", string(excerpt(body, 0)), "a result in the form of Task.Body (%v)", err)
	}
	if kept, ok := readFile(folder, key); ok {
		if _, err := decode[R](kept); err == nil {
			if i := firstDifference(kept, body); i >= 0 {
				return input.Errorf("body", string(excerpt(body, i)),
					"the result that %s has for the key %s: it continues with %s",
					folder, key, excerpt(kept, i))
			}
			return nil
		}
	}
	return writeFile(folder, key, body)
}
