import { Link } from '@tanstack/react-router';

import { Name } from '#console/components/name.tsx';

interface ReleaseLinkProps {
  readonly serviceId: string;
  readonly release: string;
}

/** A release by its name: leads to what it brought, with its counts. */
export function ReleaseLink({ serviceId, release }: ReleaseLinkProps) {
  return (
    <Link to="/services/$serviceId" params={{ serviceId }} search={{ q: release }} hash={RELEASES}>
      <Name>{release}</Name>
    </Link>
  );
}

/** The place of the releases on the page of a service. */
export const RELEASES = 'releases';
