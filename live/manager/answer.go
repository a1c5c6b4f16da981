package manager

import (
	"encoding/json"

	"github.com/nats-io/nats.go"

	"productform/dispatch"
	"productform/internal/input"
	"productform/live/wire"
)

// answer replies to a request. If the request is invalid, the reply has the error header of NATS
// services.
func (l *leader) answer(m *nats.Msg) {
	var a any
	var err error
	switch m.Subject {
	case wire.StatusService:
		s := l.status()
		fit(s)
		a = s
	case wire.HistoryService:
		a = l.history.answer(l.at(), string(m.Data))
	case wire.ReportService:
		r := l.book.Report()
		if len(r.Jobs) > wire.MostListed { // the reply must fit in a message
			r.Jobs = nil
		}
		a = r
	case wire.AssignService:
		var q wire.Assignment
		if err = json.Unmarshal(m.Data, &q); err == nil {
			err = Assign(&q)
		}
		a = q
	}
	var data []byte
	if err == nil {
		data, err = json.Marshal(a)
	}
	reply := &nats.Msg{Data: data}
	if err != nil {
		reply.Header = nats.Header{"Nats-Service-Error": {err.Error()}, "Nats-Service-Error-Code": {"400"}}
	}
	if err := m.RespondMsg(reply); err != nil {
		l.settings.Log.Warn("reply not sent", "subject", m.Subject, "error", err)
	}
}

// fit shortens a status until it fits in a message. It drops facts of workers first, then jobs from
// the end of the list.
func fit(s *wire.Status) {
	const most = wire.MaxMessage - 4096 // leaves space for the header
	isLarge := func() bool {
		data, err := json.Marshal(s)
		return err == nil && len(data) > most
	}
	if !isLarge() {
		return
	}
	for i := range s.Workers {
		s.Workers[i].Facts = nil
	}
	for len(s.Jobs) > 0 && isLarge() {
		s.Jobs = s.Jobs[:len(s.Jobs)/2]
	}
}

// Assign runs a policy alone, without the rest of the system, and sets the answer of q. The error
// is a *num.InputError.
func Assign(q *wire.Assignment) error {
	p, err := dispatch.ParsePolicy(q.Policy)
	if err != nil {
		return err
	}
	requests := make([]dispatch.Request, len(q.Jobs))
	for i, j := range q.Jobs {
		if err := wire.CheckName(input.Field(input.Index("jobs", i), "name"), j.Name); err != nil {
			return err
		}
		requests[i] = dispatch.Request{
			Priority: j.Priority, Deadline: j.Deadline, Tasks: j.Tasks, Work: j.Work, MaxWorkers: j.MaxWorkers,
			Speeds: j.Speeds,
		}
		if j.Speeds == nil {
			requests[i].Speeds = q.Profiles[j.Kind]
		}
	}
	jobs, err := p.Assign(requests, q.Speeds, q.Now)
	if err != nil {
		return err
	}
	q.Workers = make([]*string, len(jobs))
	for w, j := range jobs {
		if j >= 0 {
			q.Workers[w] = &q.Jobs[j].Name
		}
	}
	return nil
}
