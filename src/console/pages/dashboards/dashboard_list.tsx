import { ActionIcon, Button, Group, Skeleton } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import { dashboardSearchQuery, type FoundDashboard } from '#console/api/dashboards.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { Card, Row } from '#console/components/card.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Page, useOpenedByAddress } from '#console/components/page.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import {
  IconCopy,
  IconDots,
  IconLayoutDashboard,
  IconPencil,
  IconPlus,
  IconSearch,
  IconTrash,
} from '#console/icons.ts';
import {
  type DashboardStart,
  EMPTY_START,
  lastDashboard,
  rememberDashboard,
} from '#console/pages/dashboards/dashboard_start.ts';
import { useDuplicateDashboard } from '#console/pages/dashboards/save_dashboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { serviceSearchQuery } from '#console/api/services.ts';
import { useDebounced } from '#console/components/use_debounced.ts';

const DeleteDashboard = lazyDialog(() =>
  import('#console/pages/dashboards/dashboard_dialogs.tsx').then((m) => m.DeleteDashboard),
);

const SERVICES = 20;
const SHOWN_MAX = 5;

/** Templates shown while there is no dashboard: one for each of the first services, made of what it sends. */
function DashboardTemplates({ onChoose }: { readonly onChoose: (start: DashboardStart) => void }) {
  const { orgId } = useOrganization().org;
  const { data } = useInfiniteQuery(serviceSearchQuery(orgId, { limit: SERVICES }));
  const services = data?.pages
    .flatMap((page) => page.services)
    .filter(({ capabilities }) => capabilities.includes('metrics'));
  if (services === undefined || services.length === 0) return null;
  return (
    <div style={{ marginTop: '1.25rem' }}>
      <Card
        title="From what a service sends"
        about="Charts of its most telling metrics, its incidents, and who is on call."
        rows={services.slice(0, SHOWN_MAX).map(({ serviceId, name }) => (
          <Row key={serviceId} title={<Name>{name}</Name>}>
            <Button
              variant="default"
              onClick={() => onChoose({ serviceId, name })}
              aria-label={`Use what ${name} sends`}
            >
              Use
            </Button>
          </Row>
        ))}
      />
    </div>
  );
}

const CreateDashboard = lazyDialog(() =>
  import('#console/pages/dashboards/create_dashboard.tsx').then((m) => m.CreateDashboard),
);
const RenameDashboard = lazyDialog(() =>
  import('#console/pages/dashboards/rename_dashboard.tsx').then((m) => m.RenameDashboard),
);

const route = getRouteApi('/inside/dashboards');

/** Page of all dashboards by name; somebody who comes from elsewhere finds the dashboard that they last looked at. */
export function DashboardList() {
  const { orgId } = useOrganization().org;
  const { state } = useRouter();
  const [last] = useState(() => {
    const isFromDashboard = state.resolvedLocation?.pathname.startsWith('/dashboards/') === true;
    return isFromDashboard || `${state.location.searchStr}${state.location.hash}` !== '' ? null : lastDashboard(orgId);
  });
  useEffect(() => {
    if (last === null) rememberDashboard(orgId, null);
  }, [last, orgId]);
  if (last === null) return <AllDashboards />;
  return <Navigate to="/dashboards/$dashboardId" params={{ dashboardId: last }} replace />;
}

function AllDashboards() {
  const { org, may } = useOrganization();
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const text = useDebounced(q.trim());
  const [start, setStart] = useState<DashboardStart | null>(null);
  useOpenedByAddress('create', () => setStart(may('dashboards:edit') ? EMPTY_START : null));
  const list = useInfiniteQuery({
    ...dashboardSearchQuery(org.orgId, text === '' ? {} : { text: text.slice(0, 200) }),
    placeholderData: keepPreviousData,
  });
  const { data, error, refetch } = list;
  const dashboards = data?.pages.flatMap((page) => page.dashboards) ?? [];
  const mayEdit = may('dashboards:edit');
  const create = mayEdit ? (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setStart(EMPTY_START)}>
      Create a dashboard
    </Button>
  ) : undefined;
  const isEmpty = data !== undefined && dashboards.length === 0;
  return (
    <Page title="Dashboards" actions={create}>
      {error !== null && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {isEmpty && q === '' ? (
        <>
          <EmptyState icon={<IconLayoutDashboard size={24} />} title="No dashboard yet" actions={create}>
            A dashboard shows metrics, incidents and who is on call side by side. It can be made from what a service
            sends.
          </EmptyState>
          {mayEdit && <DashboardTemplates onChoose={setStart} />}
        </>
      ) : (
        <>
          <SearchField
            isAlone
            label="Search dashboards"
            placeholder="Search"
            value={q}
            onChange={(wanted) => void navigate({ search: wanted === undefined ? {} : { q: wanted }, replace: true })}
          />
          {data === undefined && error === null && <Skeleton height={260} radius="lg" />}
          {isEmpty && <EmptyState icon={<IconSearch size={24} />} title="No dashboard has this name" />}
          {dashboards.length > 0 && (
            <Card
              rows={dashboards.map((dashboard) => (
                <DashboardRow key={dashboard.dashboardId} dashboard={dashboard} mayEdit={mayEdit} />
              ))}
            />
          )}
          <LoadMore list={list} />
        </>
      )}
      {start !== null && <CreateDashboard start={start} onClose={() => setStart(null)} />}
    </Page>
  );
}

function DashboardRow({ dashboard, mayEdit }: { readonly dashboard: FoundDashboard; readonly mayEdit: boolean }) {
  const { dashboardId, name, serviceName, widgetCount, updatedAt } = dashboard;
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null);
  const duplicate = useDuplicateDashboard();
  return (
    <Row
      icon={<IconLayoutDashboard size={20} stroke={1.75} aria-hidden />}
      title={
        <span data-row={dashboardId}>
          <Link to="/dashboards/$dashboardId" params={{ dashboardId }} className="plain-link" data-row-link>
            <Name>{name}</Name>
          </Link>
        </span>
      }
      sub={
        <>
          {serviceName === null ? 'Whole organization' : <Name>{serviceName}</Name>},{' '}
          {widgetCount === 1 ? '1 widget' : `${widgetCount} widgets`}, changed <Timestamp at={updatedAt} />
        </>
      }
    >
      {mayEdit && (
        <Group gap={0}>
          <ActionMenu
            button={(props) => (
              <ActionIcon variant="subtle" color="gray" size={44} aria-label={`What to do with ${name}`} {...props}>
                <IconDots size={18} />
              </ActionIcon>
            )}
            entries={[
              { text: 'Rename', icon: <IconPencil size={16} />, onClick: () => setOpen('rename') },
              { text: 'Duplicate', icon: <IconCopy size={16} />, onClick: () => duplicate.mutate(dashboardId) },
              { text: 'Delete', icon: <IconTrash size={16} />, isDangerous: true, onClick: () => setOpen('delete') },
            ]}
          />
        </Group>
      )}
      {open === 'rename' && (
        <RenameDashboard dashboardId={dashboardId} name={name} updatedAt={updatedAt} onClose={() => setOpen(null)} />
      )}
      {open === 'delete' && <DeleteDashboard dashboardId={dashboardId} name={name} onClose={() => setOpen(null)} />}
    </Row>
  );
}
