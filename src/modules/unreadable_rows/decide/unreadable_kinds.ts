import { keysOf } from '#kernel/records.ts';
import { PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';

/** Noun of a kind of row, the replacement for one that cannot be read, and the page on which people set it again. */
interface UnreadableMeaning {
  readonly noun: string;
  readonly meanwhile: string;
  readonly page: string;
}

/**
 * Kinds of rows of which one that cannot be read is left out alone. A rule or a monitor opens an incident instead, and a
 * place is switched off.
 */
export const UNREADABLE_KINDS = {
  policy: {
    noun: 'The policy',
    meanwhile: 'it pages whoever is on call, at once and by every channel',
    page: PAGES.policies,
  },
  schedule: { noun: 'The schedule', meanwhile: 'it puts nobody on call', page: PAGES.onCall },
  holiday_calendar: { noun: 'The calendar of holidays', meanwhile: 'it has no days', page: PAGES.onCall },
  alert_source: { noun: 'Settings of the alert source', meanwhile: 'defaults apply', page: PAGES.services },
  alert_route: { noun: 'An alert route of the service', meanwhile: 'it takes no alert', page: PAGES.services },
  exception_settings: { noun: 'Exception settings of the service', meanwhile: 'defaults apply', page: PAGES.services },
  status_publication: {
    noun: 'The services of the published incident',
    meanwhile: 'the status page shows it with no service',
    page: `${PAGES.settings}${SETTINGS_PAGES.statusPages}`,
  },
} as const satisfies Readonly<Record<string, UnreadableMeaning>>;

export type UnreadableKind = keyof typeof UNREADABLE_KINDS;

export const UNREADABLE_KIND_NAMES = keysOf(UNREADABLE_KINDS);

/** Returns a sentence about a row that cannot be read. */
export function unreadableText({ kind, name }: { readonly kind: UnreadableKind; readonly name: string }): string {
  const { noun, meanwhile } = UNREADABLE_KINDS[kind];
  return `${noun} "${name}" cannot be read: ${meanwhile}. Set it again.`;
}
