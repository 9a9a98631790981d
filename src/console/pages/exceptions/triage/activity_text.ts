import type { ResultOf } from '#console/api/actions.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { snoozeText } from '#console/pages/exceptions/triage/snooze_text.ts';

type Facts = ResultOf<'list_exception_activity'>['entries'][number]['facts'];

const PAST = { unresolved: 'reopened it', resolved: 'resolved it', ignored: 'ignored it' } as const;

/** Returns an entry of the history as the rest of a sentence that begins with who did it. */
export function activityText(facts: Facts): string {
  switch (facts.kind) {
    case 'comment':
      return 'commented';
    case 'status': {
      const { after, fixedIn } = facts;
      if (fixedIn === undefined) return PAST[after];
      const { release, isNext } = fixedIn;
      return `${PAST[after]}, fixed in ${isNext ? 'the next release after' : 'release'} ${isolateBidi(release)}`;
    }
    case 'snoozed':
      return `snoozed it ${snoozeText(facts)}`;
    case 'snooze_ended':
      return `reopened it: ${endText(facts)}`;
    case 'assigned':
      return `${facts.name === null ? 'assigned it to nobody' : `assigned it to ${isolateBidi(facts.name)}`}${
        facts.rule === undefined ? '' : `, by assignment rule ${facts.rule}`
      }`;
    case 'regressed':
      return facts.release === null ? 'saw it come back' : `saw it come back in release ${isolateBidi(facts.release)}`;
    case 'merged':
      return `merged ${facts.groups === 1 ? 'another exception' : countText(facts.groups, 'exception')} into it`;
    case 'merged_into':
      return 'merged it into';
    case 'split_off':
      return 'split off';
    case 'issue':
      return facts.url === null ? 'removed its issue' : `linked the issue ${isolateBidi(facts.url)}`;
  }
}

function endText({ because, events, users }: Extract<Facts, { kind: 'snooze_ended' }>): string {
  switch (because) {
    case 'time':
      return 'its snooze was over';
    case 'events':
      return `${countText(events ?? 0, 'event')} since it was snoozed`;
    case 'users':
      return `${countText(users ?? 0, 'user')} since it was snoozed`;
  }
}
