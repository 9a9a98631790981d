import { Link } from '@tanstack/react-router';

import { Card } from '#console/components/card.tsx';
import { Markdown } from '#console/components/text/markdown/markdown.tsx';
import { Name } from '#console/components/text/name.tsx';
import { RunbookLink } from '#console/pages/incidents/context/runbook_link.tsx';
import { useLinks } from '#console/pages/incidents/context/linked_incidents.tsx';

/** Meaning of the incident and its runbook, as its rule says. */
export function IncidentGuidance({ incidentId }: { readonly incidentId: string }) {
  const rule = useLinks(incidentId)?.rule ?? null;
  if (rule === null || (rule.description === null && rule.runbookUrl === null)) return null;
  const { ruleId, name, description, runbookUrl } = rule;
  return (
    <Card
      title="What to do"
      about={
        <>
          As{' '}
          <Link to="/rules/$ruleId" params={{ ruleId }}>
            <Name>{name}</Name>
          </Link>{' '}
          says.
        </>
      }
      action={runbookUrl !== null && <RunbookLink address={runbookUrl} />}
    >
      {description !== null && <Markdown>{description}</Markdown>}
    </Card>
  );
}
