package cli_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/num"
)

// An error about an element of a list repeats the word written for it, or the library's value if
// the word stands for several.
func TestTranslateElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}`), 1, 5).Draw(t, "words")
		copies := rapid.SliceOfN(rapid.IntRange(1, 3), len(words), len(words)).Draw(t, "copies")
		cmd := &cobra.Command{}
		b := cli.Bind(cmd)
		var list []string
		parsed := 0
		cli.AddList(cmd, &list, 100, cli.Flag[[]string]{Name: "some", Parse: func(word string) (all []string, ok bool) {
			for range copies[parsed] {
				all = append(all, word)
			}
			parsed++
			return all, true
		}})
		b.Name("Levels", "some")
		if err := cmd.ParseFlags([]string{"--some", strings.Join(words, ",")}); err != nil {
			t.Fatal(err)
		}
		i := 0
		for k, word := range words {
			for range copies[k] {
				want := fmt.Sprintf("--some[%d] = %s: want less", i, word)
				if copies[k] > 1 {
					want = fmt.Sprintf("--some[%d] = 0: want less", i)
				}
				err := b.Translate(input.Errorf(input.Index("Levels", i), 0, "less"), "")
				var flag cli.FlagError
				if err.Error() != want || !errors.As(err, &flag) {
					t.Fatalf("%v (%T), want %s", err, err, want)
				}
				if again := b.Translate(fmt.Errorf("again: %w", err), ""); again.Error() != "again: "+want {
					t.Fatalf("%v", again)
				}
				i++
			}
		}
		if i != len(list) {
			t.Fatalf("%d elements, want %d", len(list), i)
		}
	})
}

// An error about a size names the flags of its remedies, and one about a model also the
// alternative.
func TestTranslateTooLarge(t *testing.T) {
	b := cli.Bind(&cobra.Command{})
	b.Remedy(num.Simulation, "runs")
	limit := 0
	b.Int(&limit, "Limit", "limit", 9, "most `N`")
	large := func(path string) error {
		remedies := []num.Remedy{num.Bounds, num.Simulation}
		return &num.TooLargeError{Input: input.Errorf(path, 9, "less"), Instead: remedies}
	}
	for path, want := range map[string]string{
		"classes": "classes = 9: want less; --runs has no such limit",
		"Limit":   "the default of --limit = 9: want less; --runs has no such limit",
		"model":   "model = 9: want less; --runs has no such limit; or another command",
	} {
		if err := b.Translate(large(path), "or another command"); err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
