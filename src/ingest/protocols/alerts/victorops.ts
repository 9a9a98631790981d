import { randomUUID } from 'node:crypto';

import { type AlertAction, type AlertEvent, bareEvent } from '#modules/alerts/decide/alert_event.ts';
import { cutKey, cutTitle } from '#modules/alerts/decide/alert_limits.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import type { AlertAnswer, AlertEndpoint, AlertReading } from '#ingest/protocols/alerts/alert_protocol.ts';
import { detailsOf, isRecord, linksOf, textIn, timeOf, toolNamed } from '#ingest/protocols/alerts/json_reading.ts';
import type { AppError } from '#kernel/errors.ts';
import { invalidInput } from '#kernel/errors.ts';

interface Meaning {
  readonly action: AlertAction;
  readonly severity: Level | null;
}

const MESSAGE_TYPES: Readonly<Record<string, Meaning>> = {
  CRITICAL: { action: 'trigger', severity: 'fatal' },
  WARNING: { action: 'trigger', severity: 'warning' },
  INFO: { action: 'acknowledge', severity: null },
  ACKNOWLEDGEMENT: { action: 'acknowledge', severity: null },
  RECOVERY: { action: 'resolve', severity: null },
  OK: { action: 'resolve', severity: null },
};

const PATTERNS = [
  'victorops/:key',
  'victorops/:key/:routing',
  'victorops/integrations/generic/20131114/alert/:key/:routing',
];

/** The REST endpoint of VictorOps, now Splunk On-Call. */
export const VICTOROPS_ENDPOINTS = PATTERNS.map((pattern): AlertEndpoint => ({
  protocol: 'victorops',
  methods: ['POST'],
  pattern,
  keyOf: ({ path }) => path['key'] ?? null,
  read: ({ body, path }) => read(body, path['routing'] ?? null),
  refuse,
}));

function read(body: unknown, routing: string | null): AlertReading {
  if (!isRecord(body)) throw invalidInput([{ path: '', message: 'the body is no JSON object' }]);
  const type = (textIn(body, 'message_type') ?? '').toUpperCase();
  const meaning = Object.hasOwn(MESSAGE_TYPES, type) ? MESSAGE_TYPES[type] : undefined;
  if (meaning === undefined) {
    throw invalidInput([{ path: 'message_type', message: `is one of ${Object.keys(MESSAGE_TYPES).join(', ')}` }]);
  }
  const entityId = textIn(body, 'entity_id');
  const key = cutKey(entityId ?? randomUUID());
  const { message_type: _type, entity_id: _id, routing_key: _key, ...said } = body;
  const event: AlertEvent = {
    ...bareEvent(meaning.action, key.value),
    title: cutTitle(textIn(body, 'entity_display_name', 'state_message') ?? key.value).value,
    severity: meaning.severity,
    details: detailsOf({ ...said, routing }),
    links: linksOf([
      { href: body['event_info'], text: 'Event' },
      { href: body['alert_url'], text: 'Alert' },
    ]),
    images: [],
    at: timeOf(body['timestamp']),
    tool: toolNamed(textIn(body, 'monitoring_tool')),
  };
  return {
    kind: 'alerts',
    sent: [{ source: { protocol: 'victorops', name: '' }, event }],
    answer: () => ({ status: 200, body: { result: 'success', entity_id: entityId ?? key.value } }),
  };
}

/** 429 makes Alertmanager's receiver wait for a group interval; it tries 503 again within seconds. */
function refuse(error: AppError): AlertAnswer {
  const isOverload = error.code === 'rate_limited' || error.code === 'unavailable';
  return { status: isOverload ? 503 : error.status, body: { result: 'failure', message: error.message } };
}
