import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { AlertRow } from '#modules/alerts/store/alert_store.ts';

const LinkView = Type.Object({ href: Type.String(), text: Type.String() });

/** An alert of another tool. */
export const AlertView = Type.Object({
  alertId: IdText,
  tool: Type.String({ description: 'what sent it' }),
  sourceId: IdText,
  key: Type.String({ description: 'what the tool calls it' }),
  status: Type.Enum([...INCIDENT_STATUSES], { description: 'as the tool has it' }),
  severity: Type.String(),
  title: Type.String(),
  details: Type.Object({}, { additionalProperties: true }),
  links: Type.Array(LinkView),
  images: Type.Array(LinkView),
  occurrences: Type.Integer(),
  firstSeenAt: Timestamp,
  lastSeenAt: Timestamp,
  noWordSince: nullable(
    Type.String({ format: 'date-time', description: 'since when its tool has not repeated it, though it is open' }),
  ),
});

/** Alerts of one incident that are shown. */
export const ALERTS_SHOWN = 100;

export function toAlertView(alert: AlertRow): Static<typeof AlertView> {
  const { id: alertId, tool, sourceId, key, status, severity, title, details, links, images, occurrences } = alert;
  return {
    alertId,
    tool,
    sourceId,
    key,
    status,
    severity,
    title,
    details,
    links: [...links],
    images: [...images],
    occurrences,
    firstSeenAt: toTimestamp(alert.firstSeenAt),
    lastSeenAt: toTimestamp(alert.lastSeenAt),
    noWordSince: toTimestampOrNull(alert.silentSince),
  };
}
