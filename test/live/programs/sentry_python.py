"""A shop as users write it, which has only its DSN from us; STORY says what happens in it."""

import logging
import math
import os

import sentry_sdk

sentry_sdk.init(os.environ["SENTRY_DSN"], environment="staging", release="shop@1.4.2")
sentry_sdk.set_tag("region", "eu")
sentry_sdk.set_user({"id": "42", "email": "bob@shop.test"})
sentry_sdk.add_breadcrumb(category="till", message="order opened", data={"password": "hunter2"})

sent = 0


class OutOfBeans(Exception):
    pass


def take_order(beans):
    if beans > 5:
        raise ValueError(f"cannot take an order of {beans} beans")


def charge_order(beans):
    try:
        take_order(beans)
    except ValueError as cause:
        raise OutOfBeans(f"order of {beans} beans was not charged") from cause


def capture(error):
    global sent
    sentry_sdk.capture_exception(error)
    sent += 1


def report():
    global sent
    for beans in (10, 20):
        try:
            charge_order(beans)
        except OutOfBeans as error:
            capture(error)
    sentry_sdk.capture_message("the grinder is slow", "warning")
    logging.getLogger("shop.till").error("table %s waits for %d cups", "7b", 3)
    sent += 2
    for flavour in ("sour", "bitter"):
        with sentry_sdk.push_scope() as scope:
            scope.fingerprint = ["beans"]
            capture(ValueError(f"the beans are {flavour}"))
    circle = {"size": math.nan}
    circle["self"] = circle
    with sentry_sdk.push_scope() as scope:
        scope.set_extra("circle", circle)
        scope.set_context("till", {"open": True, "coins": math.inf})
        capture(KeyError("sugar"))
    capture(ValueError("a long story " + "x" * 20_000))
    capture(ValueError("teapot \U0001fad6 with half a \ud83e and a \0 in it"))
    sent += 1
    print(f"sent {sent}", flush=True)
    raise RuntimeError("the machine is on fire")


def insist():
    for _ in range(10):
        capture(ValueError("again"))
        sentry_sdk.flush(2)
    print(f"sent {sent}", flush=True)


insist() if os.environ.get("STORY") == "insist" else report()
