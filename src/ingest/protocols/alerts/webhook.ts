import { type AlertEvent, bareEvent, severityOf } from '#modules/alerts/decide/alert_event.ts';
import { cutKey, cutTitle } from '#modules/alerts/decide/alert_limits.ts';
import { cutLinks } from '#modules/alerts/decide/alert_links.ts';
import { readMapped, templateOf, type WebhookMapping } from '#modules/alerts/decide/mapping.ts';
import { SOURCE_NAME_LENGTH_MAX } from '#modules/alerts/decide/tools.ts';
import type { AlertAnswer, AlertEndpoint, AlertReading } from '#ingest/protocols/alerts/alert_protocol.ts';
import { detailsOf, isRecord, type JsonRecord, timeOf } from '#ingest/protocols/alerts/json_reading.ts';
import { type AppError, invalidInput } from '#kernel/errors.ts';

/** Any JSON, read by the mapping of the source that the address names, by the template of that name, or by usual names. */
export const WEBHOOK_ENDPOINTS: readonly AlertEndpoint[] = ['webhook/:key', 'webhook/:key/:name'].map((pattern) => ({
  protocol: 'webhook',
  methods: ['POST', 'PUT'],
  pattern,
  keyOf: ({ path }) => path['key'] ?? null,
  read: ({ body, path }) => {
    const name = (path['name'] ?? '').slice(0, SOURCE_NAME_LENGTH_MAX);
    return { kind: 'mapped', name, toReading: (mapping) => read(body, name, mapping) };
  },
  refuse,
}));

function read(body: unknown, name: string, mapping: WebhookMapping | null): AlertReading {
  if (!isRecord(body)) throw invalidInput([{ path: '', message: 'send a JSON object' }]);
  const { mapping: chosen, scope } = mapping === null ? templateOf(name, body) : { mapping, scope: '' };
  const mapped = mappedAlert(body, chosen);
  if (mapped === null) return { kind: 'answer', answer: { status: 202, body: { status: 'ignored' } } };
  const event = { ...mapped, scope: cutKey(scope).value };
  return {
    kind: 'alerts',
    sent: [{ source: { protocol: 'webhook', name }, event }],
    answer: ([outcome]) => ({
      status: 202,
      body: { status: 'success', dedup_key: event.key, incident_id: outcome?.incidentId ?? null },
    }),
  };
}

/** The event that a mapping finds in a body; null for a body that says nothing of an alert. */
export function mappedAlert(
  body: JsonRecord,
  mapping: WebhookMapping,
  links: readonly { readonly href: unknown; readonly text: string }[] = [],
): AlertEvent | null {
  const mapped = readMapped(body, mapping);
  if (mapped.action === null) return null;
  if (mapped.title === null && mapped.key === null) {
    const wanted = [...mapping.title, ...mapping.key].join(', ');
    throw invalidInput([{ path: '', message: `neither a title nor a key was found at ${wanted}` }]);
  }
  const title = mapped.title ?? mapped.key ?? '';
  return {
    ...bareEvent(mapped.action, cutKey(mapped.key ?? title).value),
    title: cutTitle(title).value,
    severity: severityOf(mapped.severity),
    details: detailsOf(body),
    links: cutLinks([{ href: mapped.link, text: 'Link' }, ...links]),
    images: [],
    at: timeOf(mapped.at),
  };
}

function refuse(error: AppError): AlertAnswer {
  return { status: error.status, body: { status: 'error', message: error.message } };
}
