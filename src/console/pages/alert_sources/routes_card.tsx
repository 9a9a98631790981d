import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { policyQuery } from '#console/api/team_pages.ts';
import { Card, Row } from '#console/components/card.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Name, Sentence } from '#console/components/text/name.tsx';
import {
  conditionsText,
  OUTCOME_NAMES,
  type Route,
  type SourcesOfService,
} from '#console/pages/alert_sources/route_draft.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { RouteCondition } from '#modules/alerts/decide/route.ts';

const EditRoutes = lazyDialog(() => import('#console/pages/alert_sources/edit_routes.tsx').then((m) => m.EditRoutes));

/** Card of the routes: what becomes of an alert. */
export function RoutesCard({ sources }: { readonly sources: SourcesOfService }) {
  const { may } = useOrganization();
  const [isEditing, setIsEditing] = useState(false);
  return (
    <Card
      title="Routes"
      about="The first route whose conditions are all true takes the alert. The last one takes what is left."
      action={
        may('oncall:edit') && (
          <Button variant="default" size="xs" onClick={() => setIsEditing(true)} aria-label="Edit the routes">
            Edit
          </Button>
        )
      }
      rows={sources.routes.map((route, index) => (
        // Routes have no identity but their place.
        // eslint-disable-next-line react/no-array-index-key
        <RouteRow key={index} route={route} />
      ))}
    >
      {isEditing && <EditRoutes sources={sources} onClose={() => setIsEditing(false)} />}
    </Card>
  );
}

function RouteRow({ route: { conditions, outcome, policyId, pagesOnRise, isUnreadable } }: { readonly route: Route }) {
  const { orgId } = useOrganization().org;
  const policy = useQuery({ ...policyQuery(orgId, policyId ?? ''), enabled: policyId !== null });
  return (
    <Row
      title={<Sentence>{conditionsText(conditions as readonly RouteCondition[])}</Sentence>}
      sub={
        isUnreadable ? (
          'Cannot be read and takes no alert: set its conditions again'
        ) : outcome !== 'page' ? (
          OUTCOME_NAMES[outcome]
        ) : policyId === null ? (
          'Opens an incident that pages nobody: no policy is chosen'
        ) : (
          <>
            Pages by{' '}
            <Link to="/oncall/policies/$policyId" params={{ policyId }}>
              <Name>{policy.data?.name ?? 'an escalation policy'}</Name>
            </Link>
            {pagesOnRise && ', and again if it becomes more severe'}
          </>
        )
      }
    />
  );
}
