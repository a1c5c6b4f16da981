package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"productform/plots/scale"
)

// measureScale measures the data of figure scale-1: processor time and memory of a process that
// solves one model, for models of many families and sizes. Each case is solved three times, by a
// new process each time, and the smallest values count. This takes several minutes. Given the
// number of a case, it solves only that case.
func measureScale(args []string) error {
	switch len(args) {
	case 0:
		return measure()
	case 1:
		k, err := strconv.Atoi(args[0])
		if err != nil || k < 0 || k >= len(scale.Cases()) {
			return errUsage
		}
		return scale.Cases()[k].Run(context.Background())
	}
	return errUsage
}

// measure writes a row for each case.
func measure() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	w := csv.NewWriter(os.Stdout)
	fmt.Printf("# %s, %d cores, %s\n", processorName(), runtime.NumCPU(), runtime.Version())
	rows := [][]string{{"family", "size", "seconds", "mebibytes"}}
	for k, c := range scale.Cases() {
		seconds, memory := 0.0, int64(0)
		for try := range 3 {
			cmd := exec.Command(own, "measure-scale", strconv.Itoa(k))
			cmd.Stderr = os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s %d: %w", c.Family, c.Size, err)
			}
			used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			peak := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) // kibibytes on Linux
			if try == 0 || used.Seconds() < seconds {
				seconds = used.Seconds()
			}
			if try == 0 || peak < memory {
				memory = peak
			}
		}
		fmt.Fprintf(os.Stderr, "%s %d: %.3f s, %d MiB\n", c.Family, c.Size, seconds, memory>>10)
		rows = append(rows, []string{
			c.Family, strconv.Itoa(c.Size), fmt.Sprintf("%.3g", seconds), strconv.FormatInt(memory>>10, 10),
		})
	}
	return w.WriteAll(rows)
}

// processorName returns the name of the processor as reported by Linux.
func processorName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, "\t :\n")
		}
	}
	return runtime.GOARCH
}
