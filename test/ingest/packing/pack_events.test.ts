import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { createCipher } from '#auth/cipher.ts';
import { type AcceptedEvent, packEvents, unpackEvents } from '#ingest/packing/pack_events.ts';
import { type EventContext, readEvent } from '#ingest/protocols/sentry/event.ts';
import { decodeSentryRequest } from '#ingest/protocols/sentry.ts';
import type { Id } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { requestOf } from '#test/ingest/golden/sentry_recordings.ts';

const CIPHER = createCipher('a secret that is long enough');
const orgId = 'org_1' as Id<'org'>;
const serviceId = 'service_a' as Id<'service'>;
const receivedAt = Temporal.Instant.from('2026-11-21T12:00:00.123Z');

const name = fc.option(fc.string({ unit: 'binary', maxLength: 40 }));
const context: fc.Arbitrary<EventContext> = fc.record({
  eventId: fc.stringMatching(/^[0-9a-f]{32}$/),
  receivedAt: fc.constant(receivedAt),
  clientIp: name,
  client: name,
});
/**
 * Payloads as clients write them: on one line or on many, with anything in their texts, and now and then no JSON at
 * all.
 */
const payload: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .tuple(fc.record({ message: fc.string({ unit: 'binary' }), extra: fc.jsonValue() }), fc.nat(3))
    .map(([event, indent]) => Buffer.from(JSON.stringify(event, null, indent))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);
const accepted: fc.Arbitrary<AcceptedEvent> = fc.record({
  orgId: fc.constantFrom(orgId, 'org_2' as Id<'org'>),
  serviceId: fc.constantFrom(serviceId, 'service_b' as Id<'service'>),
  sent: fc.record({ context, payload }),
});

test('events arrive as they were sent, whatever they hold', () => {
  fc.assert(
    fc.property(fc.array(accepted, { minLength: 1, maxLength: 12 }), (events) => {
      const arrived = unpackEvents(packEvents(events, CIPHER), CIPHER);
      expect(arrived.map(({ eventId }) => eventId)).toEqual(events.map(({ sent }) => sent.context.eventId));
      expect(arrived.map(({ read }) => read())).toEqual(
        events.map(({ sent, ...owner }) => {
          const event = readEvent(sent);
          return typeof event === 'string' ? event : { ...owner, event };
        }),
      );
    }),
  );
});

test('a waiting event is unreadable without the secret', () => {
  const sent = {
    context: { eventId: 'a'.repeat(32), receivedAt, clientIp: null, client: null },
    payload: Buffer.from('{"password":"x"}'),
  };
  const packed = packEvents([{ orgId, serviceId, sent }], CIPHER);
  expect(packed.includes('password')).toBe(false);
  expect(() => unpackEvents(packed, createCipher('another secret that is long enough'))).toThrow('another APP_SECRET');
});

test('an event keeps no more of its request in memory than it takes', async () => {
  const attachment = 'x'.repeat(1_000_000);
  const event = JSON.stringify({ message: 'out of beans', extra: { more: 'y'.repeat(50_000) } });
  const body = `{}\n{"type":"attachment"}\n${attachment}\n{"type":"event"}\n${event}`;
  const { events } = await decodeSentryRequest(requestOf('envelope', body), async (bytes) => bytes);
  expect(events[0]!.payload.toString()).toBe(event);
  expect(events[0]!.payload.buffer.byteLength).toBeLessThan(2 * event.length);
});
