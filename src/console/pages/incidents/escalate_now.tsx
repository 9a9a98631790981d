import { Button } from '@mantine/core';
import { useState } from 'react';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { whoText } from '#console/pages/incidents/escalation_text.ts';
import { useIncidentChange } from '#console/pages/incidents/use_incident_change.ts';
import { useMemberNames } from '#console/pages/incidents/member_names.tsx';
import { useShortcut } from '#console/shell/keyboard.ts';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';

type Step = IncidentWithLog['escalation']['steps'][number];

interface EscalateNowProps {
  readonly incidentId: string;
  /** Step that fires next. */
  readonly step: Step;
  readonly team: string | null;
}

/** Button that pages the next step before its time, after asking once: pages cannot be called back. */
export function EscalateNow({ incidentId, step, team }: EscalateNowProps) {
  const nameOf = useMemberNames();
  const [isAsking, setIsAsking] = useState(false);
  const escalating = useIncidentChange('escalate_incident', incidentId);
  useShortcut('e', () => setIsAsking(true));
  const channels = step.channels.map((channel) => CHANNEL_DECLARATIONS[channel].name).join(', ');
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsAsking(true)}>
        Escalate now
      </Button>
      {isAsking && (
        <Confirm
          title={`Page step ${step.index + 1} now?`}
          button="Escalate now"
          isHarmless
          isPending={escalating.isPending}
          error={escalating.error}
          onClose={() => {
            setIsAsking(false);
            escalating.reset();
          }}
          onConfirm={() =>
            escalating.mutate(
              { incidentId, stepIndex: step.index },
              {
                onSuccess() {
                  setIsAsking(false);
                  showSuccess(`Step ${step.index + 1} fires now.`);
                },
              },
            )
          }
        >
          {capital(whoText(step, team, nameOf))} will be paged at once, by {channels}.
        </Confirm>
      )}
    </>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
