package book

import (
	"slices"

	"productform/dispatch"
	"productform/live/wire"
)

// shownEvery is the number of finished tasks after which the view of a kind is rewritten, even if
// the speeds reported to policies are unchanged.
const shownEvery = 25

// learn marks the profiles that have to be published again after a plan.
func (b *Book) learn(p *wire.Plan) {
	m, ok := b.maker.(*dispatch.Maker)
	if !ok || !b.rules.Learning.Speeds {
		return
	}
	for i := range p.What {
		h := &p.What[i]
		j := b.job(h.Job)
		if h.Kind != dispatch.Finished || h.Seconds == 0 || j == nil {
			continue
		}
		kind := j.Job.Run.Profile()
		if b.shown[kind] == nil {
			b.shown[kind] = &shown{more: shownEvery}
		}
		b.shown[kind].more++
	}
	for kind, s := range b.shown {
		if s.more == 0 && len(p.NewWorkers) == 0 {
			continue
		}
		if speeds := m.Speeds(kind); s.more >= shownEvery || !slices.Equal(speeds, s.speeds) {
			s.speeds, s.more = speeds, 0
			b.touched.Profiles[kind] = true
		}
	}
}

// Profiles returns the learned speeds of workers, by kind of task.
func (b *Book) Profiles() (views []wire.ProfileView) {
	m, ok := b.maker.(*dispatch.Maker)
	if !ok {
		return nil
	}
	for _, f := range m.Profiles() {
		if len(views) == 0 || views[len(views)-1].Kind != f.Kind {
			views = append(views, wire.ProfileView{Version: wire.Version, Kind: f.Kind, At: b.at})
		}
		v, w := &views[len(views)-1], &b.workers[f.Worker]
		v.Workers = append(v.Workers, wire.ProfileWorker{
			Name: w.Name, Speed: f.Speed, Declared: w.Speed, Tasks: f.Tasks, Seconds: f.Seconds / float64(f.Tasks),
		})
	}
	return views
}
