import { Name } from '#console/components/text/name.tsx';
import { PersonDot } from '#console/components/text/person_dot.tsx';
import { momentText } from '#console/pages/oncall/span_text.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface NowAndNextProps {
  readonly schedule: ShownSchedule;
  readonly nameOf: (userId: string | null) => string;
}

/** Text on who is on call now, until when, and who takes over. */
export function NowAndNext({ schedule: { onCall, next }, nameOf }: NowAndNextProps) {
  const { userId } = useOrganization().session.user;
  const who = (ids: readonly string[]) => ids.map((id) => (id === userId ? 'You' : nameOf(id))).join(', ');
  return (
    <>
      {onCall?.userIds[0] !== undefined && <PersonDot userId={onCall.userIds[0]} />}
      {onCall === null ? <b>Nobody</b> : <Name>{who(onCall.userIds)}</Name>}
      {next === null && onCall !== null && ', without end'}
      {next !== null && (
        <>
          {' '}
          until {momentText(Date.parse(next.at))}, then <Name>{who(next.userIds)}</Name>
        </>
      )}
      {onCall?.source === 'override' && ' (now by an override)'}
    </>
  );
}
