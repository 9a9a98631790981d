import { Button } from '@mantine/core';
import { IconBug, IconCheck, IconPlus } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { serviceSearchQuery } from '#console/api/services.ts';
import { Card } from '#console/components/card.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { NothingMatches } from '#console/components/lists/nothing_matches.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import type { GroupTab } from '#console/pages/exceptions/exception_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const ServiceSnippet = lazyPart(() =>
  import('#console/pages/services/service_snippet.tsx').then((m) => m.ServiceSnippet),
);

interface NoExceptionsProps {
  readonly tab: GroupTab;
  readonly serviceId: string | undefined;
  readonly isFiltered: boolean;
  /** Whether there are groups of another status. */
  readonly isAny: boolean;
  onClear(): void;
}

const CALM: Record<GroupTab, string> = {
  unresolved: 'No unresolved exception',
  resolved: 'No exception is resolved',
  ignored: 'No exception is ignored',
  all: 'No exception yet',
};

export function NoExceptions({ tab, serviceId, isFiltered, isAny, onClear }: NoExceptionsProps) {
  if (isAny) {
    return (
      <EmptyState icon={<IconCheck size={24} />} title={CALM[tab]} isCalm={tab === 'unresolved'}>
        {isFiltered
          ? 'Exceptions of another status match these filters.'
          : 'Those of another status are in the other tabs.'}
      </EmptyState>
    );
  }
  if (isFiltered && serviceId === undefined) return <NothingMatches what="exception" onClear={onClear} />;
  return (
    <>
      {isFiltered && <NothingMatches what="exception" onClear={onClear} />}
      <SendExceptions serviceId={serviceId} />
    </>
  );
}

const KINDS = ['node', 'browser', 'python'];

/** Instructions to start sending, shown while nothing has arrived. */
function SendExceptions({ serviceId: wanted }: { readonly serviceId: string | undefined }) {
  const { org, may } = useOrganization();
  const [chosen, setChosen] = useState<string>();
  const { data } = useInfiniteQuery(serviceSearchQuery(org.orgId, { limit: 1 }));
  const first = data?.pages[0]?.services[0];
  const serviceId = wanted ?? chosen ?? first?.serviceId;
  if (data === undefined) return null;
  if (serviceId === undefined) {
    return (
      <EmptyState
        icon={<IconBug size={24} />}
        title="No exception yet"
        actions={
          may('services:edit') && (
            <Button
              leftSection={<IconPlus size={16} />}
              renderRoot={(props: object) => <Link to="/services" search={{ create: true }} {...props} />}
            >
              Create a service
            </Button>
          )
        }
      >
        Exceptions come from services. Create one, and it gets the key that it sends them with.
      </EmptyState>
    );
  }
  return (
    <Card
      title="No exception yet"
      about="Add the SDK of your language to the service. Its first error shows here within a second."
      action={wanted === undefined && <ServicePicker value={serviceId} name={first?.name} onChange={setChosen} />}
    >
      <ServiceSnippet key={serviceId} serviceId={serviceId} capability="exceptions" kinds={KINDS} />
    </Card>
  );
}
