import { Link } from '@tanstack/react-router';

import { Name } from '#console/components/text/name.tsx';

/** Link from a release's name to its changes, with its counts. */
export function ReleaseLink({ serviceId, release }: { readonly serviceId: string; readonly release: string }) {
  return (
    <Link to="/services/$serviceId" params={{ serviceId }} search={{ q: release }} hash={RELEASES}>
      <Name>{release}</Name>
    </Link>
  );
}

/** Anchor of the releases on the page of a service. */
export const RELEASES = 'releases';
