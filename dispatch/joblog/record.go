package joblog

import (
	"bytes"
	"math"

	"productform/dispatch/swf"
	"productform/internal/input"
)

// Valid values of cells.
const (
	wantTime     = "seconds from any origin, or a date since 1970 such as 2026-03-01T12:30:00, with or without a zone"
	wantDuration = "seconds >= 0, or a duration such as 01:30:00, 2-12:00:00 or 05:30"
	wantLimit    = wantDuration + ", UNLIMITED or Partition_Limit"
	wantMinutes  = "minutes from 0 to 2^53, UNLIMITED or Partition_Limit"
	wantCount    = "an integer from 0 to 2^53"
	wantAmount   = "a finite number >= 0"
	wantStatus   = "a state of Slurm such as COMPLETED or CANCELLED by 1001, or an integer as in SWF"
	wantTRES     = "resources such as cpu=4,mem=16G,node=1"
	wantChunks   = "chunks such as 2:ncpus=8+1:ncpus=4"
	wantNodes    = "nodes such as 2:ppn=8+n17:ppn=4"
	wantExit     = "an integer"
)

// clockTol is the maximum difference, in seconds, between a reported elapsed time and end minus
// start: all three may be rounded to seconds.
const clockTol = 2

// A record is a row of a log: the cell of each field, nil without a column.
type record struct {
	cells    [fieldCount][]byte
	bindings [fieldCount]binding // meaning of the column of each cell
	err      error               // error about the first invalid cell
	clock    wallClock
	offClock Reason // why the clock never shows the time of a cell, or twice; 0 for none
}

// clear empties the record.
func (r *record) clear() {
	clear(r.cells[:])
	r.err, r.offClock = nil, 0
}

// set sets the cell of a field. If several columns have the field, the first one of the lowest rank
// whose value is known counts.
func (r *record) set(b binding, cell []byte) {
	f := b.field
	if cell = bytes.TrimSpace(cell); cell == nil {
		cell = []byte{} // a missing value, unlike a missing column
	}
	if old := r.cells[f]; old != nil && (isMissing(cell) || !isMissing(old) && r.bindings[f].rank <= b.rank) {
		return
	}
	r.cells[f], r.bindings[f] = cell, b
}

func (r *record) refuse(f field, want string) {
	if r.err == nil {
		r.err = input.Errorf(r.bindings[f].name, input.Shown(r.cells[f]), "%s", want)
	}
}

// cellOf returns the value of a cell as parse reads it, or Unknown if it is missing.
func cellOf[T int64 | float64](r *record, f field, want string, parse func([]byte) (T, bool)) T {
	text := r.cells[f]
	if isMissing(text) {
		return swf.Unknown
	}
	v, ok := parse(text)
	if !ok {
		r.refuse(f, want)
		return swf.Unknown
	}
	return v
}

func (r *record) time(f field) (m moment) {
	text := r.cells[f]
	if isMissing(text) {
		return m
	}
	m, ok := parseTime(text)
	if ok && m.local {
		if off := r.clock.settle(&m); r.offClock == 0 {
			r.offClock = off
		}
		ok = m.seconds >= 0
	}
	if !ok {
		r.refuse(f, wantTime)
	}
	return m
}

func (r *record) duration(f field) float64 { return cellOf(r, f, wantDuration, parseDuration) }
func (r *record) count(f field) int64      { return cellOf(r, f, wantCount, input.Digits) }
func (r *record) amount(f field) float64   { return cellOf(r, f, wantAmount, input.Decimal) }

// limit returns a time limit, in minutes or in the forms of a duration.
func (r *record) limit() float64 {
	if limit := cellOf(r, fieldRequestedTime, wantLimit, unlessOpen(parseDuration)); limit != swf.Unknown {
		return limit
	}
	return cellOf(r, fieldRequestedMinutes, wantMinutes, unlessOpen(parseMinutes))
}

// unlessOpen returns a function that reads a time limit as parse does, and the words for no limit
// as Unknown.
func unlessOpen(parse func([]byte) (float64, bool)) func([]byte) (float64, bool) {
	return func(text []byte) (float64, bool) {
		if string(text) == "UNLIMITED" || string(text) == "Partition_Limit" {
			return swf.Unknown, true
		}
		return parse(text)
	}
}

// usedProcessors lists the fields of the allocated processors, and requestedProcessors those that
// replace them in a log without those.
var (
	usedProcessors      = []field{fieldSelect, fieldNodeSpec, fieldProcessors, fieldTRES}
	requestedProcessors = []field{fieldRequestedProcessors, fieldRequestedTRES, fieldNodes}
)

// processors returns the allocated processors: as a number, in a list of resources or in chunks. If
// the log has no column of these, it returns the requested processors or the nodes, and a remark.
func (r *record) processors() (int64, Reason) {
	chunks := func(key string) func([]byte) (int64, bool) {
		return func(text []byte) (int64, bool) { return chunkCPUs(text, key) }
	}
	hasColumn := false
	for _, f := range usedProcessors {
		n := int64(swf.Unknown)
		switch f {
		case fieldSelect:
			n = cellOf(r, f, wantChunks, chunks("ncpus"))
		case fieldNodeSpec:
			n = cellOf(r, f, wantNodes, chunks("ppn"))
		case fieldProcessors:
			n = r.count(f)
		default:
			n = cellOf(r, f, wantTRES, tresCPUs)
		}
		if n != swf.Unknown {
			return n, 0
		}
		hasColumn = hasColumn || r.cells[f] != nil
	}
	if hasColumn {
		return swf.Unknown, 0
	}
	if n := r.requestedProcessors(); n != swf.Unknown {
		return n, RequestedCPUs
	}
	if n := r.count(fieldNodes); n != swf.Unknown {
		return n, NodesAsCPUs
	}
	return swf.Unknown, 0
}

func (r *record) requestedProcessors() int64 {
	if n := r.count(fieldRequestedProcessors); n != swf.Unknown {
		return n
	}
	return cellOf(r, fieldRequestedTRES, wantTRES, tresCPUs)
}

func (r *record) status() int64 {
	if s := cellOf(r, fieldStatus, wantStatus, statusOf); s != swf.Unknown {
		return s
	}
	text := r.cells[fieldExit] // -1 is a failure, not an unknown value
	if len(text) == 0 {
		return swf.Unknown
	}
	n, ok := input.Digits(bytes.TrimPrefix(text, []byte("-")))
	switch {
	case !ok:
		r.refuse(fieldExit, wantExit)
		return swf.Unknown
	case n == 0:
		return 1
	}
	return 0
}

// jobNumber returns the number at the start of an id, and whether there is one. isStep reports a
// step of a job, such as 123.batch, and isTask a task of an array, such as 123_4, whose number is
// that of the array.
func jobNumber(id []byte) (number int64, isStep, isTask, ok bool) {
	end := 0
	for end < len(id) && id[end] >= '0' && id[end] <= '9' {
		end++
	}
	number, ok = input.Digits(id[:end])
	return number, ok && stepOf(id[end:]), ok && end < len(id) && id[end] == '_', ok
}

// stepOf reports whether the rest of an id of Slurm names a step: .batch, .extern, .interactive or
// a number, after the number of an array task if there is one.
func stepOf(rest []byte) bool {
	for i, c := range rest {
		if c != '.' {
			continue
		}
		switch step := rest[i+1:]; string(step) {
		case "batch", "extern", "interactive":
			return true
		default:
			whole, _, _ := bytes.Cut(step, []byte("+")) // 7.0+1 is part of a step
			_, ok := input.Digits(whole)
			return ok
		}
	}
	return false
}

// A job is the job of a record, or the reason why the record is not a job, with remarks about it.
type job struct {
	Job
	drop  Reason    // 0 if it is a job that ran
	notes [4]Reason // 0 for none
	local bool      // has a date without a zone
}

// job returns the job of the record. Names become numbers by the numberings.
func (r *record) job(names *[fieldCount]numbering, count int64) (j job, err error) {
	id := r.cells[fieldID]
	number, isStep, isTask, hasNumber := jobNumber(id)
	if isStep {
		j.drop = StepOfJob
		return j, nil
	}
	switch {
	case string(id) == "-1":
		number = swf.Unknown
	case !hasNumber:
		number = count
	}
	submit, start, end := r.time(fieldSubmit), r.time(fieldStart), r.time(fieldEnd)
	j.local = submit.local || start.local || end.local
	processors, remark := r.processors()
	j.notes[2] = remark
	if isTask {
		j.notes[3] = ArrayTask
	}
	j.Job.Job = swf.Job{
		Number: number, Submit: swf.Unknown, Wait: r.duration(fieldWait), RunTime: r.duration(fieldRunTime),
		Processors: processors, CPUTime: r.duration(fieldCPUTime), Memory: r.amount(fieldMemory),
		RequestedProcessors: r.requestedProcessors(), RequestedTime: r.limit(),
		RequestedMemory: r.amount(fieldRequestedMemory), Status: r.status(),
		PrecedingJob: r.count(fieldPrecedingJob), ThinkTime: r.duration(fieldThinkTime),
	}
	if total := r.duration(fieldTotalCPU); j.CPUTime == swf.Unknown && total != swf.Unknown && j.Processors > 0 {
		j.CPUTime = total / float64(j.Processors)
	}
	if submit.known {
		j.Submit = submit.value
	}
	if r.err != nil {
		return job{}, r.err
	}
	if r.settleTimes(&j, submit, start, end); j.drop == 0 {
		r.settleNames(&j.Job, names)
	}
	return j, nil
}

// settleNames sets the numbers of the names in the cells.
func (r *record) settleNames(j *Job, names *[fieldCount]numbering) {
	number := func(f field) int64 { return names[f].number(r.cells[f]) }
	j.User, j.Group, j.Account = number(fieldUser), number(fieldGroup), number(fieldAccount)
	j.Executable, j.Queue, j.Partition = number(fieldExecutable), number(fieldQueue), number(fieldPartition)
}

// settleTimes sets the run time and the waiting time, or the reason to drop the job.
func (r *record) settleTimes(j *job, submit, start, end moment) {
	hasStart, hasEnd := r.cells[fieldStart] != nil, r.cells[fieldEnd] != nil
	isUnassigned := string(r.cells[fieldNodeList]) == "None assigned"
	switch {
	case hasStart && !start.known, isUnassigned,
		hasStart && j.Status == 5 && j.RunTime == 0 && j.Processors <= 0:
		j.drop = NeverStarted
		return
	case hasEnd && !end.known:
		j.drop = NoEnd
		return
	case r.offClock != 0:
		j.drop = r.offClock
		return
	}
	if start.known && end.known {
		span := end.minus(start)
		switch off := math.Abs(span - j.RunTime); {
		case j.RunTime == swf.Unknown && span < 0:
			j.drop = EndBeforeStart
			return
		case j.RunTime == swf.Unknown:
			j.RunTime = span
		case off <= clockTol:
		case math.Abs(off-3600) <= clockTol:
			j.notes[0] = ClockChange
		case span < 0:
			j.drop = EndBeforeStart
			return
		default:
			j.notes[0] = OtherElapsed
		}
	}
	if j.Wait == swf.Unknown && start.known && submit.known {
		if j.Wait = start.minus(submit); j.Wait < 0 {
			j.Wait, j.notes[1] = swf.Unknown, StartBeforeSubmit
		}
	}
}

// A numbering gives numbers to names. Names that are numbers keep them.
type numbering struct {
	numbers map[string]int64
	names   map[int64]string
	last    int64
}

// number returns the number of a name, Unknown if it is missing.
func (n *numbering) number(name []byte) int64 {
	if isMissing(name) {
		return swf.Unknown
	}
	if found, ok := n.numbers[string(name)]; ok {
		return found
	}
	if n.numbers == nil {
		n.numbers, n.names = map[string]int64{}, map[int64]string{}
	}
	v, ok := input.Digits(name)
	if !ok || n.has(v) || len(name) > 1 && name[0] == '0' {
		for n.last++; n.has(n.last); n.last++ {
		}
		v = n.last
	}
	text := string(name)
	n.numbers[text], n.names[v] = v, text
	return v
}

// has reports whether a number has a name.
func (n *numbering) has(number int64) bool {
	_, ok := n.names[number]
	return ok
}
