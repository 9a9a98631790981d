import { createHash } from 'node:crypto';

import { type AlertEvent, bareEvent, severityOf } from '#modules/alerts/decide/alert_event.ts';
import { cutKey, cutTitle } from '#modules/alerts/decide/alert_limits.ts';
import { cutLinks } from '#modules/alerts/decide/alert_links.ts';
import type { SentAlert } from '#modules/alerts/decide/sent_alert.ts';
import { SOURCE_NAME_LENGTH_MAX } from '#modules/alerts/decide/tools.ts';
import type { AlertAnswer, AlertEndpoint, AlertReading } from '#ingest/protocols/alerts/alert_protocol.ts';
import {
  detailsOf,
  fieldOf,
  isRecord,
  type JsonRecord,
  listIn,
  recordIn,
  textIn,
  timeOf,
} from '#ingest/protocols/alerts/json_reading.ts';
import { keyInPathOrHeaders } from '#ingest/protocols/alerts/keys.ts';
import type { AppError } from '#kernel/errors.ts';
import { invalidInput } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const SUCCESS: AlertAnswer = { status: 200, body: { status: 'success' } };

const TOOLS = { alertmanager: 'Alertmanager', grafana: 'Grafana' } as const;

/** The webhook of Alertmanager (version 4), of Grafana, and of the receiver for incident.io (version 1). */
const WEBHOOKS = (['alertmanager', 'grafana'] as const).flatMap((protocol): AlertEndpoint[] =>
  [protocol, `${protocol}/:key`].map((pattern) => ({
    protocol,
    methods: ['POST'],
    pattern,
    keyOf: keyInPathOrHeaders,
    list: { at: 'alerts', join: joinAccepted },
    read: ({ body }) => readWebhook(body, protocol),
    refuse,
  })),
);

/** Addresses of an Alertmanager to which Prometheus and vmalert send. */
const ALERTMANAGER_API = [
  'prometheus/api/v2/alerts',
  'prometheus/api/v1/alerts',
  'prometheus/:key/api/v2/alerts',
  'prometheus/:key/api/v1/alerts',
].map((pattern): AlertEndpoint => ({
  protocol: 'prometheus',
  methods: ['POST'],
  pattern,
  keyOf: keyInPathOrHeaders,
  list: { at: null, join: ([first = SUCCESS]) => first },
  read: ({ body, now }) => readAlerts(body, now),
  refuse,
}));

export const ALERTMANAGER_ENDPOINTS: readonly AlertEndpoint[] = [...WEBHOOKS, ...ALERTMANAGER_API];

function readWebhook(body: unknown, protocol: keyof typeof TOOLS): AlertReading {
  if (!isRecord(body) || !Array.isArray(body['alerts'])) {
    throw invalidInput([{ path: 'alerts', message: 'is required: this is no webhook of an Alertmanager' }]);
  }
  const scope = cutKey(textIn(body, 'externalURL') ?? '').value;
  const source = { protocol, name: hostOf(scope) };
  const group = textIn(body, 'groupKey');
  // Some that fire are not among those that were sent, and the status is that of those that were.
  const isTruncated = Number(fieldOf(body, 'truncatedAlerts') ?? 0) > 0;
  const events = listIn(body, 'alerts')
    .filter(isRecord)
    .map((alert) => eventOf(alert, body, { scope, group, tool: TOOLS[protocol] }))
    .filter(({ action }) => !(isTruncated && action === 'resolve'));
  const sent = events.map((event): SentAlert => ({ source, event }));
  return { kind: 'alerts', sent, answer: () => accepted(sent.length) };
}

function accepted(count: number): AlertAnswer {
  return { status: 200, body: { status: 'ok', accepted: count } };
}

function joinAccepted(answers: readonly AlertAnswer[]): AlertAnswer {
  return accepted(answers.reduce((sum, { body }) => sum + Number(fieldOf(body, 'accepted') ?? 0), 0));
}

function eventOf(
  alert: JsonRecord,
  body: JsonRecord,
  { scope, group, tool }: { readonly scope: string; readonly group: string | null; readonly tool: string },
): AlertEvent {
  const isResolved = (textIn(alert, 'status') ?? textIn(body, 'status')) === 'resolved';
  const { labels, annotations } = labelsOf(alert);
  const { values, valueString } = alert;
  return {
    ...bareEvent(
      isResolved ? 'resolve' : 'trigger',
      cutKey(textIn(alert, 'fingerprint') ?? fingerprintOf(labels)).value,
    ),
    scope,
    group: group === null ? null : cutKey(group).value,
    ...textsOf(labels, annotations, textIn(body, 'title')),
    details: detailsOf({
      labels,
      annotations,
      values,
      valueString,
      receiver: body['receiver'],
      groupLabels: body['groupLabels'],
    }),
    links: linksOfAlert(alert, annotations, textIn(body, 'externalURL')),
    images: cutLinks([{ href: alert['imageURL'], text: 'Panel' }]),
    at: timeOf(alert[isResolved ? 'endsAt' : 'startsAt']),
    timing: isResolved ? 'event' : 'start',
    tool,
  };
}

function readAlerts(body: unknown, now: Temporal.Instant): AlertReading {
  if (!Array.isArray(body)) throw invalidInput([{ path: '', message: 'send a list of alerts' }]);
  const sent = body.filter(isRecord).map((alert): SentAlert => {
    const { labels, annotations } = labelsOf(alert);
    const endsAt = timeOf(alert['endsAt']);
    const isResolved = endsAt !== null && endsAt.epochMilliseconds <= now.epochMilliseconds;
    const event: AlertEvent = {
      ...bareEvent(isResolved ? 'resolve' : 'trigger', fingerprintOf(labels)),
      ...textsOf(labels, annotations, null),
      details: detailsOf({ labels, annotations }),
      links: linksOfAlert(alert, annotations, null),
      images: [],
      at: isResolved ? endsAt : timeOf(alert['startsAt']),
      timing: isResolved ? 'event' : 'start',
      leaseUntil: isResolved ? null : endsAt,
      tool: 'Prometheus',
    };
    return { source: { protocol: 'prometheus', name: '' }, event };
  });
  return { kind: 'alerts', sent, answer: () => SUCCESS };
}

function labelsOf(alert: JsonRecord): { labels: JsonRecord; annotations: JsonRecord } {
  return { labels: recordIn(alert, 'labels'), annotations: recordIn(alert, 'annotations') };
}

function textsOf(labels: JsonRecord, annotations: JsonRecord, fallback: string | null) {
  const name = textIn(labels, 'alertname');
  const said = textIn(annotations, 'summary', 'title') ?? textIn(annotations, 'message', 'description') ?? fallback;
  const title = said === null ? (name ?? 'Alert') : name === null || said.includes(name) ? said : `${name}: ${said}`;
  return { title: cutTitle(title).value, severity: severityOf(labels['severity'] ?? labels['priority']) };
}

function linksOfAlert(alert: JsonRecord, annotations: JsonRecord, externalUrl: string | null) {
  return cutLinks([
    { href: annotations['runbook_url'] ?? annotations['runbook'], text: 'Runbook' },
    { href: annotations['dashboard_url'] ?? alert['dashboardURL'], text: 'Dashboard' },
    { href: alert['panelURL'], text: 'Panel' },
    { href: alert['generatorURL'], text: 'Query' },
    { href: alert['silenceURL'], text: 'Silence' },
    { href: externalUrl, text: 'Alertmanager' },
  ]);
}

/** Hashes the labels regardless of their order: two replicas of one Prometheus send the same. */
function fingerprintOf(labels: JsonRecord): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 32);
}

function hostOf(url: string): string {
  try {
    return new URL(url).host.slice(0, SOURCE_NAME_LENGTH_MAX);
  } catch {
    return '';
  }
}

/** Answers an error. Overload is 503, which Alertmanager tries again at once; after 429 its webhook waits for a group interval. */
function refuse(error: AppError): AlertAnswer {
  const isOverload = error.code === 'rate_limited' || error.code === 'unavailable';
  return { status: isOverload ? 503 : error.status, body: { status: 'error', error: error.message } };
}
