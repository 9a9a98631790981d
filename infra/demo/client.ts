import { setTimeout as delay } from 'node:timers/promises';

import { MESSAGES_PER_MINUTE_MAX } from '#modules/notifications/decide/message_limit.ts';

import type { Instance } from './instance.ts';

export interface Incident {
  readonly incidentId: string;
  readonly number: number;
  readonly title: string;
  readonly kind: string;
  readonly status: string;
  readonly triggeredAt: string;
  readonly notifications: readonly { channel: string; to: string; status: string; at: string; updatedAt: string }[];
  readonly timeline: readonly { at: string; text: string }[];
}

interface Sms {
  readonly seq: number;
  readonly to: string;
  readonly body: string;
}

/** User of the product, who calls actions, sends data and answers a phone. */
export interface Client {
  readonly userId: string;
  action<Result>(name: string, body: object): Promise<Result>;
  sendMetric(ingestionKey: string, name: string, value: number): Promise<void>;
  waitForSms(phone: string, containing: string, timeoutMs: number): Promise<Sms>;
  reply(phone: string, body: string): Promise<void>;
  waitForIncident(serviceId: string, kind: string, timeoutMs: number): Promise<Incident>;
  /** The incident, once a message about it has arrived. */
  waitForDelivery(incidentId: string, timeoutMs: number): Promise<Incident>;
  waitForStatus(incidentId: string, status: string, timeoutMs: number): Promise<Incident>;
}

const POLL_MS = 10;

/** The demo pages the same person each time. */
const TOO_MANY_PAGES = `: at most ${MESSAGES_PER_MINUTE_MAX} pages a minute go to one person; wait a minute and run it again`;

export function connect({ baseUrl, apiKey, userId, phoneUrl }: Instance): Client {
  const action: Client['action'] = async <Result>(name: string, body: object) => {
    const answer = await postJson(`${baseUrl}/api/rest/actions/${name}`, body, { authorization: `Bearer ${apiKey}` });
    return (answer as { result: Result }).result;
  };
  return {
    userId,
    action,
    async sendMetric(ingestionKey, name, value) {
      const headers = { authorization: `Bearer ${ingestionKey}` };
      await postJson(`${baseUrl}/api/ingest/metrics`, { points: [{ name, value }] }, headers);
    },
    waitForSms: (phone, containing, timeoutMs) =>
      waitFor(`an SMS to ${phone} about ${containing}${TOO_MANY_PAGES}`, timeoutMs, async () => {
        const response = await fetch(`${phoneUrl}/phone/api/messages?number=${encodeURIComponent(phone)}`);
        const { messages } = (await response.json()) as { messages: Sms[] };
        return messages.findLast(({ to, body }) => to === phone && body.includes(containing));
      }),
    async reply(phone, body) {
      await postJson(`${phoneUrl}/phone/api/reply`, { from: phone, body }, {});
    },
    waitForIncident: (serviceId, kind, timeoutMs) =>
      waitFor(`an incident of kind ${kind}`, timeoutMs, async () => {
        const { incidents } = await action<{ incidents: Incident[] }>('list_incidents', { serviceId });
        return incidents.find((incident) => incident.kind === kind);
      }),
    waitForDelivery: (incidentId, timeoutMs) =>
      waitFor(`a message about ${incidentId} to arrive`, timeoutMs, async () => {
        const incident = await action<Incident>('get_incident', { incidentId });
        return incident.notifications.some(({ status }) => status === 'delivered') ? incident : undefined;
      }),
    waitForStatus: (incidentId, status, timeoutMs) =>
      waitFor(`incident ${incidentId} to be ${status}`, timeoutMs, async () => {
        const incident = await action<Incident>('get_incident', { incidentId });
        return incident.status === status ? incident : undefined;
      }),
  };
}

async function postJson(url: string, body: object, headers: Record<string, string>): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}: ${text}`);
  return text === '' ? null : JSON.parse(text);
}

async function waitFor<Found>(what: string, timeoutMs: number, look: () => Promise<Found | undefined>): Promise<Found> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const result = await look();
    if (result !== undefined) return result;
    if (performance.now() > until) throw new Error(`waited ${timeoutMs / 1000} s in vain for ${what}`);
    await delay(POLL_MS);
  }
}
