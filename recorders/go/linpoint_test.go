package linpoint

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

type registerInput struct {
	IsRead bool
	value  int // not exported: the model has it all the same
}

var register = Model{
	Init: func() interface{} { return 0 },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		in := input.(registerInput)
		if in.IsRead {
			return output == nil || output == state, state
		}
		return true, in.value
	},
}

func needsLinpoint(t *testing.T) {
	if os.Getenv("LINPOINT") == "" {
		t.Skip("LINPOINT does not name the command")
	}
}

func TestOperationsByModel(t *testing.T) {
	needsLinpoint(t)
	write := Operation{ClientId: 0, Input: registerInput{false, 7}, Call: 0, Return: 100}
	early := Operation{ClientId: 1, Input: registerInput{true, 0}, Call: 10, Output: 7, Return: 30}
	late := Operation{ClientId: 2, Input: registerInput{true, 0}, Call: 40, Output: 0, Return: 60}
	if !CheckOperations(register, []Operation{write, early}) {
		t.Error("a read sees a write that overlaps it")
	}
	report, err := Check(register, []Operation{write, early, late}, Options{})
	if err != nil || report.Result != Illegal || !strings.Contains(report.Text, "not linearizable") {
		t.Errorf("a later read misses the write: %+v, %v", report, err)
	}
	write.Return = Pending
	late.Output = 7
	if !CheckOperations(register, []Operation{write, late}) {
		t.Error("a pending write may take effect")
	}
	// All operations of one client, which overlap.
	early.ClientId, late.ClientId = 0, 0
	if !CheckOperations(register, []Operation{write, early, late}) {
		t.Error("clients may overlap themselves")
	}
}

func TestEventsByModelInParts(t *testing.T) {
	needsLinpoint(t)
	model := register
	model.Equal = func(a, b interface{}) bool { return a == b }
	model.PartitionEvent = func(events []Event) [][]Event { return [][]Event{events[:2], events[2:]} }
	events := []Event{
		{ClientId: 0, Kind: CallEvent, Value: registerInput{false, 7}, Id: 0},
		{ClientId: 0, Kind: ReturnEvent, Id: 0},
		{ClientId: 1, Kind: CallEvent, Value: registerInput{true, 0}, Id: 1},
		{ClientId: 1, Kind: ReturnEvent, Value: 0, Id: 1},
	}
	if !CheckEvents(model, events) {
		t.Error("each part has a register of its own")
	}
	model.PartitionEvent = nil
	if CheckEvents(model, events) {
		t.Error("of one register, the read is stale")
	}
}

func TestModelThatPanics(t *testing.T) {
	needsLinpoint(t)
	model := register
	model.Step = func(state, input, output interface{}) (bool, interface{}) { panic("no such input") }
	_, err := Check(model, []Operation{{Input: 1, Return: 1}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "the model panicked: no such input") {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatIsWritten(t *testing.T) {
	var written bytes.Buffer
	type put struct{ Op, Key, Value string }
	if err := WriteOperations(&written, []Operation{{ClientId: 3, Input: put{"put", "x", "a"}, Call: 1, Return: Pending}}); err != nil {
		t.Fatal(err)
	}
	if err := WriteEvents(&written, []Event{{Kind: ReturnEvent, Id: 4, Value: 5}}); err != nil {
		t.Fatal(err)
	}
	expected := `{"ClientId":3,"Input":{"Op":"put","Key":"x","Value":"a"},"Call":1,"Output":null,"Return":9223372036854775807}
{"ClientId":0,"Kind":true,"Value":5,"Id":4}
`
	if written.String() != expected {
		t.Error(written.String())
	}
}

func TestRecorder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	recorder, err := NewRecorder(path, "counter")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewRecorder(path, "counter"); !os.IsExist(err) {
		t.Errorf("a file that exists: %v", err)
	}
	var mutex sync.Mutex
	var all sync.WaitGroup
	count := 0
	for client := 0; client < 4; client++ {
		all.Add(1)
		go func(process *Process) {
			defer all.Done()
			for i := 0; i < 100; i++ {
				call := process.Call("inc_and_get", nil)
				mutex.Lock()
				count++
				now := count
				mutex.Unlock()
				switch {
				case i%40 == 7:
					call.Unknown()
				default:
					call.Returned(now)
				}
			}
			process.Call("inc", nil).Failed()
		}(recorder.Process())
	}
	all.Wait()
	recorder.Note("all is over")
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines != 1+4*202+1 {
		t.Errorf("%d lines", lines)
	}
	if !strings.Contains(string(text), `"process":"0/4"`) {
		t.Error("a process goes on under another name after an unknown operation")
	}
	needsLinpoint(t)
	report, err := CheckFile(path, Options{})
	if err != nil || report.Result != Ok {
		t.Errorf("%+v, %v", report, err)
	}
}

// BenchmarkRecorder measures an operation that does nothing, call and return.
func BenchmarkRecorder(b *testing.B) {
	recorder, err := NewRecorder(filepath.Join(b.TempDir(), "history.jsonl"), "queue")
	if err != nil {
		b.Fatal(err)
	}
	process := recorder.Process()
	for i := 0; i < b.N; i++ {
		process.Call("enq", i).Returned(nil)
	}
	if err := recorder.Close(); err != nil {
		b.Fatal(err)
	}
}
