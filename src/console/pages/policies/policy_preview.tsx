import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { previewQuery } from '#console/api/teams.ts';
import { EscalationFlow } from '#console/pages/policies/escalation_flow.tsx';
import { faultsOf, hasFaults, type PolicyDraft, toPolicyInput } from '#console/pages/policies/policy_draft.ts';
import { Warnings } from '#console/pages/policies/warnings.tsx';
import classes from '#console/pages/policies/policy_editor.module.css';
import { fromLocalInput, nextNight, toLocalInput } from '#console/pages/simulator/simulator_search.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { TimeField } from '#console/components/forms/time_field.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';

interface PolicyPreviewProps {
  readonly values: PolicyDraft;
  /** Id of the policy that is edited; undefined for a new one. */
  readonly policyId?: string | undefined;
}

/**
 * Preview of the people whom the steps would page now. It stands beside the fields or below them, since its height
 * depends on the server's answer.
 */
export function PolicyPreview({ values, policyId }: PolicyPreviewProps) {
  const { org } = useOrganization();
  const draft = useDebounced(values);
  const { teamId, steps } = draft;
  const isReady = teamId !== '' && steps.length > 0 && !hasFaults(faultsOf({ ...draft, name: '-' }, false));
  const [at, setAt] = useState('');
  const asked = fromLocalInput(at);
  const { data, isPlaceholderData } = useQuery({
    ...previewQuery(org.orgId, {
      ...(asked !== null && { at: asked }),
      teamId,
      ...(policyId !== undefined && { policyId }),
      ...toPolicyInput(draft),
    }),
    enabled: isReady,
  });
  return (
    <section className={`${classes.preview} small shrinks`} aria-labelledby="policy-preview" tabIndex={0}>
      <h2 id="policy-preview" className={classes.previewTitle}>
        If an incident opened {asked === null ? 'now' : 'then'}
      </h2>
      <div className={`${classes.previewTime} wraps spaced`}>
        <TimeField aria-label="Time of the incident" size="xs" value={at} onChange={setAt} />
        <Button size="xs" variant="default" onClick={() => setAt(toLocalInput(Date.parse(nextNight(serverNow()))))}>
          Next night, 3:00
        </Button>
        {at !== '' && (
          <Button size="xs" variant="default" onClick={() => setAt('')}>
            Now
          </Button>
        )}
      </div>
      {data === undefined ? (
        <p className="dimmed flush">Shows whom each step pages, once the team and all steps are complete.</p>
      ) : (
        <div aria-busy={!isReady || isPlaceholderData}>
          <Warnings messages={data.warnings} />
          <EscalationFlow steps={data.steps} hasClock={asked !== null} />
        </div>
      )}
    </section>
  );
}
