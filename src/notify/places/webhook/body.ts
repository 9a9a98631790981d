import type { PlaceMessage } from '#notify/places/place_sender.ts';

/** Returns the body of a webhook: its type, its time, and the incident as it was then. */
export function webhookBody({ content, sequence, nowMs }: PlaceMessage): string {
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
