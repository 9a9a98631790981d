import { expect, test } from 'vitest';

import { parseEvent, serializeEvent } from '#modules/exceptions/decide/event.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { headlineOf, titleOf } from '#modules/exceptions/decide/title.ts';
import { AppError } from '#kernel/errors.ts';
import { slowRuns } from '#test/kit/properties.ts';
import { decode, readRecordings } from '#test/ingest/golden/sentry_recordings.ts';

const TRIES = slowRuns(20_000);

/** Mulberry32: the same numbers in every run. */
function randomsFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = randomsFrom(20_261_121);
const below = (limit: number): number => Math.floor(random() * limit);
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;

/** Values that clients and attackers put where another type is expected. */
const ODD_VALUES = ['null', '[]', '{}', '-1', '1e999', '""', 'NaN', 'true', '[[[[]]]]', '{"values":{"values":null}}'];
const TYPES = [
  '"frames":',
  '"values":',
  '"exception":',
  '"stacktrace":',
  '"tags":',
  '"user":',
  '"message":',
  '"type":',
  '"length":',
];

const MUTATIONS: readonly ((body: Buffer, other: Buffer) => Buffer)[] = [
  (body) => {
    const flipped = Buffer.from(body);
    for (let i = below(8); i >= 0; i -= 1) flipped[below(flipped.length)]! ^= 1 << below(8);
    return flipped;
  },
  (body) => body.subarray(0, below(body.length)),
  (body, other) => Buffer.concat([body.subarray(0, below(body.length)), other.subarray(below(other.length))]),
  (body) => {
    const from = below(body.length);
    return Buffer.concat([body.subarray(0, from), body.subarray(from + below(40))]);
  },
  (body) => {
    const text = body.toString('latin1');
    const name = pick(TYPES);
    const at = text.indexOf(name, below(text.length));
    return at === -1 ? body : Buffer.from(`${text.slice(0, at)}${name}${pick(ODD_VALUES)},${text.slice(at)}`, 'latin1');
  },
];

test(`${TRIES} broken requests end in an event or in a refusal, never in anything else`, async () => {
  const recordings = readRecordings().filter(({ plainBody }) => plainBody.length < 13_000);
  let events = 0;
  let refusals = 0;
  for (let i = 0; i < TRIES; i += 1) {
    const { request, plainBody } = pick(recordings);
    const isEncoded = request.body !== plainBody && random() < 0.1;
    const source = isEncoded ? request.body : plainBody;
    const headers = isEncoded ? request.headers : { ...request.headers, 'content-encoding': undefined };
    const body = pick(MUTATIONS)(source, pick(recordings).plainBody);
    try {
      for (const event of (await decode({ ...request, headers, body })).events) {
        events += 1;
        expect(groupEvent(event).key).toMatch(/^[0-9a-f]{32}$/);
        expect(titleOf(headlineOf(event)).length).toBeLessThanOrEqual(120);
        expect(event.eventId).toMatch(/^[0-9a-f]{32}$/);
        const stored = serializeEvent(event);
        expect(serializeEvent(parseEvent(stored))).toBe(stored);
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refusals += 1;
    }
  }
  expect(events).toBeGreaterThan(TRIES / 10);
  expect(refusals).toBeGreaterThan(TRIES / 20);
});
