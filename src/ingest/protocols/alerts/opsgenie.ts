import { randomUUID } from 'node:crypto';

import { type AlertEvent, bareEvent, severityOf } from '#modules/alerts/decide/alert_event.ts';
import { cutKey, cutNote, cutTitle } from '#modules/alerts/decide/alert_limits.ts';
import type { AlertOutcome } from '#modules/alerts/decide/sent_alert.ts';
import type {
  AlertAnswer,
  AlertEndpoint,
  AlertReading,
  AlertRequestWithBody,
} from '#ingest/protocols/alerts/alert_protocol.ts';
import {
  alertmanagerOf,
  detailsOf,
  fieldOf,
  isRecord,
  type JsonRecord,
  linksOf,
  listIn,
  recordIn,
  textIn,
  toolNamed,
} from '#ingest/protocols/alerts/json_reading.ts';
import { keyInHeaders } from '#ingest/protocols/alerts/keys.ts';
import { addressOf, readAlert, readCount, readList, readRequest } from '#ingest/protocols/alerts/opsgenie_lookups.ts';
import { type AppError, invalidInput } from '#kernel/errors.ts';
import { uuidOf } from '#kernel/ids.ts';

const SOURCE = { protocol: 'opsgenie', name: '' } as const;

type ToEvent = (key: string, body: JsonRecord, request: Pick<AlertRequestWithBody, 'method' | 'query'>) => AlertEvent;

/** Event that each address below an alert stands for. */
const CHANGES: Readonly<Record<string, { methods: readonly string[]; toEvent: ToEvent }>> = {
  close: { methods: ['POST'], toEvent: (key, body) => ({ ...bareEvent('resolve', key), ...noteOf(body) }) },
  acknowledge: { methods: ['POST'], toEvent: (key, body) => ({ ...bareEvent('acknowledge', key), ...noteOf(body) }) },
  unacknowledge: {
    methods: ['POST'],
    toEvent: (key, body) => ({ ...bareEvent('unacknowledge', key), ...noteOf(body) }),
  },
  snooze: {
    methods: ['POST'],
    toEvent: (key, body) => {
      const until = textIn(body, 'endTime');
      const { note } = noteOf(body);
      const said = until === null ? 'snoozed' : `snoozed until ${until}`;
      return { ...bareEvent('acknowledge', key), note: cutNote(note === null ? said : `${said}: ${note}`) };
    },
  },
  notes: { methods: ['POST'], toEvent: (key, body) => ({ ...bareEvent('update', key), ...noteOf(body) }) },
  assign: { methods: ['POST'], toEvent: (key, body) => ({ ...bareEvent('update', key), ...noteOf(body) }) },
  responders: { methods: ['POST'], toEvent: (key, body) => ({ ...bareEvent('update', key), ...noteOf(body) }) },
  escalate: { methods: ['POST'], toEvent: (key, body) => ({ ...bareEvent('update', key), ...noteOf(body) }) },
  tags: {
    methods: ['POST', 'DELETE'],
    toEvent: (key, body, request) => ({
      ...bareEvent('update', key),
      ...(request.method === 'DELETE' ? removed(request.query, 'tags', 'tags') : added(body, 'tags')),
    }),
  },
  details: {
    methods: ['POST', 'DELETE'],
    toEvent: (key, body, request) => ({
      ...bareEvent('update', key),
      ...(request.method === 'DELETE' ? removed(request.query, 'details', 'keys') : added(body, 'details')),
    }),
  },
  description: {
    methods: ['PUT'],
    toEvent: (key, body) => ({ ...bareEvent('update', key), ...changedDetails(body, 'description') }),
  },
  message: {
    methods: ['PUT'],
    toEvent: (key, body) => {
      const message = textIn(body, 'message');
      return { ...bareEvent('update', key), title: message === null ? null : cutTitle(message).value };
    },
  },
  priority: {
    methods: ['PUT'],
    toEvent: (key, body) => ({ ...bareEvent('update', key), severity: severityOf(fieldOf(body, 'priority')) }),
  },
};

const shared = { protocol: 'opsgenie', keyOf: keyInHeaders, refuse } as const;

/** The alert API of Opsgenie, and the integration events of Jira Service Management, as far as tools use them. */
export const OPSGENIE_ENDPOINTS: readonly AlertEndpoint[] = ['opsgenie', 'jsm/ops/integration'].flatMap((api) => {
  const alerts = `${api}/v2/alerts`;
  return [
    { ...shared, methods: ['POST'], pattern: alerts, read: readCreate },
    { ...shared, methods: ['GET'], pattern: alerts, reads: 'none', read: readList },
    ...Object.entries(CHANGES).map(([word, { methods, toEvent }]): AlertEndpoint => ({
      ...shared,
      methods,
      pattern: `${alerts}/:identifier*/${word}`,
      reads: 'json_or_none',
      read: (request) => addressed(request, toEvent),
    })),
    {
      ...shared,
      methods: ['DELETE'],
      pattern: `${alerts}/:identifier*`,
      reads: 'none',
      read: (request) => addressed(request, (key) => bareEvent('resolve', key)),
    },
    { ...shared, methods: ['GET'], pattern: `${alerts}/count`, reads: 'none', read: readCount },
    { ...shared, methods: ['GET'], pattern: `${alerts}/:identifier*`, reads: 'none', read: readAlert },
    { ...shared, methods: ['GET'], pattern: `${alerts}/requests/:request`, reads: 'none', read: readRequest },
    {
      ...shared,
      methods: ['GET', 'POST', 'PUT', 'PATCH'],
      pattern: `${api}/v2/heartbeats/:name/ping`,
      reads: 'none',
      read: ({ path }) => ({
        kind: 'heartbeat',
        name: path['name'] ?? '',
        answer: () => ({ status: 202, body: processed('PONG - Heartbeat received', randomUUID()) }),
      }),
    },
  ];
});

function readCreate({ body }: AlertRequestWithBody): AlertReading {
  if (!isRecord(body)) throw invalidInput([{ path: '', message: 'the body is no JSON object' }]);
  const message = textIn(body, 'message');
  if (message === null) throw invalidInput([{ path: 'message', message: 'cannot be empty' }]);
  const { description, entity, tags, details, responders, actions } = body;
  const event: AlertEvent = {
    ...bareEvent('trigger', cutKey(textIn(body, 'alias') ?? randomUUID()).value),
    scope: alertmanagerOf(textIn(body, 'source')),
    title: cutTitle(message).value,
    severity: severityOf(fieldOf(body, 'priority') ?? 'P3'),
    details: detailsOf({
      description,
      details,
      tags: withoutBlanks(tags),
      entity,
      source: body['source'],
      responders,
      actions,
    }),
    links: linksOf(Object.entries(recordIn(body, 'details')).map(([text, href]) => ({ href, text }))),
    images: [],
    tool: toolOfSource(textIn(body, 'source')),
    ...noteOf(body),
  };
  return { kind: 'alerts', sent: [{ source: SOURCE, event }], answer: accepted };
}

function addressed({ path, query, body, method }: AlertRequestWithBody, toEvent: ToEvent): AlertReading {
  const said = isRecord(body) ? body : {};
  const to = (key: string, scope: string | null): AlertReading => {
    return {
      kind: 'alerts',
      sent: [{ source: SOURCE, event: { ...toEvent(key, said, { method, query }), scope } }],
      answer: accepted,
    };
  };
  const by = addressOf(path['identifier'] ?? '', query);
  if ('key' in by) return to(by.key, alertmanagerOf(textIn(said, 'source')));
  return {
    kind: 'addressed',
    id: by.id,
    toReading: (alert) => (alert === null ? { kind: 'answer', answer: accepted([]) } : to(alert.key, alert.scope)),
  };
}

function accepted(outcomes: readonly AlertOutcome[]): AlertAnswer {
  const alertId = outcomes[0]?.alertId ?? null;
  return {
    status: 202,
    body: processed('Request will be processed', alertId === null ? randomUUID() : uuidOf(alertId)),
  };
}

function processed(result: string, requestId: string) {
  return { result, took: 0.001, requestId };
}

function noteOf(body: JsonRecord): { note: string | null } {
  const note = textIn(body, 'note');
  const user = textIn(body, 'user');
  if (note === null) return { note: null };
  return { note: cutNote(user === null ? note : `${user}: ${note}`) };
}

function changedDetails(body: JsonRecord, name: string): Pick<AlertEvent, 'details' | 'note'> {
  return { details: detailsOf({ [name]: withoutBlanks(fieldOf(body, name)) }), ...noteOf(body) };
}

type DetailsChange = Pick<AlertEvent, 'details' | 'detailsChange' | 'note'>;

function added(body: JsonRecord, name: string): DetailsChange {
  return { ...changedDetails(body, name), detailsChange: 'add' };
}

/** Reads the names that a query lists with commas between them. */
function removed(query: URLSearchParams, name: string, listedAs: string): DetailsChange {
  const listed = (query.get(listedAs) ?? '').split(',').map((item) => item.trim());
  const note = noteOf({ note: query.get('note'), user: query.get('user') });
  return { details: detailsOf({ [name]: withoutBlanks(listed) }), detailsChange: 'remove', ...note };
}

function withoutBlanks(list: unknown): unknown {
  return Array.isArray(list) ? listIn({ list }, 'list').filter((item) => item !== '') : list;
}

/** Returns the tool that a source names; an address of Alertmanager stands for it, any other address for none. */
function toolOfSource(source: string | null): string | null {
  if (alertmanagerOf(source) !== null) return 'Alertmanager';
  return source !== null && /^https?:/.test(source) ? null : toolNamed(source);
}

/** Answers an error: 422 for malformed input; clients try 429 and 503 again. */
function refuse(error: AppError): AlertAnswer {
  const body = { took: 0.001, requestId: randomUUID() };
  if (error.code === 'invalid_input') {
    const errors = Object.fromEntries(error.faults.map(({ path, message }) => [path === '' ? 'body' : path, message]));
    return {
      status: 422,
      body: { message: 'Request body is not processable. Please check the errors.', errors, ...body },
    };
  }
  const message = error.code === 'rate_limited' ? 'You are making too many requests!' : error.message;
  return { status: error.status, body: { message, ...body } };
}
