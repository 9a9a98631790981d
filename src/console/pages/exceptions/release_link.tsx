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

export const RELEASES = 'releases';
