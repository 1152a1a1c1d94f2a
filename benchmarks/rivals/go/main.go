// A Go worker that pushes as the other subjects of the dispatch benchmark do: one HTTP/2 connection, so many streams at a time, a body of
// its own and an apns-id of its own for each push, a deadline on each, answers read to the end.
//
// It is written to be hard to beat by other Go: http2.Transport is called directly (no http.Client, no cookies, no redirects), requests,
// header maps and bodies are reused by their goroutine as soon as the API allows it, header names are in lower case already, the provider
// token is made once, work is taken from a counter instead of a channel, and the garbage collector runs four times less often than usual.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/http2"
)

const (
	bodyBytes     = 800
	tokens        = 20_000
	deadline      = 8 * time.Second
	authorization = "authorization"
	identifier    = "apns-id"
)

func main() {
	port := flag.Int("port", 0, "of the server, on the loopback address")
	authority := flag.String("authority", "", "the certificate to trust, PEM")
	bearer := flag.String("authorization", "", "the whole header field")
	topic := flag.String("topic", "", "apns-topic")
	requests := flag.Int64("requests", 60_000, "pushes")
	streams := flag.Int("streams", 500, "goroutines, each with one push open")
	round := flag.Int("round", 1, "printed with the result")
	subject := flag.String("subject", "go", "printed with the result")
	flag.Parse()
	// What a team does that watches its profiles: the live heap is a few megabytes, so collections would be many.
	debug.SetGCPercent(400)
	pem, err := os.ReadFile(*authority)
	check(err)
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(pem) {
		check(fmt.Errorf("%s holds no certificate", *authority))
	}
	worker := &worker{
		host:  fmt.Sprintf("localhost:%d", *port),
		paths: devicePaths(),
		transport: &http2.Transport{
			TLSClientConfig:            &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS13},
			StrictMaxConcurrentStreams: true,
			DisableCompression:         true,
			ReadIdleTimeout:            15 * time.Second,
		},
		bearer: *bearer,
		topic:  *topic,
	}
	worker.left.Store(1)
	worker.run(1)
	worker.left.Store(*requests)
	worker.accepted.Store(0)
	cpu, began := processCPU(), time.Now()
	worker.run(*streams)
	used, took := processCPU()-cpu, time.Since(began)
	if accepted := worker.accepted.Load(); accepted != *requests {
		check(fmt.Errorf("%d of %d pushes were accepted", accepted, *requests))
	}
	total := float64(*requests)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"case": fmt.Sprintf("1 connection, %d streams", *streams), "subject": *subject, "round": *round,
		"figures": map[string]float64{
			"cpuSecondsPerMillionPushes": used.Seconds() / total * 1e6,
			"pushesPerSecond":            total / took.Seconds(),
			"processors":                 float64(runtime.GOMAXPROCS(0)),
		},
	}))
}

type worker struct {
	host, bearer, topic string
	paths               []string
	transport           *http2.Transport
	left, accepted      atomic.Int64
}

func (worker *worker) run(goroutines int) {
	var group sync.WaitGroup
	for number := 0; number < goroutines; number++ {
		group.Add(1)
		go func(seed int64) {
			defer group.Done()
			worker.push(rand.New(rand.NewSource(seed)))
		}(int64(number))
	}
	group.Wait()
}

// push sends one after the other until nothing is left.
func (worker *worker) push(random *rand.Rand) {
	payload := newBody()
	header := http.Header{
		authorization:     {worker.bearer},
		"apns-topic":      {worker.topic},
		"apns-push-type":  {"liveactivity"},
		"apns-priority":   {"5"},
		"apns-expiration": {"0"},
		identifier:        {""},
		// Otherwise the transport adds its own.
		"user-agent": nil,
	}
	address := &url.URL{Scheme: "https", Host: worker.host}
	request := &http.Request{
		Method: http.MethodPost, URL: address, Host: "localhost", Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: header, ContentLength: bodyBytes,
	}
	for worker.left.Add(-1) >= 0 {
		address.Path = worker.paths[random.Intn(len(worker.paths))]
		header[identifier][0] = newIdentifier(random)
		payload.offset = 0
		request.Body = payload
		if worker.send(request) {
			worker.accepted.Add(1)
		}
	}
}

func (worker *worker) send(request *http.Request) bool {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	response, err := worker.transport.RoundTrip(request.WithContext(ctx))
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return false
	}
	_, err = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	return err == nil && response.StatusCode == http.StatusOK
}

// body is read once a push, and again for the next.
type body struct {
	bytes  []byte
	offset int
}

func newBody() *body {
	bytes := make([]byte, 0, bodyBytes)
	bytes = append(bytes, `{"aps":{"timestamp":1795953600,"event":"update","content-state":{"note":"`...)
	const end = `"}}}`
	for len(bytes) < bodyBytes-len(end) {
		bytes = append(bytes, "on the way "[len(bytes)%11])
	}
	return &body{bytes: append(bytes, end...)}
}

func (body *body) Read(into []byte) (int, error) {
	count := copy(into, body.bytes[body.offset:])
	body.offset += count
	if body.offset == len(body.bytes) {
		return count, io.EOF
	}
	return count, nil
}

func (body *body) Close() error { return nil }

func devicePaths() []string {
	random := rand.New(rand.NewSource(2))
	paths := make([]string, tokens)
	token := make([]byte, 32)
	for index := range paths {
		random.Read(token)
		paths[index] = "/3/device/" + hex.EncodeToString(token)
	}
	return paths
}

// newIdentifier is a UUID, of 36 characters.
func newIdentifier(random *rand.Rand) string {
	var bytes [16]byte
	high, low := random.Uint64(), random.Uint64()
	for index := 0; index < 8; index++ {
		bytes[index], bytes[8+index] = byte(high>>(8*index)), byte(low>>(8*index))
	}
	var text [36]byte
	hex.Encode(text[0:8], bytes[0:4])
	hex.Encode(text[9:13], bytes[4:6])
	hex.Encode(text[14:18], bytes[6:8])
	hex.Encode(text[19:23], bytes[8:10])
	hex.Encode(text[24:36], bytes[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

// processCPU is the user and system time of this process.
func processCPU() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
