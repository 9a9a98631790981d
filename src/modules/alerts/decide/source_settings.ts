import type { WebhookMapping } from '#modules/alerts/decide/mapping.ts';
import type { AlertProtocolName } from '#modules/alerts/decide/tools.ts';

/** Settings of a source. */
export interface SourceSettings {
  /** Whether alerts of one group share an incident. */
  readonly incidentsPer: 'group' | 'alert';
  /** An alert that nobody repeats for so long has no word; null: as the tool says, or as was learnt. */
  readonly leaseMinutes: number | null;
  /** Outcome for an alert whose lease has ended: it stays open and is shown so, or it is resolved so. */
  readonly onSilence: 'keep' | 'resolve';
  /** Mapping of bodies of any JSON; null for the template of the name, or the usual names of fields. */
  readonly mapping: WebhookMapping | null;
  /** Minutes after an incident of the service in which another one does not page beside it; 0 for none. */
  readonly groupMinutes: number;
  /** Minutes after an acknowledgement at which an incident that is still open pages again; null: it never does. */
  readonly repageMinutes: number | null;
}

/** Settings as stored; one that nobody has set is absent. */
export type StoredSourceSettings = Partial<SourceSettings>;

export const SOURCE_DEFAULTS: SourceSettings = {
  incidentsPer: 'group',
  leaseMinutes: null,
  onSilence: 'keep',
  mapping: null,
  groupMinutes: 0,
  repageMinutes: null,
};

export const SOURCES_MAX = 100;

export function sourceSettingsOf(stored: StoredSourceSettings): SourceSettings {
  return { ...SOURCE_DEFAULTS, ...stored };
}

/** Whether the tools of a protocol repeat alerts that go on, so that silence means something. */
export function repeatsAlerts(protocol: AlertProtocolName): boolean {
  return protocol === 'alertmanager' || protocol === 'prometheus';
}
