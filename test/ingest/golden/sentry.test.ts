import { beforeAll, expect, test } from 'vitest';

import { parseEvent, serializeEvent, type ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { culpritOf } from '#modules/exceptions/decide/frames.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { headlineOf, titleOf } from '#modules/exceptions/decide/title.ts';
import { decode, type ReadDelivery, readRecordings } from '#test/ingest/golden/sentry_recordings.ts';

const recordings = readRecordings();
const deliveries = new Map<string, ReadDelivery>();

beforeAll(async () => {
  for (const { name, request } of recordings) deliveries.set(name, await decode(request));
});

test.each(recordings)('$name is read as it was recorded', async ({ name, plainBody }) => {
  const delivery = deliveries.get(name)!;
  const isOwnId = plainBody.includes(delivery.eventId);
  const shown = {
    ...delivery,
    eventId: isOwnId ? delivery.eventId : 'generated',
    events: delivery.events.map((event) => ({
      title: titleOf(headlineOf(event)),
      culprit: culpritOf(event)?.label ?? null,
      grouping: groupEvent(event),
      event,
    })),
  };
  const file = `expected/sentry/${name}.json`;
  await expect(`${JSON.stringify(shown, null, 1)}\n`).toMatchFileSnapshot(file);
  for (const event of delivery.events) expect(parseEvent(serializeEvent(event))).toEqual(event);
});

/** Events of the recorded programs by the marks in the lines that sent them. */
const MARKS = [
  { client: 'python-1.9.10', mark: 'A', names: ['01-store', '02-store'] },
  { client: 'python-1.9.10', mark: 'F', names: ['04-store', '05-store'] },
  { client: 'node-11.12.0', mark: 'A', names: ['12-event', '08-event'] },
  { client: 'node-11.12.0', mark: 'F', names: ['10-event', '11-event'] },
  { client: 'go-0.11.0', mark: 'A', names: ['01-store', '02-store'] },
];

test.each(MARKS)('events of $client marked same_group $mark are one group', ({ client, names }) => {
  expect(new Set(names.map((name) => keyOf(`${client}/${name}`))).size).toBe(1);
});

test.each([
  { client: 'python-1.9.10', group: '01-store', hybrid: '06-store' },
  { client: 'node-11.12.0', group: '12-event', hybrid: '13-event' },
])('the event of $client marked not_group A is the default grouping and a tenant', ({ client, group, hybrid }) => {
  expect(groupEvent(eventOf(`${client}/${hybrid}`)).parts.at(-1)).toMatchObject({
    strategy: 'fingerprint',
    lines: ['tenant-7'],
  });
  expect(keyOf(`${client}/${hybrid}`)).not.toBe(keyOf(`${client}/${group}`));
});

test('all other recorded events are groups of their own', () => {
  const repeated = new Set(MARKS.flatMap(({ client, names }) => names.slice(1).map((name) => `${client}/${name}`)));
  const keys = recordings
    .filter(({ name }) => deliveries.get(name)!.events.length > 0 && !repeated.has(name))
    .map(({ name }) => `${name.split('/')[0]} ${keyOf(name)}`);
  expect(new Set(keys).size).toBe(keys.length);
});

function keyOf(name: string): string {
  return groupEvent(eventOf(name)).key;
}

function eventOf(name: string): ExceptionEvent {
  return deliveries.get(name)!.events[0]!;
}
