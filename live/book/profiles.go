package book

import (
	"slices"

	"productform/dispatch"
	"productform/live/wire"
)

// shownEvery is the number of tasks of a kind after which its view is written again though policies are told the same speeds.
const shownEvery = 25

// learn takes note of the kinds of tasks of which a plan has taught the maker something that is to be seen.
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

// Profiles returns what was learnt of the speeds of workers, by kind of tasks.
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
