import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, type ResultOf } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const EditAssignment = lazyDialog(() =>
  import('#console/pages/exceptions/triage/edit_assignment.tsx').then((m) => m.EditAssignment),
);

type Assignments = ResultOf<'get_exception_assignment'>;

/** Card of whom new exceptions of a service are assigned to, and where issues about them are written. */
export function AssignmentCard({ serviceId }: { readonly serviceId: string }) {
  const { org, may } = useOrganization();
  const [isEditing, setIsEditing] = useState(false);
  const { data } = useQuery(actionQuery(org.orgId, 'services', 'get_exception_assignment', { serviceId }));
  const trackers = useQuery(actionQuery(org.orgId, 'settings', 'list_issue_trackers', {})).data?.trackers;
  if (data === undefined) return null;
  const { assignmentRules, issueLink, trackerId, trackerProject, names } = data;
  const tracker = trackers?.find((candidate, index) =>
    trackerId === null ? index === 0 && issueLink === null : candidate.trackerId === trackerId,
  );
  const nameOf = (id: string): string => {
    const name = names.find(({ assigneeId }) => assigneeId === id)?.name;
    return name === undefined ? 'somebody who has left: the next rule decides' : isolateBidi(name);
  };
  return (
    <Card
      title="Who works on new exceptions"
      about="The first rule that matches assigns a new exception. Nobody is paged by it."
      action={
        may('services:edit') && (
          <>
            <Button size="xs" variant="default" onClick={() => setIsEditing(true)} aria-label="Edit assignment rules">
              Edit
            </Button>
            {isEditing && (
              <EditAssignment serviceId={serviceId} assignments={data} onClose={() => setIsEditing(false)} />
            )}
          </>
        )
      }
      rows={
        <>
          {assignmentRules.map((rule, index) => (
            <Row
              key={`${index} ${rule.assigneeId}`}
              title={`${index + 1}. ${nameOf(rule.assigneeId)}`}
              sub={conditionOf(rule)}
            />
          ))}
          {assignmentRules.length === 0 && <Row title="Nobody" sub="New exceptions are assigned by hand." />}
          <Row
            title="Issues"
            sub={
              tracker !== undefined
                ? isolateBidi(`${tracker.title}: ${trackerProject ?? tracker.project}`)
                : issueLink === null
                  ? 'No tracker: issues are linked by hand. Settings, Integrations connect one.'
                  : isolateBidi(issueLink)
            }
          />
        </>
      }
    />
  );
}

function conditionOf({ path, tag }: Assignments['assignmentRules'][number]): string {
  const conditions = [
    ...(path === null ? [] : [`a file like ${isolateBidi(path)} in the stack`]),
    ...(tag === null ? [] : [`the tag ${isolateBidi(tag.key)} like ${isolateBidi(tag.value)}`]),
  ];
  return conditions.length === 0 ? 'any exception' : conditions.join(' and ');
}
