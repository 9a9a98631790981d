import { People } from '#console/components/text/person_dot.tsx';
import { momentText } from '#console/pages/oncall/span_text.ts';
import type { ShownSchedule } from './use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface NowAndNextProps {
  readonly schedule: ShownSchedule;
  readonly nameOf: (userId: string | null) => string;
}

/** Text on who is on call now, until when, and who takes over. */
export function NowAndNext({ schedule: { onCall, next }, nameOf }: NowAndNextProps) {
  const { userId } = useOrganization().session.user;
  const who = (ids: readonly string[]) => ids.map((id) => ({ userId: id, name: id === userId ? 'You' : nameOf(id) }));
  return (
    <>
      {onCall === null ? <b>Nobody</b> : <People people={who(onCall.userIds)} />}
      {next === null && onCall !== null && ', without end'}
      {next !== null && (
        <>
          {' '}
          until {momentText(Date.parse(next.at))}, then <People people={who(next.userIds)} />
        </>
      )}
      {onCall?.source === 'override' && ' (now by an override)'}
    </>
  );
}
