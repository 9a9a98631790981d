import { Link } from '@tanstack/react-router';

import { Card } from '#console/components/card.tsx';
import { Name } from '#console/components/text/name.tsx';
import { NoteText } from '#console/pages/incidents/notes/note_text.tsx';
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
      action={
        runbookUrl !== null && (
          <a href={runbookUrl} title={runbookUrl} target="_blank" rel="noopener noreferrer">
            Runbook
          </a>
        )
      }
    >
      {description !== null && <NoteText>{description}</NoteText>}
    </Card>
  );
}
