import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { type Capability, serviceQuery } from '#console/api/actions.ts';
import { CAPABILITY_NAMES } from '#console/components/text/capability.ts';
import { Snippet, useRevealedKeys } from '#console/pages/services/snippet.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface ServiceSnippetProps {
  readonly serviceId: string;
  /** Capability for which it would send data. */
  readonly capability: Capability;
  readonly kinds: readonly string[];
}

/** Snippet that makes a service start sending, on pages that show what it sends. */
export function ServiceSnippet({ serviceId, capability, kinds }: ServiceSnippetProps) {
  const { orgId } = useOrganization().org;
  const { data: service } = useQuery(serviceQuery(orgId, serviceId));
  const { keys, isPending, reveal } = useRevealedKeys(serviceId);
  if (service === undefined) return null;
  return (
    <>
      {!service.capabilities.includes(capability) && (
        <p>
          {CAPABILITY_NAMES[capability]} are not enabled for this service, so they would be refused.{' '}
          <Link to="/services/$serviceId/settings" params={{ serviceId }}>
            Enable them
          </Link>
        </p>
      )}
      <Snippet masked={service} keys={keys} isPending={isPending} onReveal={reveal} kinds={kinds} />
    </>
  );
}
