import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { actionQuery, type IncidentWithLog, type ResultOf } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { NoteText } from '#console/components/text/note_text.tsx';
import { Name } from '#console/components/text/name.tsx';
import { IncidentStatus } from '#console/components/status.tsx';
import { dateTimeText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { ActiveMaintenance } from '#console/pages/rules/active_maintenance.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

type Links = ResultOf<'get_linked_incidents'>;

export function useLinks(incidentId: string): Links | undefined {
  const { orgId } = useOrganization().org;
  return useQuery(actionQuery(orgId, 'incidents', 'get_linked_incidents', { incidentId })).data;
}

/** Notice that a maintenance is active, and what it means for this incident. */
export function IncidentMaintenance({ incident }: { readonly incident: IncidentWithLog }) {
  const links = useLinks(incident.incidentId);
  if (links === undefined || incident.status === 'resolved') return null;
  const { waitsFor } = incident.escalation;
  const text =
    waitsFor === 'maintenance' && links.suppressedUntil !== null
      ? `this incident pages at ${dateTimeText(links.suppressedUntil)} if it is still open then, and nobody before.`
      : 'it does not affect this incident, which has already started to page.';
  return <ActiveMaintenance windows={links.maintenance.map((window) => ({ ...window, text }))} />;
}

/** Incident that pages for this one, and those for which it pages. */
export function LinkedIncidents({ incident }: { readonly incident: IncidentWithLog }) {
  const links = useLinks(incident.incidentId);
  if (links === undefined) return null;
  const { parent, children, childCount, later, laterCount } = links;
  const isWaiting = incident.escalation.waitsFor === 'incident';
  const shown = children.length < childCount ? ` The first ${children.length} are shown.` : '';
  return (
    <>
      {later !== null && (
        <Card
          title="Its cause opened another incident since"
          about={laterCount > 1 ? `The newest of ${laterCount.toLocaleString('en')}.` : undefined}
          rows={<LinkedRow linked={later} />}
        />
      )}
      {parent !== null && (
        <Card
          title="Opened together with"
          about={
            isWaiting
              ? 'That incident pages for both. This one pages by itself if that one ends first.'
              : 'That incident paged for both.'
          }
          rows={<LinkedRow linked={parent} />}
        />
      )}
      {children.length > 0 && (
        <Card
          title={`Pages for these as well (${childCount})`}
          about={`They opened shortly after, by the same policy. If this incident ends first, the oldest of them pages for the rest.${shown}`}
          rows={children.map((child) => (
            <LinkedRow key={child.incidentId} linked={child} />
          ))}
        />
      )}
    </>
  );
}

function LinkedRow({ linked }: { readonly linked: NonNullable<Links['parent']> }) {
  const { incidentId, number, title, status, triggeredAt } = linked;
  return (
    <Row
      title={
        <Link to="/incidents/$incidentId" params={{ incidentId }}>
          <Name>{title}</Name>
        </Link>
      }
      sub={
        <>
          #{number}, <Timestamp at={triggeredAt} />
        </>
      }
    >
      <IncidentStatus status={status} />
    </Row>
  );
}

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
