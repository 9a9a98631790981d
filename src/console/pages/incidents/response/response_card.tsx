import { Button, Group } from '@mantine/core';
import { useState } from 'react';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { useMemberNames } from '#console/pages/incidents/member_names.tsx';
import { useIncidentChange } from '#console/pages/incidents/use_incident_change.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const ChangeSeverity = lazyPart(() =>
  import('#console/pages/incidents/response/change_severity.tsx').then((m) => m.ChangeSeverity),
);
const HandOver = lazyPart(() => import('#console/pages/incidents/response/hand_over.tsx').then((m) => m.HandOver));

const PublishDialog = lazyPart(() =>
  import('#console/pages/status_pages/publish_dialog.tsx').then((m) => m.PublishDialog),
);

/** Card of who leads the response, and how severe the incident is. */
export function ResponseCard({ incident }: { readonly incident: IncidentWithLog }) {
  const { may, session } = useOrganization();
  const { incidentId, commanderId, severity, status } = incident;
  const nameOf = useMemberNames();
  const [dialog, setDialog] = useState<'severity' | 'hand_over' | 'publish' | null>(null);
  const leading = useIncidentChange('set_incident_commander', incidentId);
  const mayChange = may('oncall:edit') && status !== 'resolved';
  const viewerId = session.user.userId;
  if (status === 'resolved' && commanderId === null) return null;
  const lead = (userId: string | null) => () => leading.mutate({ incidentId, userId, seen: commanderId });
  const close = () => setDialog(null);
  return (
    <Card
      title="Response"
      rows={
        <>
          <Row
            title={commanderId === null ? 'Nobody leads it' : `Led by ${nameOf(commanderId)}`}
            sub="Who leads speaks for the response. It pages nobody, and anybody may answer."
          >
            {mayChange && (
              <Group gap="xs">
                {commanderId === viewerId ? (
                  <Button size="xs" variant="default" onClick={lead(null)} loading={leading.isPending}>
                    Step back
                  </Button>
                ) : (
                  <Button size="xs" variant="default" onClick={lead(viewerId)} loading={leading.isPending}>
                    Take the lead
                  </Button>
                )}
                <Button size="xs" variant="default" onClick={() => setDialog('hand_over')}>
                  {commanderId === null ? 'Choose' : 'Hand over'}
                </Button>
              </Group>
            )}
          </Row>
          {mayChange && (
            <Row title="Status page" sub="Readers see only what you publish.">
              <Button size="xs" variant="default" onClick={() => setDialog('publish')}>
                Publish
              </Button>
            </Row>
          )}
          <Row title={`Severity ${severity}`}>
            {mayChange && (
              <Button size="xs" variant="default" onClick={() => setDialog('severity')}>
                Change
              </Button>
            )}
          </Row>
        </>
      }
    >
      {leading.isError && <ErrorAlert title="Who leads was not changed" error={leading.error} />}
      {dialog === 'severity' && <ChangeSeverity incident={incident} onClose={close} />}
      {dialog === 'publish' && <PublishDialog incident={incident} onClose={close} />}
      {dialog === 'hand_over' && <HandOver incident={incident} onClose={close} />}
    </Card>
  );
}
