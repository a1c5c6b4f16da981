package worker

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// machine returns the load average of the last minute, and the bytes of free memory and of free
// disk space at folder. Unknown values are 0.
func machine(folder string) (load float64, memory, disk int64) {
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		load, _ = strconv.ParseFloat(first, 64)
	}
	if f, err := os.Open("/proc/meminfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if part := strings.Fields(lines.Text()); len(part) == 3 && part[0] == "MemAvailable:" {
				kibibytes, _ := strconv.ParseInt(part[1], 10, 64)
				memory = kibibytes << 10
				break
			}
		}
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err == nil {
		disk = int64(fs.Bavail) * int64(fs.Bsize)
	}
	return load, memory, disk
}
