// A shop as users write it, which has only its DSN from us; STORY says what happens in it.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/getsentry/sentry-go"
)

type outOfBeans struct{ cause error }

func (e *outOfBeans) Error() string { return "the order was not charged: " + e.cause.Error() }
func (e *outOfBeans) Unwrap() error { return e.cause }

func takeOrder(beans int) error {
	if beans > 5 {
		return fmt.Errorf("cannot take an order of %d beans", beans)
	}
	return nil
}

func chargeOrder(beans int) error {
	if err := takeOrder(beans); err != nil {
		return &outOfBeans{err}
	}
	return nil
}

var sent = 0

func capture(err error) {
	sentry.CaptureException(err)
	sent++
}

func report() {
	for _, beans := range []int{10, 20} {
		capture(chargeOrder(beans))
	}
	sentry.WithScope(func(scope *sentry.Scope) {
		scope.SetLevel(sentry.LevelWarning)
		sentry.CaptureMessage("the grinder is slow")
		sent++
	})
	for _, flavour := range []string{"sour", "bitter"} {
		sentry.WithScope(func(scope *sentry.Scope) {
			scope.SetFingerprint([]string{"beans"})
			capture(errors.New("the beans are " + flavour))
		})
	}
	capture(errors.New("a long story " + strings.Repeat("x", 20000)))
	capture(errors.New("teapot \U0001fad6 with half a \xf0\x9f and a \x00 in it"))
	func() {
		defer func() {
			sentry.CurrentHub().Recover(recover())
			sent++
		}()
		panic("the machine is on fire")
	}()
	func() {
		defer func() {
			sentry.CurrentHub().Recover(recover())
			sent++
		}()
		var till map[string]int
		till["coins"] = 1
	}()
}

func insist() {
	for i := 0; i < 10; i++ {
		capture(errors.New("again"))
		sentry.Flush(2 * time.Second)
	}
}

func main() {
	err := sentry.Init(sentry.ClientOptions{
		Dsn:              os.Getenv("SENTRY_DSN"),
		Environment:      "staging",
		Release:          "shop@1.4.2",
		AttachStacktrace: true,
	})
	if err != nil {
		panic(err)
	}
	sentry.ConfigureScope(func(scope *sentry.Scope) {
		scope.SetTag("region", "eu")
		scope.SetUser(sentry.User{ID: "42", Email: "bob@shop.test"})
	})
	sentry.AddBreadcrumb(&sentry.Breadcrumb{Category: "till", Message: "order opened", Data: map[string]interface{}{"password": "hunter2"}})
	if os.Getenv("STORY") == "insist" {
		insist()
	} else {
		report()
	}
	sentry.Flush(10 * time.Second)
	fmt.Printf("sent %d\n", sent)
}
