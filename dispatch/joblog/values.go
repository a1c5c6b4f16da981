package joblog

import (
	"bytes"
	"math"
	"time"

	"productform/dispatch/swf"
	"productform/internal/input"
)

// isMissing reports whether a cell says that its value is unknown.
func isMissing(text []byte) bool {
	switch len(text) {
	case 0:
		return true
	case 1:
		return text[0] == '-'
	}
	if c := text[0]; c >= '0' && c <= '9' {
		return false
	}
	switch string(text) {
	case "-1", "Unknown", "unknown", "None", "none", "None assigned", "N/A", "NA", "null", "(null)", "INVALID":
		return true
	}
	return false
}

// A moment is a time: whole seconds and a fraction of a second, since their sum has fewer digits.
type moment struct {
	value    float64 // the time in seconds
	seconds  int64   // rounded down
	fraction float64
	known    bool
	local    bool // a date without a zone
}

// minus returns the seconds from an earlier to this time.
func (m moment) minus(earlier moment) float64 {
	if max(m.value, earlier.value) > input.MaxInteger { // no such time has a fraction
		return m.value - earlier.value
	}
	return float64(m.seconds-earlier.seconds) + (m.fraction - earlier.fraction)
}

// parseTime returns the time in a cell that is not missing.
func parseTime(text []byte) (m moment, ok bool) {
	if len(text) >= 16 && text[4] == '-' {
		return parseDate(text)
	}
	v, ok := input.Decimal(text)
	if !ok || v > input.MaxInteger {
		return moment{value: v, known: ok}, ok
	}
	whole, rest, _ := bytes.Cut(text, []byte("."))
	if n, isWhole := input.Digits(whole); isWhole {
		if fraction, isPlain := decimalFraction(rest); isPlain {
			return moment{value: v, seconds: n, fraction: fraction, known: true}, true
		}
	}
	floor := math.Floor(v)
	return moment{value: v, seconds: int64(floor), fraction: v - floor, known: true}, true
}

// decimalFraction returns the number with the given digits behind the point, at most 15.
func decimalFraction(text []byte) (float64, bool) {
	if len(text) == 0 {
		return 0, true
	}
	n, ok := input.Digits(text)
	return float64(n) / math.Pow10(len(text)), ok && len(text) <= 15
}

// parseDate returns the time of a date YYYY-MM-DDTHH:MM[:SS[.F]][ZONE].
func parseDate(text []byte) (m moment, ok bool) {
	if text[7] != '-' || text[10] != 'T' && text[10] != ' ' || text[13] != ':' {
		return m, false
	}
	year, ok1 := input.Digits(text[:4])
	month, ok2 := input.Digits(text[5:7])
	day, ok3 := input.Digits(text[8:10])
	hour, ok4 := input.Digits(text[11:13])
	minute, ok5 := input.Digits(text[14:16])
	date := time.Date(int(year), time.Month(month), int(day), int(hour), int(minute), 0, 0, time.UTC)
	if !(ok1 && ok2 && ok3 && ok4 && ok5) || year < 1970 || month < 1 || month > 12 || date.Day() != int(day) ||
		hour > 23 || minute > 59 { // package time reads February 30 as a day of March
		return m, false
	}
	m = moment{seconds: date.Unix(), known: true}
	rest := text[16:]
	if len(rest) >= 3 && rest[0] == ':' {
		second, ok := input.Digits(rest[1:3])
		if !ok || second > 59 {
			return m, false
		}
		m.seconds += second
		if rest = rest[3:]; len(rest) > 0 && rest[0] == '.' {
			end := 1
			for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
				end++
			}
			var isPlain bool
			if m.fraction, isPlain = decimalFraction(rest[1:end]); !isPlain || end == 1 {
				return m, false
			}
			rest = rest[end:]
		}
	}
	offset, ok := parseZone(rest)
	m.local = len(rest) == 0
	m.seconds -= offset
	m.value = float64(m.seconds) + m.fraction
	return m, ok && m.seconds >= 0
}

// parseZone returns the seconds by which the clocks of a zone are ahead of UTC.
func parseZone(text []byte) (offset int64, ok bool) {
	if len(text) == 0 || string(text) == "Z" {
		return 0, true
	}
	sign := int64(1)
	switch text[0] {
	case '+':
	case '-':
		sign = -1
	default:
		return 0, false
	}
	text = text[1:]
	if len(text) == 5 && text[2] == ':' {
		text = []byte{text[0], text[1], text[3], text[4]}
	}
	n, ok := input.Digits(text)
	switch {
	case !ok || len(text) != 2 && len(text) != 4:
		return 0, false
	case len(text) == 2:
		n *= 100
	}
	return sign * (3600*(n/100) + 60*(n%100)), n/100 <= 14 && n%100 <= 59
}

// parseDuration returns the seconds in a number, in [D-]HH:MM:SS, [D-]HH:MM with days, D-HH or
// MM:SS; the last part may have decimals.
func parseDuration(text []byte) (seconds float64, ok bool) {
	if bytes.IndexByte(text, ':') < 0 && bytes.IndexByte(text, '-') <= 0 {
		return input.Decimal(text)
	}
	days, clock, hasDays := bytes.Cut(text, []byte("-"))
	if !hasDays {
		days, clock = nil, text
	}
	var parts [3]float64
	count := 0
	for rest, more := clock, true; more; count++ {
		var part []byte
		part, rest, more = bytes.Cut(rest, []byte(":"))
		if count == len(parts) {
			return 0, false
		}
		n, isInteger := input.Digits(part)
		parts[count] = float64(n)
		if !more && !isInteger {
			whole, decimals, _ := bytes.Cut(part, []byte("."))
			n, ok1 := input.Digits(whole)
			fraction, ok2 := decimalFraction(decimals)
			if !ok1 || !ok2 || len(decimals) == 0 {
				return 0, false
			}
			parts[count] = float64(n) + fraction
		} else if !isInteger {
			return 0, false
		}
	}
	var hours, minutes float64
	switch {
	case hasDays: // from the hours down
		hours, minutes, seconds = parts[0], parts[1], parts[2]
	case count == 3:
		hours, minutes, seconds = parts[0], parts[1], parts[2]
	default: // MM:SS
		minutes, seconds = parts[0], parts[1]
	}
	total := 3600*hours + 60*minutes + seconds
	if hasDays {
		n, ok := input.Digits(days)
		if !ok || hours >= 24 {
			return 0, false
		}
		total += 86400 * float64(n)
	}
	return total, seconds < 60 && (minutes < 60 || count == 2 && !hasDays) && total <= input.MaxInteger
}

// parseMinutes returns the seconds in a number of minutes.
func parseMinutes(text []byte) (seconds float64, ok bool) {
	minutes, ok := input.Decimal(text)
	return 60 * minutes, ok && minutes <= input.MaxInteger
}

// statusOf returns the SWF status of a state of Slurm, or of a number.
func statusOf(text []byte) (int64, bool) {
	if n, ok := input.Digits(text); ok {
		return n, true
	}
	word, _, _ := bytes.Cut(text, []byte(" ")) // CANCELLED by 1001
	switch string(bytes.TrimSuffix(word, []byte("+"))) {
	case "COMPLETED", "CD":
		return 1, true
	case "CANCELLED", "CA":
		return 5, true
	case "FAILED", "F", "TIMEOUT", "TO", "NODE_FAIL", "NF", "OUT_OF_MEMORY", "OOM", "BOOT_FAIL", "BF", "DEADLINE",
		"DL", "PREEMPTED", "PR", "REVOKED", "RV", "LAUNCH_FAILED", "RECONFIG_FAIL":
		return 0, true
	case "PENDING", "PD", "RUNNING", "R", "SUSPENDED", "S", "REQUEUED", "RQ", "RESIZING", "RS", "COMPLETING", "CG",
		"CONFIGURING", "CF", "STAGE_OUT", "SIGNALING", "SPECIAL_EXIT", "STOPPED", "REQUEUE_HOLD", "REQUEUE_FED":
		return swf.Unknown, true
	}
	return 0, false
}

// tresCPUs returns the processors in a list such as cpu=4,mem=16G,node=1,gres/gpu=2.
func tresCPUs(text []byte) (cpus int64, ok bool) {
	cpus = swf.Unknown
	for rest, more := text, true; more; {
		var item []byte
		item, rest, more = bytes.Cut(rest, []byte(","))
		name, value, isPair := bytes.Cut(item, []byte("="))
		if !isPair || len(name) == 0 || len(value) == 0 {
			return 0, false
		}
		if string(name) == "cpu" {
			if cpus, ok = input.Digits(value); !ok {
				return 0, false
			}
		}
	}
	return cpus, true
}

// chunkCPUs returns the processors of PBS chunks such as 2:ncpus=8+1:ncpus=4, or of Torque nodes
// such as 2:ppn=8 and n17:ppn=4+n18:ppn=4, where key is ncpus or ppn.
func chunkCPUs(text []byte, key string) (cpus int64, ok bool) {
	for rest, more := text, true; more; {
		var chunk []byte
		chunk, rest, more = bytes.Cut(rest, []byte("+"))
		count, each := int64(1), int64(1)
		first := true
		for inner, moreParts := chunk, true; moreParts; first = false {
			var part []byte
			part, inner, moreParts = bytes.Cut(inner, []byte(":"))
			name, value, isPair := bytes.Cut(part, []byte("="))
			switch {
			case len(part) == 0:
				return 0, false
			case isPair && string(name) == key:
				if each, ok = input.Digits(value); !ok || each > 1<<31 {
					return 0, false
				}
			case first && !isPair:
				if n, isCount := input.Digits(part); isCount {
					count = n
				}
			}
		}
		if count > 1<<31 || cpus > 1<<31 {
			return 0, false
		}
		cpus += count * each
	}
	return cpus, cpus <= 1<<31
}
