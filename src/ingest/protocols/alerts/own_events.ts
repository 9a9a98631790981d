import { randomUUID } from 'node:crypto';

import { type AlertAction, type AlertEvent, bareEvent, severityOf } from '#modules/alerts/decide/alert_event.ts';
import { cutKey, cutNote, cutTitle } from '#modules/alerts/decide/alert_limits.ts';
import type { AlertOutcome } from '#modules/alerts/decide/sent_alert.ts';
import type { AlertAnswer, AlertEndpoint } from '#ingest/protocols/alerts/alert_protocol.ts';
import {
  detailsOf,
  fieldOf,
  imagesOf,
  isRecord,
  linksOf,
  listIn,
  recordIn,
  textIn,
  timeOf,
  toolNamed,
} from '#ingest/protocols/alerts/json_reading.ts';
import { keyInHeaders } from '#ingest/protocols/alerts/keys.ts';
import { type Fault, invalidInput } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const EVENTS_MAX = 1_000;
const LEASE_SECONDS_MAX = 31 * 86_400;

const ACTIONS: Readonly<Record<string, AlertAction>> = {
  trigger: 'trigger',
  acknowledge: 'acknowledge',
  unacknowledge: 'unacknowledge',
  resolve: 'resolve',
};

const TEXT = { type: 'string' };
const LINKS = (address: string, words: string) => ({
  type: 'array',
  items: { type: 'object', required: [address], properties: { [address]: TEXT, [words]: TEXT } },
});

/** One event, as JSON schema. */
export const OWN_EVENT_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    action: { enum: Object.keys(ACTIONS), description: 'default trigger' },
    dedupKey: {
      type: 'string',
      description: 'what the tool calls the alert; required but for a trigger, which gets one',
    },
    title: { type: 'string', description: 'required for a trigger' },
    severity: { type: 'string', description: 'critical, error, warning, info, or P1 to P5; default error' },
    details: { type: 'object' },
    links: LINKS('href', 'text'),
    images: LINKS('src', 'alt'),
    group: { type: 'string', description: 'alerts of one group share an incident' },
    at: { type: 'string', description: "the tool's own time, RFC 3339: it decides when events come in another order" },
    tool: { type: 'string', description: 'what the tool is called' },
    note: { type: 'string', description: 'for the timeline of the incident' },
    leaseSeconds: { type: 'number', description: 'the event is repeated within this time while it goes on' },
  },
} as const;

const FIELDS: readonly string[] = Object.keys(OWN_EVENT_SCHEMA.properties);

/** An event of our own JSON, with what is answered about it. */
interface ReadEvent {
  readonly event: AlertEvent;
  readonly dedupKey: string;
  readonly cut: readonly string[];
}

/** `/events`: one event, or up to 1,000 as a list. */
export const OWN_EVENTS: AlertEndpoint = {
  protocol: 'events',
  methods: ['POST'],
  pattern: 'events',
  keyOf: keyInHeaders,
  list: {
    at: null,
    join: (answers) => ({ status: 202, body: { events: answers.flatMap(({ body }) => listIn(body, 'events')) } }),
  },
  read({ body, part = { first: 0, of: 0 }, now }) {
    const list = Array.isArray(body) ? body : [body];
    const faults: Fault[] = [];
    if (list.length === 0 || Math.max(list.length, part.of) > EVENTS_MAX) {
      faults.push({ path: '', message: `send one event, or a list of 1 to ${EVENTS_MAX}` });
    }
    const events = list.slice(0, EVENTS_MAX).map((event: unknown, index) => {
      return readEvent(event, Array.isArray(body) ? `[${part.first + index}]` : '', faults, now);
    });
    if (faults.length > 0) throw invalidInput(faults);
    return {
      kind: 'alerts',
      sent: events.map(({ event }) => ({ source: { protocol: 'events', name: '' }, event })),
      answer: (outcomes) => answerOf(events, outcomes, Array.isArray(body)),
    };
  },
};

function readEvent(body: unknown, path: string, faults: Fault[], now: Temporal.Instant): ReadEvent {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const fault = (name: string, message: string): void => void faults.push({ path: at(name), message });
  if (!isRecord(body)) {
    faults.push({ path, message: 'an event is an object like {"title":"Disk full","severity":"critical"}' });
    return { event: bareEvent('trigger', ''), dedupKey: '', cut: [] };
  }
  for (const name of Object.keys(body)) {
    if (!FIELDS.includes(name)) fault(name, `is unknown; known are ${FIELDS.join(', ')}`);
  }
  const said = fieldOf(body, 'action') ?? 'trigger';
  const action = typeof said === 'string' && Object.hasOwn(ACTIONS, said) ? ACTIONS[said] : undefined;
  if (action === undefined) fault('action', `is one of ${Object.keys(ACTIONS).join(', ')}`);
  const text = textIn(body, 'dedupKey');
  if (text === null && action !== 'trigger') fault('dedupKey', 'is required: the one of the trigger');
  const title = textIn(body, 'title');
  if (title === null && action === 'trigger') fault('title', 'is required: what went wrong, in a few words');
  const severity = severityOf(fieldOf(body, 'severity'));
  if (fieldOf(body, 'severity') !== undefined && severity === null) {
    fault('severity', 'is one of critical, error, warning, info, or P1 to P5');
  }
  const when = timeOf(fieldOf(body, 'at'));
  if (fieldOf(body, 'at') !== undefined && when === null) fault('at', 'is a time like 2027-06-01T12:00:00Z');
  for (const name of ['details'] as const) {
    const value = fieldOf(body, name);
    if (value !== undefined && !isRecord(value)) fault(name, 'is an object');
  }
  for (const name of ['links', 'images'] as const) {
    const value = fieldOf(body, name);
    if (value !== undefined && !Array.isArray(value))
      fault(name, `is a list of objects with ${name === 'links' ? 'href and text' : 'src and alt'}`);
  }
  const lease = fieldOf(body, 'leaseSeconds');
  const isLease = typeof lease === 'number' && lease >= 1 && lease <= LEASE_SECONDS_MAX;
  if (lease !== undefined && !isLease) fault('leaseSeconds', `is a number from 1 to ${LEASE_SECONDS_MAX}`);
  const key = cutKey(text ?? randomUUID());
  const cutOfTitle = title === null ? null : cutTitle(title);
  const note = textIn(body, 'note');
  return {
    dedupKey: text ?? key.value,
    cut: [...(key.cut ? ['dedupKey'] : []), ...(cutOfTitle?.cut === true ? ['title'] : [])],
    event: {
      ...bareEvent(action ?? 'trigger', key.value),
      title: cutOfTitle?.value ?? null,
      severity,
      details: isRecord(fieldOf(body, 'details')) ? detailsOf(recordIn(body, 'details')) : null,
      links: fieldOf(body, 'links') === undefined ? null : linksOf(listIn(body, 'links')),
      images: fieldOf(body, 'images') === undefined ? null : imagesOf(listIn(body, 'images')),
      group: groupOf(body),
      at: when,
      leaseUntil: isLease ? now.add({ milliseconds: Math.round(lease * 1_000) }) : null,
      tool: toolNamed(textIn(body, 'tool')),
      note: note === null ? null : cutNote(note),
    },
  };
}

function groupOf(body: unknown): string | null {
  const group = textIn(body, 'group');
  return group === null ? null : cutKey(group).value;
}

function answerOf(events: readonly ReadEvent[], outcomes: readonly AlertOutcome[], isList: boolean): AlertAnswer {
  const answers = events.map(({ dedupKey, cut }, index) => {
    const outcome = outcomes[index];
    return {
      dedupKey,
      alertId: outcome?.alertId ?? null,
      incidentId: outcome?.incidentId ?? null,
      effect: outcome?.effect ?? 'nothing',
      ...(cut.length > 0 && { cut }),
    };
  });
  return { status: 202, body: isList ? { events: answers } : answers[0] };
}
