import { randomUUID } from 'node:crypto';

import { type AlertAction, type AlertEvent, bareEvent, severityOf } from '#modules/alerts/decide/alert_event.ts';
import { cutKey, cutTitle } from '#modules/alerts/decide/alert_limits.ts';
import { cutLinks } from '#modules/alerts/decide/alert_links.ts';
import type { AlertAnswer, AlertEndpoint, AlertReading } from '#ingest/protocols/alerts/alert_protocol.ts';
import {
  alertmanagerOf,
  detailsOf,
  fieldOf,
  imagesOf,
  isRecord,
  type JsonRecord,
  linksOf,
  listIn,
  recordIn,
  textIn,
  timeOf,
  toolNamed,
} from '#ingest/protocols/alerts/json_reading.ts';
import type { AppError } from '#kernel/errors.ts';
import { type Fault, invalidInput } from '#kernel/errors.ts';

const SOURCE = { protocol: 'pagerduty', name: '' } as const;
const ACTIONS: Readonly<Record<string, AlertAction>> = {
  trigger: 'trigger',
  acknowledge: 'acknowledge',
  resolve: 'resolve',
};

/** PagerDuty Events API v2, change events and Events API v1, as their clients know them. */
export const PAGERDUTY_ENDPOINTS: readonly AlertEndpoint[] = [
  {
    ...bodyKey('routing_key'),
    pattern: 'pagerduty/v2/enqueue',
    read: ({ body }) => readEvent(requireRecord(body)),
    refuse: (error) => refusal(error, 429),
  },
  {
    ...bodyKey('routing_key'),
    pattern: 'pagerduty/v2/change/enqueue',
    read: ({ body }) => readChange(requireRecord(body)),
    refuse: (error) => refusal(error, 429),
  },
  {
    ...bodyKey('service_key'),
    pattern: 'pagerduty/generic/2010-04-15/create_event.json',
    read: ({ body }) => readFirstEvent(requireRecord(body)),
    refuse: (error) => refusal(error, 403),
  },
];

function bodyKey(keyField: string) {
  return { protocol: 'pagerduty', methods: ['POST'], keyField } as const;
}

function readEvent(body: JsonRecord): AlertReading {
  const payload = recordIn(body, 'payload');
  const faults: Fault[] = [];
  const action = actionOf(fieldOf(body, 'event_action'), 'event_action', faults);
  const text = textIn(body, 'dedup_key');
  const summary = textIn(payload, 'summary');
  if (text === null && action !== 'trigger') faults.push({ path: 'dedup_key', message: 'is required' });
  if (summary === null && action === 'trigger') faults.push({ path: 'payload.summary', message: 'is required' });
  if (faults.length > 0) throw invalidInput(faults);
  const key = cutKey(text ?? randomUUID());
  const { source, component, group, class: kind, custom_details: customDetails } = payload;
  const event: AlertEvent = {
    ...bareEvent(action, key.value),
    scope: alertmanagerOf(textIn(body, 'client_url')),
    title: summary === null ? null : cutTitle(summary).value,
    severity: severityOf(payload['severity']),
    details: detailsOf({ source, component, group, class: kind, custom_details: customDetails }),
    links: linksOf([...listIn(body, 'links'), ...clientLink(body)]),
    images: imagesOf(listIn(body, 'images')),
    at: timeOf(payload['timestamp']),
    tool: toolNamed(textIn(body, 'client')),
  };
  return {
    kind: 'alerts',
    sent: [{ source: SOURCE, event }],
    answer: () => ({
      status: 202,
      body: { status: 'success', message: messageOf(summary, key.cut), dedup_key: text ?? key.value },
    }),
  };
}

function readFirstEvent(body: JsonRecord): AlertReading {
  const faults: Fault[] = [];
  const action = actionOf(fieldOf(body, 'event_type'), 'event_type', faults);
  const text = textIn(body, 'incident_key');
  const description = textIn(body, 'description');
  if (text === null && action !== 'trigger') faults.push({ path: 'incident_key', message: 'is required' });
  if (description === null && action === 'trigger') faults.push({ path: 'description', message: 'is required' });
  if (faults.length > 0) throw invalidInput(faults);
  const key = cutKey(text ?? randomUUID());
  const contexts = listIn(body, 'contexts');
  const event: AlertEvent = {
    ...bareEvent(action, key.value),
    scope: alertmanagerOf(textIn(body, 'client_url')),
    title: description === null ? null : cutTitle(description).value,
    details: detailsOf({ details: fieldOf(body, 'details') }),
    links: linksOf([...contexts.filter((context) => fieldOf(context, 'type') === 'link'), ...clientLink(body)]),
    images: imagesOf(contexts.filter((context) => fieldOf(context, 'type') === 'image')),
    tool: toolNamed(textIn(body, 'client')),
  };
  return {
    kind: 'alerts',
    sent: [{ source: SOURCE, event }],
    answer: () => ({
      status: 200,
      body: { status: 'success', message: messageOf(description, key.cut), incident_key: text ?? key.value },
    }),
  };
}

function readChange(body: JsonRecord): AlertReading {
  const payload = recordIn(body, 'payload');
  const summary = textIn(payload, 'summary');
  if (summary === null) throw invalidInput([{ path: 'payload.summary', message: 'is required' }]);
  const [link] = cutLinks(listIn(body, 'links').map((link) => ({ href: fieldOf(link, 'href') })));
  return {
    kind: 'deploy',
    deploy: { name: cutTitle(summary).value, url: link?.href ?? null, at: timeOf(payload['timestamp']) },
    answer: () => ({ status: 202, body: { status: 'success', message: 'Change event processed' } }),
  };
}

function requireRecord(body: unknown): JsonRecord {
  if (isRecord(body)) return body;
  throw invalidInput([{ path: '', message: 'the body is no JSON object' }]);
}

function actionOf(value: unknown, path: string, faults: Fault[]): AlertAction {
  const action = typeof value === 'string' && Object.hasOwn(ACTIONS, value) ? ACTIONS[value] : undefined;
  if (action === undefined) faults.push({ path, message: 'is one of trigger, acknowledge, resolve' });
  return action ?? 'trigger';
}

function clientLink(body: JsonRecord): { href: unknown; text: string }[] {
  const href = fieldOf(body, 'client_url');
  return href === undefined ? [] : [{ href, text: textIn(body, 'client') ?? 'Client' }];
}

/** PagerDuty's own words, and what was cut. */
function messageOf(title: string | null, isKeyCut: boolean): string {
  const cut = [...(title !== null && cutTitle(title).cut ? ['the title'] : []), ...(isKeyCut ? ['the key'] : [])];
  return cut.length === 0 ? 'Event processed' : `Event processed; ${cut.join(' and ')} was cut`;
}

/**
 * Refuses in PagerDuty's words: an unknown key is an invalid event. Clients of version 2 try 429 again and some of them
 * nothing else, so that 429 also stands for a server that is busy; those of version 1 try 403 and 503 again.
 */
function refusal(error: AppError, tooFast: 429 | 403): AlertAnswer {
  const isOverload = error.code === 'rate_limited' || (error.code === 'unavailable' && tooFast === 429);
  switch (isOverload ? 'rate_limited' : error.code) {
    case 'rate_limited':
      return {
        status: tooFast,
        body: {
          status: 'throttle exceeded',
          message: 'Event rate limit exceeded. Try again later.',
          errors: [error.message],
        },
      };
    case 'unauthenticated':
      return invalid(['Invalid routing key', error.message]);
    case 'invalid_input':
      return invalid(error.faults.map(({ path, message }) => `${path} ${message}`.trim()));
    default:
      return { status: error.status, body: { status: error.code, message: error.message, errors: [error.message] } };
  }
}

function invalid(errors: readonly string[]): AlertAnswer {
  return { status: 400, body: { status: 'invalid event', message: 'Event object is invalid', errors } };
}
