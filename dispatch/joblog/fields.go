package joblog

import (
	"bytes"
	"strings"
)

// A field is the meaning of a column of a log.
type field int

const (
	fieldID field = iota
	fieldSubmit
	fieldStart
	fieldEnd
	fieldWait
	fieldRunTime
	fieldProcessors
	fieldNodes
	fieldCPUTime
	fieldTotalCPU
	fieldMemory
	fieldRequestedProcessors
	fieldRequestedTime
	fieldRequestedMinutes
	fieldRequestedMemory
	fieldStatus
	fieldExit
	fieldUser
	fieldGroup
	fieldAccount
	fieldExecutable
	fieldQueue
	fieldPartition
	fieldPrecedingJob
	fieldThinkTime
	fieldTRES
	fieldRequestedTRES
	fieldSelect
	fieldNodeSpec
	fieldNodeList
	fieldCount
)

// fields has a row for each field: its name in a map of columns, and the common names of its
// columns in lower case, without anything but letters and digits. The first name that a log has is
// taken.
var fields = [fieldCount]struct{ name, common string }{
	fieldID: {"id", "jobidraw jobid id job jobnumber number"},
	fieldSubmit: {"submit", "submit submitted submittime submittedat submission submissiontime arrival arrivaltime " +
		"ctime qtime created createdat queued"},
	fieldStart: {"start", "start started starttime startedat begin"},
	fieldEnd:   {"end", "end ended endtime endedat finish finished finishtime"},
	fieldWait:  {"wait", "wait waittime waiting waitingtime waitseconds"},
	fieldRunTime: {"run_time", "elapsedraw elapsed runtime runseconds elapsedtime elapsedseconds duration " +
		"resourcesusedwalltime"},
	fieldProcessors: {"cpus", "alloccpus ncpus cpus processors procs cores ncores slots allocatedcpus " +
		"allocatedprocessors resourcelistncpus"},
	fieldNodes:               {"nodes", "nnodes allocnodes nodes nodecount resourcelistnodect"},
	fieldCPUTime:             {"cpu_seconds", "cpuseconds"},
	fieldTotalCPU:            {"total_cpu", "totalcpu resourcesusedcput"},
	fieldMemory:              {"memory_kb", "memorykb usedmemorykb"},
	fieldRequestedProcessors: {"requested_cpus", "reqcpus requestedcpus requestedprocessors"},
	fieldRequestedTime: {"requested_time", "timelimit limit limitseconds requestedtime requestedseconds reqtime " +
		"requestedwalltime walltimelimit resourcelistwalltime"},
	fieldRequestedMinutes: {"requested_minutes", "timelimitraw limitminutes requestedminutes"},
	fieldRequestedMemory:  {"requested_memory_kb", "requestedmemorykb"},
	fieldStatus:           {"status", "state status jobstate"},
	fieldExit:             {"exit", "exitstatus"},
	fieldUser:             {"user", "user username owner userid uid"},
	fieldGroup:            {"group", "group groupname groupid gid"},
	fieldAccount:          {"account", "account accountname project"},
	fieldExecutable:       {"executable", "executable application"},
	fieldQueue:            {"queue", "queue queuename"},
	fieldPartition:        {"partition", "partition partitionname"},
	fieldPrecedingJob:     {"preceding_job", "precedingjob"},
	fieldThinkTime:        {"think_time", "thinktime"},
	fieldTRES:             {"tres", "alloctres tres"},
	fieldRequestedTRES:    {"requested_tres", "reqtres"},
	fieldSelect:           {"select", "resourcelistselect"},
	fieldNodeSpec:         {"node_spec", "resourcelistnodes"},
	fieldNodeList:         {"node_list", "nodelist"},
}

// Fields returns the names of all fields that a map of columns can name.
func Fields() []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// A binding is the meaning of a column; of several columns with the same meaning, the one with the
// lowest rank counts.
type binding struct {
	field field // fieldCount if the column is ignored
	rank  int
	name  string // name of the column, as written
}

// bindings knows the meaning of columns by their names as written.
type bindings struct {
	given map[string]string  // name of a column by name of a field
	known map[string]binding // by name as written
	names []string           // the keys of known, in the order of the log
}

func newBindings(given map[string]string) bindings {
	return bindings{given: given, known: map[string]binding{}}
}

// bind returns the meaning of a column.
func (b *bindings) bind(name []byte) binding {
	if found, ok := b.known[string(name)]; ok {
		return found
	}
	found := b.find(name)
	b.known[string(name)] = found
	b.names = append(b.names, string(name))
	return found
}

func (b *bindings) find(name []byte) binding {
	plain := plainName(name)
	found := binding{field: fieldCount, name: string(name)}
	for f, row := range fields {
		if column, ok := b.given[row.name]; ok {
			if column == string(name) {
				return binding{field(f), -1, column}
			}
			continue
		}
		if found.field != fieldCount {
			continue
		}
		for rank, common := range strings.Fields(row.common) {
			if common == plain {
				found.field, found.rank = field(f), rank
			}
		}
	}
	return found
}

// plainName returns the letters and digits of a name, in lower case.
func plainName(name []byte) string {
	keep := func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}
	return string(bytes.Map(keep, bytes.ToLower(name)))
}
