// Package linpoint records what clients call and get, and lets the command linpoint decide whether that is linearizable.
//
// It is one file that needs nothing but the standard library: copy it into your project, or name its folder in a replace directive.
//
// Programs that use porcupine change their import: Model, Operation, Event, CheckOperations and CheckEvents are the same. The model stays
// in this process; linpoint asks it through pipes.
package linpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Operation is a call with its answer. Call and Return are times on any scale.
type Operation struct {
	ClientId int
	Input    interface{}
	Call     int64
	Output   interface{}
	Return   int64
	Metadata interface{} `json:",omitempty"`
}

// Pending is the Return of an operation that never returned: it may have taken effect with any output, or not at all.
const Pending int64 = math.MaxInt64

// EventKind says whether an event is a call or a return.
type EventKind bool

// The kinds of events.
const (
	CallEvent   EventKind = false
	ReturnEvent EventKind = true
)

// Event is a call or a return. The events of an operation have the same Id.
type Event struct {
	ClientId int
	Kind     EventKind
	Value    interface{}
	Id       int
	Metadata interface{} `json:",omitempty"`
}

// WriteOperations writes operations as lines of JSON, which linpoint check reads.
func WriteOperations(w io.Writer, operations []Operation) error {
	encoder := json.NewEncoder(w)
	for _, operation := range operations {
		if err := encoder.Encode(operation); err != nil {
			return err
		}
	}
	return nil
}

// WriteEvents writes events as lines of JSON, in their order.
func WriteEvents(w io.Writer, events []Event) error {
	encoder := json.NewEncoder(w)
	for _, event := range events {
		if err := encoder.Encode(event); err != nil {
			return err
		}
	}
	return nil
}

// Recorder appends events to a file, line by line, before the program goes on, so that the file has all that happened before the program
// was killed.
type Recorder struct {
	mutex sync.Mutex
	file  *os.File
	start time.Time
	next  int
	err   error
}

type header struct {
	Linpoint int    `json:"linpoint"`
	Type     string `json:"type,omitempty"`
	Clock    clock  `json:"clock"`
}

// clock has the time of day at time 0, and by how much it may be off from what the clock of the machine said.
type clock struct {
	Unix  int64 `json:"unix"`
	Error int64 `json:"error"`
}

// entry is a line of the file, without the time.
type entry struct {
	Process interface{} `json:"process,omitempty"`
	Event   string      `json:"event"`
	Method  string      `json:"method,omitempty"`
	Arg     interface{} `json:"arg,omitempty"`
	Ret     interface{} `json:"ret,omitempty"`
	Text    string      `json:"text,omitempty"`
}

// NewRecorder makes a file that must not exist. The type is one of linpoint's, or empty.
func NewRecorder(path, objectType string) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	recorder := &Recorder{file: file, start: time.Now()}
	// The time of day was read at some moment between the two readings of the monotonic clock.
	unix := time.Now().UnixNano()
	since := time.Since(recorder.start).Nanoseconds()
	line, err := json.Marshal(header{1, objectType, clock{unix - since, since + 1}})
	if err != nil {
		return nil, err
	}
	recorder.write(append(line, '\n'))
	return recorder, recorder.err
}

// Process makes one call at a time: a goroutine, a client.
type Process struct {
	recorder *Recorder
	name     interface{}
	number   int
	lost     int
	open     *Call
}

// Process returns a process with the next number as its name.
func (r *Recorder) Process() *Process {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	number := r.next
	r.next++
	return &Process{recorder: r, name: number, number: number}
}

// Note writes a note beside the operations, such as a fault that was injected.
func (r *Recorder) Note(text string) {
	r.event(entry{Event: "note", Text: text})
}

// Close closes the file. The error is that of the first event that could not be written, which ends the history.
func (r *Recorder) Close() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	err := r.file.Close()
	if r.err == nil {
		r.err = err
	}
	return r.err
}

// Call is an operation between its call and its end. One that is never ended may take effect at any later time.
type Call struct {
	process *Process
}

// Call records that the process calls now. The caller makes the call, and then says how it ended. An argument that is nil is none.
func (p *Process) Call(method string, argument interface{}) *Call {
	if p.open != nil {
		p.open.Unknown()
	}
	call := &Call{p}
	p.open = call
	p.recorder.event(entry{Process: p.name, Event: "call", Method: method, Arg: argument})
	return call
}

// Returned says that the operation returned a result, or nil.
func (c *Call) Returned(result interface{}) {
	c.end(entry{Event: "return", Ret: result})
}

// Failed says that the operation certainly did not take effect, and never will.
func (c *Call) Failed() {
	c.end(entry{Event: "fail"})
}

// Unknown says that the operation may have taken effect, or will: a time-out, a lost connection. The process goes on under another name,
// such as 3/2.
func (c *Call) Unknown() {
	process := c.process
	c.end(entry{Event: "crash"})
	process.lost++
	process.name = fmt.Sprintf("%d/%d", process.number, process.lost+1)
}

func (c *Call) end(event entry) {
	process := c.process
	if process.open != c {
		panic("linpoint: this operation has ended")
	}
	process.open = nil
	event.Process = process.name
	process.recorder.event(event)
}

// event writes an event that happens now. The order of lines is that of time, since the clock is read under the lock.
func (r *Recorder) event(event entry) {
	line, err := json.Marshal(event)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err != nil {
		if r.err == nil {
			r.err = fmt.Errorf("an event cannot be recorded: %w", err)
		}
		return
	}
	line = append(line[:len(line)-1], fmt.Sprintf(",\"time\":%d}\n", time.Since(r.start).Nanoseconds())...)
	r.write(line)
}

// write writes a line by one call of the system, unless an earlier one could not be written.
func (r *Recorder) write(line []byte) {
	if r.err == nil {
		_, r.err = r.file.Write(line)
	}
}

// CheckResult is a verdict.
type CheckResult string

// The verdicts.
const (
	Unknown CheckResult = "Unknown"
	Ok      CheckResult = "Ok"
	Illegal CheckResult = "Illegal"
)

// Options say how linpoint is run.
type Options struct {
	// The command: the environment variable LINPOINT, or linpoint on the PATH, if this is empty.
	Command string
	// More arguments of linpoint check, such as --html, page.html.
	Arguments []string
	// For at most this long, if it is not 0.
	Timeout time.Duration
}

// Report is a verdict with what linpoint printed about it.
type Report struct {
	Result CheckResult
	Text   string
}

// CheckFile decides a history in a file: one that a Recorder or WriteOperations wrote. Options.Arguments may say of which type it is.
func CheckFile(path string, options Options) (Report, error) {
	command := options.Command
	if command == "" {
		command = os.Getenv("LINPOINT")
	}
	if command == "" {
		command = "linpoint"
	}
	arguments := append([]string{"check", path}, options.Arguments...)
	if options.Timeout > 0 {
		arguments = append(arguments, "--timeout", fmt.Sprintf("%dms", options.Timeout.Milliseconds()))
	}
	var output, complaint bytes.Buffer
	run := exec.Command(command, arguments...)
	run.Stdout, run.Stderr = &output, &complaint
	err := run.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Report{Unknown, ""}, fmt.Errorf("%s cannot be run: set LINPOINT to the command: %w", command, err)
	}
	results := map[int]CheckResult{0: Ok, 1: Illegal, 2: Unknown}
	result, known := results[run.ProcessState.ExitCode()]
	if !known {
		return Report{Unknown, ""}, errors.New(strings.TrimSpace(complaint.String()))
	}
	return Report{result, output.String()}, nil
}

// Model is a sequential description of an object, as porcupine has it. Step says whether an input may have this output in a state, and what
// the next state is. It must not change the state.
type Model struct {
	Partition         func(history []Operation) [][]Operation
	PartitionEvent    func(history []Event) [][]Event
	Init              func() interface{}
	Step              func(state, input, output interface{}) (bool, interface{})
	Equal             func(state1, state2 interface{}) bool
	DescribeOperation func(input, output interface{}) string
	DescribeState     func(state interface{}) string
}

// CheckOperations tells whether a history is linearizable. It panics if linpoint cannot be run.
func CheckOperations(model Model, history []Operation) bool {
	return CheckOperationsTimeout(model, history, 0) == Ok
}

// CheckOperationsTimeout gives up after the timeout, unless that is 0. It panics if linpoint cannot be run.
func CheckOperationsTimeout(model Model, history []Operation, timeout time.Duration) CheckResult {
	report, err := Check(model, history, Options{Timeout: timeout})
	if err != nil {
		panic(err)
	}
	return report.Result
}

// CheckEvents tells whether a history is linearizable. An event of a call without one of a return is pending. It panics if linpoint cannot
// be run.
func CheckEvents(model Model, history []Event) bool {
	return CheckEventsTimeout(model, history, 0) == Ok
}

// CheckEventsTimeout gives up after the timeout, unless that is 0. It panics if linpoint cannot be run.
func CheckEventsTimeout(model Model, history []Event, timeout time.Duration) CheckResult {
	parts := [][]Event{history}
	if model.PartitionEvent != nil {
		parts = model.PartitionEvent(history)
	}
	var operations [][]Operation
	for _, part := range parts {
		operations = append(operations, ofEvents(part))
	}
	report, err := check(model, operations, Options{Timeout: timeout})
	if err != nil {
		panic(err)
	}
	return report.Result
}

// ofEvents pairs calls with returns. Times are positions.
func ofEvents(events []Event) []Operation {
	open := map[int]int{}
	var operations []Operation
	for position, event := range events {
		if event.Kind == CallEvent {
			open[event.Id] = len(operations)
			operations = append(operations, Operation{ClientId: event.ClientId, Input: event.Value, Call: int64(position), Return: Pending})
		} else if place, found := open[event.Id]; found {
			operations[place].Output = event.Value
			operations[place].Return = int64(position)
		}
	}
	return operations
}

// Check decides a history by a model, and tells more than CheckOperations.
func Check(model Model, history []Operation, options Options) (Report, error) {
	parts := [][]Operation{history}
	if model.Partition != nil {
		parts = model.Partition(history)
	}
	return check(model, parts, options)
}

func check(model Model, parts [][]Operation, options Options) (Report, error) {
	folder, err := os.MkdirTemp("", "linpoint")
	if err != nil {
		return Report{Unknown, ""}, err
	}
	defer os.RemoveAll(folder)
	questions, answers := filepath.Join(folder, "questions"), filepath.Join(folder, "answers")
	for _, pipe := range []string{questions, answers} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			return Report{Unknown, ""}, err
		}
	}
	server := &server{model: model, byValue: map[interface{}]int{}}
	file := filepath.Join(folder, "history.jsonl")
	if err := server.write(file, parts); err != nil {
		return Report{Unknown, ""}, err
	}
	// Held open at both ends, so that opening never waits; what the command does is forwarded by cat.
	in, err := os.OpenFile(questions, os.O_RDWR, 0)
	if err != nil {
		return Report{Unknown, ""}, err
	}
	out, err := os.OpenFile(answers, os.O_RDWR, 0)
	if err != nil {
		in.Close()
		return Report{Unknown, ""}, err
	}
	go server.serve(in, out)
	command := fmt.Sprintf("cat '%s' & cat > '%s'; kill $!", answers, questions)
	options.Arguments = append([]string{"--model-cmd", command}, options.Arguments...)
	report, err := CheckFile(file, options)
	in.Close()
	out.Close()
	if server.failure() != nil {
		return Report{Unknown, ""}, server.failure()
	}
	return report, err
}

// server answers what linpoint asks about the model.
type server struct {
	mutex      sync.Mutex
	model      Model
	operations []Operation
	states     []interface{}
	// The numbers of states, where they are compared by ==.
	byValue map[interface{}]int
	err     error
}

func (s *server) failure() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.err
}

// write writes a history whose calls have numbers of operations as arguments, since the model may need what JSON has no form for.
func (s *server) write(path string, parts [][]Operation) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	buffered := bufio.NewWriter(file)
	encoder := json.NewEncoder(buffered)
	for object, part := range parts {
		part = append([]Operation(nil), part...)
		sort.SliceStable(part, func(i, j int) bool { return part[i].Call < part[j].Call })
		free := map[int][]int64{}
		for _, operation := range part {
			line := map[string]interface{}{
				"process": s.process(free, operation), "object": object, "method": "op", "call": operation.Call,
				"arg": []interface{}{len(s.operations), s.describe(operation)},
			}
			if operation.Return != Pending {
				line["return"], line["ret"] = operation.Return, true
			}
			s.operations = append(s.operations, operation)
			if err := encoder.Encode(line); err != nil {
				return err
			}
		}
	}
	return buffered.Flush()
}

// process names the client, or one of several processes if its operations overlap. Calls come in their order.
func (s *server) process(free map[int][]int64, operation Operation) interface{} {
	lanes := free[operation.ClientId]
	lane := 0
	for lane < len(lanes) && lanes[lane] >= operation.Call {
		lane++
	}
	if lane == len(lanes) {
		lanes = append(lanes, 0)
	}
	lanes[lane] = operation.Return
	free[operation.ClientId] = lanes
	if lane == 0 {
		return operation.ClientId
	}
	return fmt.Sprintf("%d/%d", operation.ClientId, lane+1)
}

func (s *server) describe(operation Operation) string {
	if s.model.DescribeOperation != nil {
		return s.model.DescribeOperation(operation.Input, operation.Output)
	}
	return fmt.Sprintf("%+v -> %+v", operation.Input, operation.Output)
}

// number returns the number of a state, which equal states share.
func (s *server) number(state interface{}) int {
	if s.model.Equal == nil {
		if number, found := s.byValue[state]; found {
			return number
		}
		s.byValue[state] = len(s.states)
	} else {
		for number, other := range s.states {
			if s.model.Equal(state, other) {
				return number
			}
		}
	}
	s.states = append(s.states, state)
	return len(s.states) - 1
}

type question struct {
	Linpoint int             `json:"linpoint"`
	Id       json.RawMessage `json:"id"`
	Steps    []struct {
		State int             `json:"state"`
		Arg   json.RawMessage `json:"arg"`
	} `json:"steps"`
	Describe []int `json:"describe"`
}

func (s *server) serve(in io.Reader, out io.Writer) {
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		answer, err := json.Marshal(s.answer(line))
		if err != nil {
			return
		}
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return
		}
	}
}

// answer answers one question. A model that panics fails the check.
func (s *server) answer(line []byte) (answer map[string]interface{}) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var asked question
	defer func() {
		if panicked := recover(); panicked != nil {
			s.err = fmt.Errorf("the model panicked: %v", panicked)
			answer = map[string]interface{}{"id": asked.Id, "error": s.err.Error()}
		}
	}()
	if err := json.Unmarshal(line, &asked); err != nil {
		panic(err)
	}
	if asked.Linpoint != 0 {
		return map[string]interface{}{
			"linpoint": 1, "init": s.number(s.model.Init()), "methods": []string{"op"}, "answers": []string{"describe"},
		}
	}
	if asked.Describe != nil {
		texts := make([]string, len(asked.Describe))
		for i, state := range asked.Describe {
			texts[i] = s.describeState(state)
		}
		return map[string]interface{}{"id": asked.Id, "describe": texts}
	}
	steps := make([][][2]interface{}, len(asked.Steps))
	for i, step := range asked.Steps {
		var argument []json.RawMessage
		var operation int
		if err := json.Unmarshal(step.Arg, &argument); err != nil {
			panic(err)
		}
		if err := json.Unmarshal(argument[0], &operation); err != nil {
			panic(err)
		}
		steps[i] = [][2]interface{}{}
		called := s.operations[operation]
		if possible, next := s.model.Step(s.states[step.State], called.Input, called.Output); possible {
			steps[i] = append(steps[i], [2]interface{}{true, s.number(next)})
		}
	}
	return map[string]interface{}{"id": asked.Id, "steps": steps}
}

func (s *server) describeState(state int) string {
	if s.model.DescribeState != nil {
		return s.model.DescribeState(s.states[state])
	}
	return fmt.Sprintf("%+v", s.states[state])
}
