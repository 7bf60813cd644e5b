// Package telemetry gives what the servers and conversations of the command do to OpenTelemetry, as the variables of
// the environment say, and to those who watch a server: whether it works, its figures, and a line a request.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	meter "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/otel"
)

// The variables that name a receiver of OTLP over HTTP. The exporters read the others of OpenTelemetry, such as
// headers, themselves.
const (
	Endpoint        = "OTEL_EXPORTER_OTLP_ENDPOINT" // "/v1/traces" and "/v1/metrics" are added
	tracesEndpoint  = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	metricsEndpoint = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
)

// Telemetry is where spans and metrics go. Close ends it.
type Telemetry struct {
	traces  *sdktrace.TracerProvider // nil: nowhere
	metrics *metric.MeterProvider    // nil: nowhere
	version string
	page    http.Handler // of the metrics; nil: none
}

// Start reads the variables. A server has a page of metrics also where no receiver is named. told gets the first
// failure of an export.
func Start(ctx context.Context, getenv func(string) string, version string, server bool, told func(error)) (*Telemetry,
	error) {
	t := &Telemetry{version: version}
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return t, nil
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(semconv.ServiceName("texttosql"),
		semconv.ServiceVersion(version)), resource.WithFromEnv()) // OTEL_SERVICE_NAME is stronger
	if err != nil {
		return nil, err
	}
	var readers []metric.Option
	if server {
		registry := prometheus.NewRegistry()
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		reader, err := exporter.New(exporter.WithRegisterer(registry))
		if err != nil {
			return nil, err
		}
		readers = append(readers, metric.WithReader(reader))
		t.page = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	}
	if at, err := endpoint(getenv, tracesEndpoint, "/v1/traces"); err != nil {
		return nil, err
	} else if at != "" {
		sent, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(at))
		if err != nil {
			return nil, err
		}
		t.traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(sent), sdktrace.WithResource(about))
	}
	if at, err := endpoint(getenv, metricsEndpoint, "/v1/metrics"); err != nil {
		return nil, err
	} else if at != "" {
		sent, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(at))
		if err != nil {
			return nil, err
		}
		readers = append(readers, metric.WithReader(metric.NewPeriodicReader(sent)))
	}
	if len(readers) > 0 {
		t.metrics = metric.NewMeterProvider(append(readers, metric.WithResource(about))...)
	}
	var once sync.Once // a receiver that is away would be told of each minute
	api.SetErrorHandler(api.ErrorHandlerFunc(func(err error) {
		once.Do(func() { told(fmt.Errorf("telemetry is not sent: %w", err)) })
	}))
	return t, nil
}

// endpoint returns the URL of a signal; "" for none.
func endpoint(getenv func(string) string, variable, path string) (string, error) {
	at, name := getenv(variable), variable
	if at == "" && getenv(Endpoint) != "" {
		at, name = strings.TrimSuffix(getenv(Endpoint), "/")+path, Endpoint
	}
	if u, err := url.Parse(at); at != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("%s: want a URL of a receiver of OTLP over HTTP, as http://localhost:4318", name)
	}
	return at, nil
}

// Option has the questions of an engine followed, and a line written to log for each that failed. log may be nil; the
// option is nil where nothing is to be sent or written.
func (t *Telemetry) Option(dsn string, log *slog.Logger) (texttosql.Option, error) {
	r, err := t.recorder(dsn)
	switch {
	case log != nil && err == nil:
		return texttosql.WithTelemetry(&Failures{Next: r, Log: log}), nil
	case r == nil || err != nil:
		return nil, err
	}
	return texttosql.WithTelemetry(r), nil
}

// recorder follows questions; nil where nothing is to be sent.
func (t *Telemetry) recorder(dsn string) (texttosql.Telemetry, error) {
	if t.traces == nil && t.metrics == nil {
		return nil, nil
	}
	c := otel.Config{Version: t.version}
	if t.traces != nil {
		c.Tracer = t.traces
	}
	if t.metrics != nil {
		c.Meter = t.metrics
	}
	c.Namespace, c.Server = names(dsn)
	return otel.New(c)
}

// names returns what a DSN says of database and server, without user and password.
func names(dsn string) (namespace, server string) {
	switch u, err := url.Parse(dsn); {
	case err == nil && u.Host != "":
		namespace = strings.Trim(u.Path, "/")
		if namespace == "" {
			namespace = u.Query().Get("catalog")
		}
		return namespace, u.Host
	case strings.ContainsAny(dsn, "@="): // a form of a driver
		return "", ""
	}
	_, path, prefixed := strings.Cut(dsn, ":")
	if !prefixed || strings.ContainsAny(dsn[:len(dsn)-len(path)], `/\`) {
		path = dsn
	}
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), ""
}

// Gauge has a number of the program among its metrics, as value gives it at each look.
func (t *Telemetry) Gauge(name, about string, value func() int) error {
	if t.metrics == nil {
		return nil
	}
	_, err := t.metrics.Meter("github.com/texttosql/texttosql/cmd/texttosql").Int64ObservableGauge(name,
		meter.WithDescription(about), meter.WithInt64Callback(func(_ context.Context, o meter.Int64Observer) error {
			o.Observe(int64(value()))
			return nil
		}))
	return err
}

// Close sends what is left, for at most five seconds.
func (t *Telemetry) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var err error
	if t.traces != nil {
		err = t.traces.Shutdown(ctx)
	}
	if t.metrics != nil {
		err = errors.Join(err, t.metrics.Shutdown(ctx))
	}
	return err
}
