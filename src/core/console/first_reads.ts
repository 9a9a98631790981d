import { HOME_READS } from '#core/console/home_reads.ts';
import { incidentReads, LIST_READS } from '#core/console/incident_reads.ts';
import type { PAGES } from '#core/console/pages.ts';

/** One operation that a page asks for when it is opened, and its input. */
export interface FirstRead {
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What surrounds every page. */
const AROUND: readonly FirstRead[] = [
  { action: 'get_paging_problems', input: {} },
  { action: 'count_incidents', input: {} },
];

/**
 * What the pages that are opened at night show first, in the words in which their queries ask for it. `id` is the one in
 * their address.
 */
export const FIRST_READS: Readonly<Partial<Record<keyof typeof PAGES, (id: string) => readonly FirstRead[]>>> = {
  home: () => [...AROUND, ...HOME_READS],
  incidents: () => [...AROUND, ...LIST_READS],
  incident: (id) => [...AROUND, ...incidentReads(id)],
};
