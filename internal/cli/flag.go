package cli

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"productform/internal/file"
	"productform/internal/input"
)

// A Flag describes a flag whose values are of type T.
type Flag[T any] struct {
	Name, Short string
	Kind        string // type of the value, as shown in the help
	Usage       string
	Default     string                 // default, as shown in the help
	Want        string                 // what Parse accepts
	Parse       func(string) (T, bool) // reads a value, or reports that it cannot
	Hint        func(string) string    // hint for a bad value; "" if unknown; nil for no hints
}

// reject returns the error for an invalid value of the flag at a path.
func (f *Flag[T]) reject(path, text string) error {
	want := f.Want
	if f.Hint != nil {
		if hint := f.Hint(text); hint != "" {
			want += "; " + hint
		}
	}
	return input.Errorf(path, text, "%s", want)
}

// Add adds the flag to a command, to be read into the target.
func (f Flag[T]) Add(cmd *cobra.Command, target *T) {
	cmd.Flags().VarP(&value[T]{f, target, f.Default}, f.Name, f.Short, f.Usage)
}

// A value implements the interface of pflag.
type value[T any] struct {
	flag   Flag[T]
	target *T
	text   string
}

func (v *value[T]) String() string { return v.text }
func (v *value[T]) Type() string   { return v.flag.Kind }

// written returns the value as it was written, or "" for one of its elements.
func (v *value[T]) written(index string) string {
	if index != "" {
		return ""
	}
	return v.text
}

func (v *value[T]) Set(text string) error {
	parsed, ok := v.flag.Parse(text)
	if !ok {
		return v.flag.reject("--"+v.flag.Name, text)
	}
	*v.target, v.text = parsed, text
	return nil
}

// AddList adds a flag for at most the given number of values, separated by commas. Parse reads one
// or several values from each word, and Want describes an accepted word; the error names the word,
// such as --name[1].
func AddList[T any](cmd *cobra.Command, target *[]T, most int, f Flag[[]T]) {
	cmd.Flags().VarP(&list[T]{value: value[[]T]{f, target, f.Default}, most: most}, f.Name, f.Short, f.Usage)
}

type list[T any] struct {
	value[[]T]
	most  int
	words []string // words as written for the values; "" for those of a range
}

// written returns one of the values as it was written, at an index such as 1], or "" for all of
// them.
func (l *list[T]) written(index string) string {
	if i, err := strconv.Atoi(strings.TrimSuffix(index, "]")); err == nil && i < len(l.words) {
		return l.words[i]
	}
	return ""
}

func (l *list[T]) Set(text string) error {
	var all []T
	l.words = nil
	words := strings.Split(text, ",")
	for i, word := range words {
		parsed, ok := l.flag.Parse(word)
		if !ok {
			return l.flag.reject(input.Index("--"+l.flag.Name, i), word)
		}
		if len(parsed) > 1 {
			word = ""
		}
		l.words = append(l.words, slices.Repeat([]string{word}, len(parsed))...)
		if all = append(all, parsed...); len(all) > l.most {
			return input.Errorf("--"+l.flag.Name, text, "at most %d numbers", l.most)
		}
	}
	*l.target, l.text = all, text
	return nil
}

// AddText adds a flag that takes any nonempty text.
func AddText(cmd *cobra.Command, target *string, name, short, want, usage string) {
	Flag[string]{Name: name, Short: short, Kind: "string", Usage: usage, Default: *target, Want: want,
		Parse: func(s string) (string, bool) { return s, s != "" }}.Add(cmd, target)
}

// AddSwitch adds a flag that is off by default.
func AddSwitch(cmd *cobra.Command, target *bool, name, usage string) {
	Flag[bool]{Name: name, Kind: "bool", Usage: usage, Default: "false", Want: "true or false",
		Parse: func(s string) (bool, bool) { return s == "true", s == "true" || s == "false" }}.Add(cmd, target)
	cmd.Flags().Lookup(name).NoOptDefVal = "true"
}

// AddChoice adds a flag that takes one of several words, by default the target or, if that is
// empty, the first word.
func AddChoice[T ~string](cmd *cobra.Command, target *T, name string, words []T, usage string) {
	*target = cmp.Or(*target, words[0])
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	cmd.Flags().Var(&choice[T]{name, all, target}, name, usage+": "+OneOf(all))
	complete(cmd, name, all)
}

type choice[T ~string] struct {
	name   string
	words  []string
	target *T
}

func (c *choice[T]) String() string { return string(*c.target) }
func (c *choice[T]) Type() string   { return "string" }

func (c *choice[T]) Set(text string) error {
	*c.target = T(text)
	return CheckWord("--"+c.name, text, c.words)
}

// AddWords adds a flag that takes some of the words, each once, separated by commas; the default is
// the target.
func AddWords(cmd *cobra.Command, target *[]string, name string, words []string, usage string) {
	cmd.Flags().Var(&wordList{name: name, words: words, target: target}, name, usage)
	complete(cmd, name, words)
}

// AddPrefixes adds a flag like that of [AddWords] that also takes prefixes: one that is not a word
// itself stands for all words with that prefix.
func AddPrefixes(cmd *cobra.Command, target *[]string, name string, words []string, usage string) {
	cmd.Flags().Var(&wordList{name: name, words: words, prefixes: true, target: target}, name, usage)
	complete(cmd, name, words)
}

// AddRenamed makes an old name of a flag an error that names the new one.
func AddRenamed(cmd *cobra.Command, old, now string) { annotate(cmd, renamedFlag+old, now) }

// AddGone makes the name of a removed flag an error that gives the reason.
func AddGone(cmd *cobra.Command, old, why string) { annotate(cmd, goneFlag+old, why) }

func annotate(cmd *cobra.Command, key, value string) {
	if cmd.Annotations == nil {
		cmd.Annotations = make(map[string]string)
	}
	cmd.Annotations[key] = value
}

// Prefixes of the annotations for the new names of flags, and for the reasons of removal.
const (
	renamedFlag = "renamed --"
	goneFlag    = "gone --"
)

type wordList struct {
	name     string
	words    []string
	prefixes bool // whether prefixes of words are accepted, which can stand for the same words
	target   *[]string
	given    bool
}

func (l *wordList) String() string { return strings.Join(*l.target, ",") }
func (l *wordList) Type() string   { return "strings" }

func (l *wordList) Set(text string) error {
	if !l.given {
		*l.target, l.given = nil, true
	}
	for i, word := range strings.Split(text, ",") {
		resolveWord := l.resolveWord(word)
		if resolveWord == nil {
			return CheckWord("--"+l.name, word, l.words)
		}
		for _, w := range resolveWord {
			switch {
			case !slices.Contains(*l.target, w):
				*l.target = append(*l.target, w)
			case !l.prefixes:
				return input.Errorf(input.Index("--"+l.name, i), word, "each %s once", l.name)
			}
		}
	}
	return nil
}

// resolveWord returns the words that a given word stands for.
func (l *wordList) resolveWord(word string) (all []string) {
	if slices.Contains(l.words, word) {
		return []string{word}
	}
	for _, w := range l.words {
		if l.prefixes && word != "" && strings.HasPrefix(w, word) {
			all = append(all, w)
		}
	}
	return all
}

func complete(cmd *cobra.Command, name string, words []string) {
	Complete(cmd, name, words, cobra.ShellCompDirectiveNoFileComp)
}

// Complete lets shells complete the value of a flag with these words. They are kept in the flag
// until [Execute] answers a shell, since cobra would keep them, and with them the whole command,
// as long as the program runs.
func Complete(cmd *cobra.Command, name string, words []string, directive cobra.ShellCompDirective) {
	err := errors.Join(
		cmd.Flags().SetAnnotation(name, completionWords, words),
		cmd.Flags().SetAnnotation(name, completionDirective, []string{strconv.Itoa(int(directive))}),
	)
	if err != nil {
		panic(err) // the flag exists
	}
}

// Annotations of flags.
const (
	completionWords     = "completion words"
	completionDirective = "completion directive"
)

// registerCompletions tells cobra how to complete the flags of a command and its subcommands.
func registerCompletions(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		words, ok := f.Annotations[completionWords]
		if !ok {
			return
		}
		directive, err := strconv.Atoi(f.Annotations[completionDirective][0])
		if err == nil {
			complete := cobra.FixedCompletions(words, cobra.ShellCompDirective(directive))
			err = cmd.RegisterFlagCompletionFunc(f.Name, complete)
		}
		if err != nil {
			panic(err) // each flag is registered once
		}
	})
	for _, c := range cmd.Commands() {
		registerCompletions(c)
	}
}

// CheckWord returns an error at the path if the word is not one of the words.
func CheckWord(path, word string, words []string) error {
	if !slices.Contains(words, word) {
		return input.Errorf(path, word, "%s%s",
			OneOf(words), file.DidYouMean(word, slices.Values(words), strings.Clone))
	}
	return nil
}

// OneOf returns "a, b or c".
func OneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
