import { createContext, type ReactNode, useContext } from 'react';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { PersonColors } from '#console/components/text/person_dot.tsx';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const MemberNamesContext = createContext<(userId: string) => string>(() => 'a former member');

interface MemberNamesProps {
  readonly incident: IncidentWithLog;
  readonly children: ReactNode;
}

/** Provides the names and colours of everybody whom the incident concerns to the parts of the page. */
export function MemberNames({ incident, children }: MemberNamesProps) {
  const { session } = useOrganization();
  const names = useNamesOf(userIdsIn(incident));
  const nameOf = (userId: string): string => {
    if (userId === session.user.userId) return 'you';
    const name = names.nameOf(userId);
    if (name !== undefined) return isolateBidi(name);
    return names.isLoading ? '…' : 'a former member';
  };
  return (
    <MemberNamesContext value={nameOf}>
      <PersonColors value={names.colorOf}>{children}</PersonColors>
    </MemberNamesContext>
  );
}

/** Returns the names of members by their ids, within `MemberNames`. */
export function useMemberNames(): (userId: string) => string {
  return useContext(MemberNamesContext);
}

function userIdsIn({
  escalation,
  notifications,
  notes,
  acknowledgedBy,
  resolvedBy,
  commanderId,
}: IncidentWithLog): string[] {
  return [
    ...escalation.steps.flatMap(({ targetUserIds, people }) => [
      ...targetUserIds,
      ...people.map(({ userId }) => userId),
    ]),
    ...notifications.map(({ userId }) => userId),
    ...notes.map(({ userId }) => userId),
    ...[acknowledgedBy?.userId, resolvedBy?.userId, commanderId ?? undefined].filter((userId) => userId !== undefined),
  ];
}
