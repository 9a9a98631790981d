import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';
import { type AlertEffect, incidentKeyOf } from '#modules/alerts/decide/alert_change.ts';
import type { AlertEvent, Repetition } from '#modules/alerts/decide/alert_event.ts';
import type { SourceSettings } from '#modules/alerts/decide/source_settings.ts';
import type { AlertSourceRow } from '#modules/alerts/store/alert_source_store.ts';
import { INCIDENT_STATUSES, type IncidentActor } from '#modules/incidents/decide/incident.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { AlertRow } from '#modules/alerts/store/alert_store.ts';

const LinkView = Type.Object({ href: Type.String(), text: Type.String() });

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

/** A source, with what is learnt of it. */
export interface KnownSource {
  readonly row: AlertSourceRow;
  readonly settings: SourceSettings;
  readonly learns: boolean;
  repetition: Repetition;
  accepted: number;
}

/** Events of one alert that wait for their turn, in the order in which they came, and its row as it is by now. */
export interface AlertQueue {
  readonly source: KnownSource;
  row: AlertRow;
  readonly events: { readonly event: AlertEvent; readonly place: number }[];
  /** Indexes in the request. */
  readonly places: readonly number[];
  /** Whether there is something to be known of it: not for a resolve of an alert that was never heard of. */
  isKnown: boolean;
  isChanged: boolean;
}

/** An alert whose events do something to an incident. */
export interface Affected {
  readonly queue: AlertQueue;
  readonly effect: Exclude<AlertEffect, 'nothing'>;
  /** The incident that ends because another begins. */
  readonly replaced: Id<'incident'> | null;
  readonly counted: number;
  readonly roseFrom: string | null;
  readonly isHeardAgain: boolean;
  readonly notes: readonly string[];
}

export function dedupKeyOfAlert({ source, row }: Pick<AlertQueue, 'source' | 'row'>): string {
  return incidentKeyOf(row, source.settings);
}

/** The tool, as the one who acts. */
export function toolActor({ tool }: Pick<AlertRow, 'tool'>): IncidentActor {
  return { system: true, via: 'alert', tool };
}
