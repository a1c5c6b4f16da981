package book

// bits is a set of tasks with one bit per task. In JSON it is base64 text.
type bits []byte

func makeBits(n int) bits { return make(bits, (n+7)/8) }

func (b bits) has(i int) bool { return b[i/8]>>(i%8)&1 == 1 }
func (b bits) add(i int)      { b[i/8] |= 1 << (i % 8) }
