import { GROUP_MINUTES_MAX } from '#modules/rules/decide/rule_settings.ts';
import { isMapping, type WebhookMapping } from '#modules/alerts/decide/mapping.ts';
import type { AlertProtocolName } from '#modules/alerts/decide/tools.ts';

export interface SourceSettings {
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

/** Most minutes of a lease, and of the group of an incident. */
export const [LEASE_MINUTES_MAX, REPAGE_MINUTES_MIN, REPAGE_MINUTES_MAX] = [44_640, 5, 1_440];

const READABLE: { readonly [Name in keyof SourceSettings]: (value: unknown) => boolean } = {
  incidentsPer: (value) => value === 'group' || value === 'alert',
  leaseMinutes: (value) => value === null || isWhole(value, 1, LEASE_MINUTES_MAX),
  onSilence: (value) => value === 'keep' || value === 'resolve',
  mapping: (value) => value === null || isMapping(value),
  groupMinutes: (value) => isWhole(value, 0, GROUP_MINUTES_MAX),
  repageMinutes: (value) => value === null || isWhole(value, REPAGE_MINUTES_MIN, REPAGE_MINUTES_MAX),
};

/** Names of the stored settings that cannot be read, whoever wrote them. */
export function unreadableSettings(stored: object): string[] {
  return Object.entries(stored).flatMap(([name, value]) =>
    Object.hasOwn(READABLE, name) && READABLE[name as keyof SourceSettings](value) ? [] : [name],
  );
}

/** The settings, with defaults for what nobody has set and for what cannot be read. */
export function sourceSettingsOf(stored: StoredSourceSettings): SourceSettings {
  const unreadable = unreadableSettings(stored);
  const readable = Object.entries(stored).filter(([name]) => !unreadable.includes(name));
  return { ...SOURCE_DEFAULTS, ...(Object.fromEntries(readable) as StoredSourceSettings) };
}

function isWhole(value: unknown, minimum: number, maximum: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum;
}

/** Whether the tools of a protocol repeat alerts that go on, so that silence means something. */
export function repeatsAlerts(protocol: AlertProtocolName): boolean {
  return protocol === 'alertmanager' || protocol === 'prometheus';
}
