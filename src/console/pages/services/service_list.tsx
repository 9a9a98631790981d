import { Button, Group, Skeleton } from '@mantine/core';
import { IconPlus, IconServer2 } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';

import type { OpenCounts, Service } from '#console/api/actions.ts';
import { openByServiceQuery } from '#console/api/incidents.ts';
import { serviceSearchQuery } from '#console/api/services.ts';
import { EmptyState } from '#console/components/empty_state.tsx';
import { CAPABILITY_NAMES, euroText, PRICE_EUR } from '#console/components/capability.ts';
import { type Column, DataTable } from '#console/components/data_table.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Timestamp } from '#console/components/timestamp.tsx';
import { Name } from '#console/components/name.tsx';
import { Page } from '#console/components/page.tsx';
import { Status, Tag } from '#console/components/status.tsx';
import { CreateService } from '#console/pages/services/create_service.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const COLUMNS: readonly Column<Service>[] = [
  {
    id: 'name',
    title: 'Service',
    isMain: true,
    sortBy: ({ name }) => name.toLowerCase(),
    cell: ({ serviceId, name }) => (
      <Link to="/services/$serviceId" params={{ serviceId }} data-row-link>
        <Name>{name}</Name>
      </Link>
    ),
  },
  {
    id: 'environment',
    title: 'Environment',
    sortBy: ({ environment }) => environment ?? '',
    cell: ({ environment }) => environment,
  },
  {
    id: 'repository',
    title: 'Repository',
    cell: ({ scmOwner, scmRepo }) => (scmOwner !== null && scmRepo !== null ? `${scmOwner}/${scmRepo}` : scmRepo),
  },
  {
    id: 'capabilities',
    title: 'Enabled',
    cell: ({ capabilities }) =>
      capabilities.length === 0 ? (
        <span className="dimmed">nothing yet</span>
      ) : (
        <Group gap={6} component="span">
          {capabilities.map((capability) => (
            <Tag key={capability}>{CAPABILITY_NAMES[capability]}</Tag>
          ))}
        </Group>
      ),
  },
  {
    id: 'price',
    title: 'Per month',
    isRightAligned: true,
    sortBy: ({ capabilities }) => capabilities.length,
    cell: ({ capabilities }) => <span className="numbers">{euroText(capabilities.length * PRICE_EUR)}</span>,
  },
  {
    id: 'createdAt',
    title: 'Created',
    isRightAligned: true,
    isDesktopOnly: true,
    sortBy: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Timestamp at={createdAt} format="date" />,
  },
];

/** Hides a column that is empty for every service. */
function useColumns(services: readonly Service[]): readonly Column<Service>[] {
  const open = useQuery(openByServiceQuery(useOrganization().org.orgId)).data?.services;
  return useMemo(() => {
    const used = {
      environment: services.some(({ environment }) => environment !== null),
      repository: services.some(({ scmRepo }) => scmRepo !== null),
    };
    const openOf = new Map(open?.map((counts) => [counts.serviceId, counts]));
    const isUsed = ({ id }: Column<Service>) =>
      (id !== 'environment' || used.environment) && (id !== 'repository' || used.repository);
    const incidents: Column<Service> = {
      id: 'incidents',
      title: 'Open incidents',
      sortBy: ({ serviceId }) => openOf.get(serviceId)?.triggered ?? 0,
      cell: ({ serviceId }) => open !== undefined && <OpenIncidents counts={openOf.get(serviceId)} />,
    };
    const [name, ...others] = COLUMNS.filter(isUsed);
    return name === undefined ? [] : [name, incidents, ...others];
  }, [services, open]);
}

function OpenIncidents({ counts }: { readonly counts: OpenCounts | undefined }) {
  if (counts === undefined) return <span className="dimmed">none</span>;
  return counts.triggered > 0 ? (
    <Status tone="red">{counts.triggered} triggered</Status>
  ) : (
    <Status tone="amber">{counts.acknowledged} acknowledged</Status>
  );
}

const NO_SERVICES: readonly Service[] = [];
const PAGE = 200;

/** Loads page after page until all services are here, because people can sort by any column. */
function useAllServices(orgId: string) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetching, isError } = useInfiniteQuery(
    serviceSearchQuery(orgId, { limit: PAGE }),
  );
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  const services = useMemo(() => {
    const byId = new Map(data?.pages.flatMap((page) => page.services).map((service) => [service.serviceId, service]));
    return data === undefined ? undefined : [...byId.values()];
  }, [data]);
  return { services, error, refetch };
}

export function ServiceList() {
  const { org, may } = useOrganization();
  const { services, error, refetch } = useAllServices(org.orgId);
  const [isCreating, setIsCreating] = useState(false);
  const create = may('services:edit') && (
    <Button leftSection={<IconPlus size={18} />} onClick={() => setIsCreating(true)}>
      Create a service
    </Button>
  );
  const columns = useColumns(services ?? NO_SERVICES);
  const isEmpty = services?.length === 0;
  return (
    <Page
      title="Services"
      lead="The programs that you run, and what is monitored."
      actions={isEmpty ? undefined : create}
    >
      {error !== null && services === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {services === undefined && error === null && <Skeleton height={200} radius="lg" />}
      {isEmpty && (
        <EmptyState icon={<IconServer2 size={24} />} title="No service yet" actions={create}>
          A service is one program that you run. It gets a key for sending metrics and a DSN for Sentry SDKs. Each
          capability costs {euroText(PRICE_EUR)} a month.
        </EmptyState>
      )}
      {services !== undefined && services.length > 0 && (
        <DataTable
          label="Services"
          columns={columns}
          items={services}
          keyOf={({ serviceId }) => serviceId}
          sortedBy={{ id: 'name', desc: false }}
        />
      )}
      {isCreating && <CreateService onClose={() => setIsCreating(false)} />}
    </Page>
  );
}
