import { Link } from '@tanstack/react-router';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';

type Member = IncidentWithLog['members'][number];

/** Card of the alerts behind a storm incident, which replaces many incidents of one service. */
export function StormMembers({ incident }: { readonly incident: IncidentWithLog }) {
  const { members } = incident;
  if (members.length === 0) return null;
  const { standsFor: total = members.length } = incident.details as { readonly standsFor?: number };
  const shown = members.length < total ? ` The newest ${members.length} are shown.` : '';
  return (
    <Card
      title={`Grouped here (${total})`}
      about={`This service opened too many incidents at once. This incident pages for all of them together.${shown}`}
      rows={members.map((member) => (
        <Row
          key={`${member.ruleId} ${member.exceptionGroupId} ${member.joinedAt}`}
          title={<MemberLink member={member} />}
          sub={<Facts member={member} />}
        >
          <Status tone={member.endedAt === null ? 'red' : 'gray'}>{member.endedAt === null ? 'open' : 'ended'}</Status>
        </Row>
      ))}
    />
  );
}

/** Leads to the exception, else to the rule that would have opened an incident. */
function MemberLink({ member: { exceptionGroupId, ruleId, title } }: { readonly member: Member }) {
  if (exceptionGroupId !== null) {
    return (
      <Link to="/exceptions/$groupId" params={{ groupId: exceptionGroupId }}>
        <Name>{title}</Name>
      </Link>
    );
  }
  if (ruleId === null) return <Name>{title}</Name>;
  return (
    <Link to="/rules/$ruleId" params={{ ruleId }}>
      <Name>{title}</Name>
    </Link>
  );
}

function Facts({ member: { severity, occurrences, joinedAt } }: { readonly member: Member }) {
  return (
    <>
      severity {severity}
      {occurrences > 1 && `, ${occurrences} times`}, <Timestamp at={joinedAt} />
    </>
  );
}
