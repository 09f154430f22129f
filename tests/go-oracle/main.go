// Asks go-yaml v2, go-yaml v3 and sigs.k8s.io/yaml what a YAML document means.
//
// See README.md for what it reads and answers.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"runtime"
	"sync"

	yaml2 "gopkg.in/yaml.v2"
	yaml3 "gopkg.in/yaml.v3"
	sigs "sigs.k8s.io/yaml"
)

// A question is one line of the input.
type question struct {
	YAML    string          `json:"yaml"`
	Want    json.RawMessage `json:"want"`
	Mode    string          `json:"mode"`
	Readers []string        `json:"readers"`
	Lenient bool            `json:"lenient"`
}

// An answer is what one reader makes of a document.
type answer struct {
	JSON  interface{} `json:"json"`
	Error string      `json:"error,omitempty"`
}

// A difference is an answer that is not the wanted one.
type difference struct {
	Line   int             `json:"line"`
	Reader string          `json:"reader"`
	YAML   string          `json:"yaml"`
	Want   json.RawMessage `json:"want"`
	Got    answer          `json:"got"`
}

type reader struct {
	name string
	read func([]byte) (interface{}, error)
}

var readers = []reader{
	{"v2", func(text []byte) (value interface{}, err error) {
		err = yaml2.Unmarshal(text, &value)
		return value, err
	}},
	{"v3", func(text []byte) (value interface{}, err error) {
		err = yaml3.Unmarshal(text, &value)
		return value, err
	}},
	{"sigs", func(text []byte) (value interface{}, err error) {
		converted, err := sigs.YAMLToJSON(text)
		if err != nil {
			return nil, err
		}
		err = json.Unmarshal(converted, &value)
		return value, err
	}},
}

// result is what one question comes to: lines to print, readers asked, readers that refused.
type result struct {
	lines       [][]byte
	asked       int
	refused     int
	differences int
}

const batchSize = 4096

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	var total result
	documents := 0
	for {
		batch := readBatch(input)
		if len(batch) == 0 {
			break
		}
		for _, r := range answerBatch(batch, documents) {
			for _, line := range r.lines {
				output.Write(line)
				output.WriteByte('\n')
			}
			total.asked += r.asked
			total.refused += r.refused
			total.differences += r.differences
		}
		documents += len(batch)
	}
	fmt.Fprintf(output, "{\"documents\":%d,\"readings\":%d,\"refused\":%d,\"differences\":%d}\n",
		documents, total.asked, total.refused, total.differences)
	output.Flush()
	if total.differences > 0 {
		os.Exit(1)
	}
}

func readBatch(input *bufio.Reader) [][]byte {
	var batch [][]byte
	for len(batch) < batchSize {
		line, err := input.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			batch = append(batch, line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fail(err)
		}
	}
	return batch
}

func answerBatch(batch [][]byte, before int) []result {
	results := make([]result, len(batch))
	workers := runtime.NumCPU()
	var group sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			for i := worker; i < len(batch); i += workers {
				results[i] = answerLine(batch[i], before+i+1)
			}
		}(worker)
	}
	group.Wait()
	return results
}

func answerLine(line []byte, number int) result {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		fail(fmt.Errorf("line %d: %v", number, err))
	}
	var r result
	if q.Mode == "valid" {
		answers := map[string]interface{}{"line": number}
		for _, reader := range readers {
			answers[reader.name] = ask(reader, q.YAML)
			r.asked++
		}
		r.lines = append(r.lines, encode(answers))
		return r
	}
	var want interface{}
	if err := json.Unmarshal(q.Want, &want); err != nil {
		fail(fmt.Errorf("line %d: want: %v", number, err))
	}
	for _, reader := range readers {
		if !contains(q.Readers, reader.name) {
			continue
		}
		r.asked++
		got := ask(reader, q.YAML)
		if got.Error != "" && q.Lenient {
			r.refused++
		} else if got.Error != "" || !reflect.DeepEqual(got.JSON, want) {
			r.differences++
			r.lines = append(r.lines, encode(difference{number, reader.name, q.YAML, q.Want, got}))
		}
	}
	return r
}

// contains says whether a question is for a reader; one that names none is for all.
func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return len(names) == 0
}

func ask(r reader, text string) (a answer) {
	defer func() {
		if problem := recover(); problem != nil {
			a = answer{Error: fmt.Sprint("panic: ", problem)}
		}
	}()
	value, err := r.read([]byte(text))
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{JSON: normalize(value)}
}

// normalize turns what a reader returns into what encoding/json would have returned. What JSON does
// not have (a key that is not a string, a date, an infinity) becomes a text that no document expects.
func normalize(value interface{}) interface{} {
	switch v := value.(type) {
	case map[interface{}]interface{}:
		object := make(map[string]interface{}, len(v))
		for key, item := range v {
			name, ok := key.(string)
			if !ok {
				name = fmt.Sprintf("!!%T %v", key, key)
			}
			object[name] = normalize(item)
		}
		return object
	case map[string]interface{}:
		for key, item := range v {
			v[key] = normalize(item)
		}
		return v
	case []interface{}:
		for i, item := range v {
			v[i] = normalize(item)
		}
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Sprintf("!!%T %v", v, v)
		}
		return v
	case nil, bool, string:
		return v
	default:
		return fmt.Sprintf("!!%T %v", v, v)
	}
}

func encode(value interface{}) []byte {
	line, err := json.Marshal(value)
	if err != nil {
		fail(err)
	}
	return line
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "go-oracle:", err)
	os.Exit(2)
}
