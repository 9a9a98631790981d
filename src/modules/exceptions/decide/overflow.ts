import { type Grouping, GROUPING_VERSION } from '#modules/exceptions/decide/grouping.ts';
import type { Occurrence } from '#modules/exceptions/decide/occurrence.ts';

/** The group of a service that takes the events of all groups beyond its limit. */
export const OVERFLOW: Grouping = {
  version: GROUPING_VERSION,
  key: '0'.repeat(32),
  parts: [
    {
      strategy: 'fingerprint',
      because: 'the service exceeded its limit of new groups per minute; these are the events of the groups beyond it',
      lines: [],
    },
  ],
};

const HEADLINE = { type: null, message: 'More new exceptions than can be told apart', place: null };

/** Returns the event as the overflow group shows it: it says only that there are too many new groups. */
export function overflowing(occurrence: Occurrence): Occurrence {
  return { ...occurrence, headline: HEADLINE };
}
