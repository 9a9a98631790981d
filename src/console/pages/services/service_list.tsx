import { Button, Skeleton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconFilterOff, IconPlus, IconSearch, IconServer2 } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';

import { euroText, PRICE_EUR } from '#console/components/text/capability.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { wholeNumberText } from '#console/components/text/formats.ts';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { TeamFilter } from '#console/components/lists/team_filter.tsx';
import { Page } from '#console/components/page.tsx';
import type { ServiceFilter } from '#console/pages/services/service_filter.ts';
import classes from '#console/pages/services/service_list.module.css';
import { ServiceRows } from '#console/pages/services/service_rows.tsx';
import { useServices } from '#console/pages/services/use_services.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const CreateService = lazyDialog(() =>
  import('#console/pages/services/create_service.tsx').then((m) => m.CreateService),
);

const route = getRouteApi('/inside/services');

/** Number of services from which a search field is shown: it is useful only if not all services are in sight. */
const SEARCH_FROM = 8;
const DEBOUNCE_MS = 200;

export function ServiceList() {
  const { may } = useOrganization();
  const { text, team, create: isCreating = false } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (change: Partial<ServiceFilter>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const services = useServices({ text, team });
  const isNarrowed = text !== undefined || team !== undefined;
  const { rows, total, isLoading, error, refetch } = services;
  const [typed, setTyped] = useState(text ?? '');
  const search = useDebouncedCallback((wanted: string) => show({ text: wanted.trim() || undefined }), DEBOUNCE_MS);
  const find = (wanted: string): void => {
    setTyped(wanted);
    search(wanted);
  };
  const create = may('services:edit') && (
    <Button leftSection={<IconPlus size={18} />} onClick={() => show({ create: true })}>
      Create a service
    </Button>
  );
  const isEmpty = !isLoading && error === null && total === 0 && !isNarrowed;
  return (
    <Page
      title="Services"
      lead="The programs that you run: what they send, and what watches them."
      actions={isEmpty ? undefined : create}
    >
      {error !== null && <ErrorAlert error={error} onRetry={refetch} />}
      {(isLoading || isNarrowed || total >= SEARCH_FROM) && (
        <Search text={typed} total={total} onChange={find}>
          <TeamFilter value={team} onChange={(chosen) => show({ team: chosen })} />
        </Search>
      )}
      {isLoading && error === null && <Skeleton height={320} radius="lg" />}
      {isEmpty && (
        <EmptyState icon={<IconServer2 size={24} />} title="No service yet" actions={create}>
          A service is one program that you run. It gets a key for sending metrics and a DSN for Sentry SDKs. Each
          capability costs {euroText(PRICE_EUR)} a month.
        </EmptyState>
      )}
      {!isLoading && error === null && total === 0 && isNarrowed && (
        <EmptyState
          icon={<IconFilterOff size={24} />}
          title="Nothing matches"
          actions={
            <Button
              variant="default"
              onClick={() => {
                setTyped('');
                show({ text: undefined, team: undefined });
              }}
            >
              Show all services
            </Button>
          }
        >
          {text === undefined ? 'They own no service.' : 'No such service has this in its name or environment.'}
        </EmptyState>
      )}
      {!isLoading && rows.length > 0 && <ServiceRows {...services} />}
      {isCreating && <CreateService onClose={() => show({ create: undefined })} />}
    </Page>
  );
}

interface SearchProps {
  readonly text: string;
  readonly total: number;
  readonly onChange: (text: string) => void;
  readonly children: ReactNode;
}

function Search({ text, total, onChange, children }: SearchProps) {
  return (
    <div className={classes.search}>
      <TextInput
        aria-label="Find a service"
        placeholder="Name or environment"
        leftSection={<IconSearch size={16} />}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        maxLength={200}
      />
      {children}
      <span className={classes.count} aria-live="polite">
        {wholeNumberText(total)} {total === 1 ? 'service' : 'services'}
      </span>
    </div>
  );
}
