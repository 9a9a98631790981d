import { webhookHeaders } from '#modules/places/decide/webhook_signature.ts';
import { exchange, outcomeOfStatus } from '#notify/places/exchange.ts';
import type { PlaceMessage, PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';

/** Returns the body of a webhook: its type, its time, and the incident as it was then. */
function webhookBody({ content, sequence, nowMs }: PlaceMessage): string {
  const timestamp = new Date(nowMs).toISOString();
  switch (content.kind) {
    case 'test':
      return JSON.stringify({ type: 'test', timestamp, data: { organization: content.organization } });
    case 'incident': {
      const { event, incident } = content;
      return JSON.stringify({ type: `incident.${event}`, timestamp, data: { sequence, incident } });
    }
    case 'note': {
      const { incident, note } = content;
      return JSON.stringify({ type: 'incident.note', timestamp, data: { sequence, incident, note } });
    }
  }
}

/**
 * Webhooks with the headers and signature of Standard Webhooks. Each attempt has the same id and body. Whatever is not
 * answered with 2xx is tried again: a receiver that is set up wrongly can be mended within the day.
 */
export function webhookSender({ http }: PlaceSenderContext): PlaceSender {
  return {
    async send(message) {
      const { settings, deliveryId: id, nowMs } = message;
      const body = message.earlierBody ?? webhookBody(message);
      const headers = {
        'content-type': 'application/json',
        ...webhookHeaders({ id, body, sentAtSeconds: Math.floor(nowMs / 1_000) }, [settings.signingSecret ?? '']),
      };
      const answer = await exchange(http, { url: settings.address ?? '', headers, body, nowMs });
      if (answer.kind === 'failed') return answer.outcome;
      const { status, exchange: sent } = answer;
      if (status >= 200 && status < 300) return { kind: 'sent', reference: null, ...sent };
      return outcomeOfStatus(answer) ?? { kind: 'retry', reason: `It answers with status ${status}.`, ...sent };
    },
  };
}
