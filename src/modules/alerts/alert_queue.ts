import type { AlertEvent } from '#modules/alerts/decide/alert_event.ts';
import { incidentKeyOf } from '#modules/alerts/decide/alert_change.ts';
import type { AlertEffect } from '#modules/alerts/decide/decide_alert.ts';
import type { Repetition } from '#modules/alerts/decide/alert_history.ts';
import type { SourceSettings } from '#modules/alerts/decide/source_settings.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import type { Id } from '#kernel/ids.ts';
import type { AlertRow } from '#modules/alerts/store/alert_store.ts';
import type { AlertSourceRow } from '#modules/alerts/store/alert_source_store.ts';

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
